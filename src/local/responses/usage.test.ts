import { describe, expect, test } from "vitest";
import { inputTokens, usageOf } from "./usage.ts";

describe("usage", () => {
  test("counts a quarter of the bytes, of all that is sent", () => {
    const small = inputTokens({ instructions: null, items: [], tools: [] });
    const more = inputTokens({ instructions: "é".repeat(200), items: [], tools: [] });
    expect(more - small).toBeGreaterThanOrEqual(99);
    expect(inputTokens({ instructions: null, items: [{ a: 1 }], tools: [{}] })).toBeGreaterThan(
      small,
    );
  });

  test("tells thoughts from the rest", () => {
    const thought = { type: "reasoning", summary: [] };
    const said = { type: "message", content: [] };
    const both = usageOf(10, [thought, said]);
    expect(both.total_tokens).toBe(10 + both.output_tokens);
    expect(both.output_tokens_details.reasoning_tokens).toBeGreaterThan(0);
    expect(usageOf(10, [said]).output_tokens_details.reasoning_tokens).toBe(0);
  });
});
