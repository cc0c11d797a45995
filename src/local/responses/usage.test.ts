import { describe, expect, test } from "vitest";
import { createUsage } from "./usage.ts";

describe("createUsage()", () => {
  test("counts reasoning tokens separately", () => {
    const thought = { type: "reasoning", summary: [] };
    const said = { type: "message", content: [] };
    const both = createUsage(10, [thought, said]);
    expect(both.total_tokens).toBe(10 + both.output_tokens);
    expect(both.output_tokens_details.reasoning_tokens).toBeGreaterThan(0);
    expect(createUsage(10, [said]).output_tokens_details.reasoning_tokens).toBe(0);
  });
});
