import { describe, expect, test } from "vitest";
import type { HostedCall } from "./model-client.ts";
import { shortenCall, shortenContent } from "./shorten-content.ts";

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

  test("ends for an object that contains itself", () => {
    const item: Record<string, unknown> = { encrypted_content: "gAAA" };
    item["self"] = [item, item];
    expect(shortenContent(item)).toMatchObject({ encrypted_content: "[4 characters]" });
  });
});

describe("shortenCall()", () => {
  const raw = { type: "image_generation_call", result: image };
  const output = { images: [image] };
  const call: HostedCall = {
    ...{ name: "draw", kind: "image_generation", callId: "ig_1", success: true, message: "OK" },
    ...{ params: raw, output, raw },
  };

  test("shortens the item, and the params if they are the item, but not the output", () => {
    const shortened = shortenCall(call);
    const item = { type: "image_generation_call", result: `[${image.length} characters]` };
    expect(shortened).toEqual({ ...call, raw: item, params: item });
    expect(shortened.output).toBe(output);
    expect(call.raw).toBe(raw);
  });

  test("returns the same call if its item is short", () => {
    const plain = { ...call, raw: { type: "web_search_call" } };
    expect(shortenCall(plain)).toBe(plain);
  });
});
