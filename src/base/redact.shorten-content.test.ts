import { describe, expect, test } from "vitest";
import { shortenContent } from "./redact.ts";

const image = "iVBORw0KGgo".repeat(200);

describe("shortenContent()", () => {
  test("replaces encrypted content at any depth by its length", () => {
    const item = {
      type: "reasoning",
      encrypted_content: "gAAA",
      nested: [{ encrypted_index: "Eo8" }],
    };
    expect(shortenContent(item)).toEqual({
      type: "reasoning",
      encrypted_content: "[4 characters]",
      nested: [{ encrypted_index: "[3 characters]" }],
    });
  });

  test.each([
    ["base64", image],
    ["base64url", "wink1-_x".repeat(200)],
    ["a data URL", `data:image/png;base64,${image}`],
  ])("replaces %s of more than 1,024 characters by its length", (_what, text) => {
    expect(shortenContent({ result: text })).toEqual({ result: `[${text.length} characters]` });
  });

  test("returns the same object if it has only text, numbers and short ids", () => {
    const text = "Owls, mostly. ".repeat(1_000);
    const item = {
      id: "ci_1",
      code: text,
      lines: [text],
      score: 0.5,
      url: null,
      digest: "f".repeat(64),
    };
    expect(shortenContent(item)).toBe(item);
    expect(shortenContent("é".repeat(2_000))).toHaveLength(2_000);
  });

  test("ends for data that contains itself or is very deep", () => {
    const item: Record<string, unknown> = { encrypted_content: "gAAA" };
    item["self"] = [item];
    expect(shortenContent(item)).toMatchObject({ encrypted_content: "[4 characters]" });
    let deep: object = {};
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(shortenContent(deep)).toBe(deep);
  });
});
