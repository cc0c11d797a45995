import { describe, expect, test } from "vitest";
import { usageOf } from "./usage.ts";

describe("usage", () => {
  test("tells thoughts from the rest", () => {
    const thought = { type: "reasoning", summary: [] };
    const said = { type: "message", content: [] };
    const both = usageOf(10, [thought, said]);
    expect(both.total_tokens).toBe(10 + both.output_tokens);
    expect(both.output_tokens_details.reasoning_tokens).toBeGreaterThan(0);
    expect(usageOf(10, [said]).output_tokens_details.reasoning_tokens).toBe(0);
  });
});
