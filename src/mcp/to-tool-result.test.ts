import { describe, expect, test } from "vitest";
import { toToolResult } from "./to-tool-result.ts";

describe("toToolResult()", () => {
  test("joins texts and describes media and resources", () => {
    const { message, success } = toToolResult({
      content: [
        { type: "text", text: "One.\u0007" },
        { type: "image", data: "AAAA", mimeType: "image/png" },
        { type: "audio", data: "AAA=", mimeType: "audio/wav" },
        { type: "resource_link", uri: "file:///a", name: "A" },
        { type: "resource", resource: { uri: "file:///b", text: "Bee." } },
        { type: "resource", resource: { uri: "file:///c", blob: "AA==" } },
      ],
    });
    expect(success).toBe(true);
    expect(message.split("\n\n")).toEqual([
      "One.",
      "[An image of 3 bytes, image/png, not shown]",
      "[An audio of 2 bytes, audio/wav, not shown]",
      "[A link to the resource file:///a: A]",
      "[The resource file:///b]\nBee.",
      "[A resource file:///c of 1 bytes, not shown]",
    ]);
  });

  test("passes structured content as the value, and as JSON to the model if there is no text", () => {
    const structuredContent = { total: 1 };
    expect(toToolResult({ content: [], structuredContent })).toEqual({
      success: true,
      message: '{"total":1}',
      value: { total: 1 },
      excludeValueFromContext: true,
    });
    const content = [{ type: "text" as const, text: "One." }];
    expect(toToolResult({ content, structuredContent })).toMatchObject({
      message: "One.",
      value: { total: 1 },
    });
  });

  test("omits a value that is too large, with a note", () => {
    const structuredContent = { text: "x".repeat(1_000_001) };
    const { message, value } = toToolResult({ content: [], structuredContent });
    expect(value).toBeNull();
    expect(message).toMatch(/\[The structured result of 1000012 characters was omitted\]$/);
    expect(message.length).toBeLessThan(101_000);
  });

  test("converts an error to a failed result", () => {
    const content = [{ type: "text" as const, text: "Broken." }];
    expect(toToolResult({ content, isError: true })).toEqual({
      success: false,
      message: "Broken.",
      value: null,
    });
    expect(toToolResult({ content: [], isError: true }).message).toBe("The tool failed.");
  });
});
