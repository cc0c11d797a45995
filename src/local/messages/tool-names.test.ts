import { describe, expect, test } from "vitest";
import { findOfferedToolName, removeBridgePrefix } from "./tool-names.ts";

const createTools = (...names: readonly string[]) => names.map((name) => ({ name }));

describe("a tool name", () => {
  test("is the tool's own name rather than a bridged one", () => {
    expect(findOfferedToolName(createTools("mcp__wink__look", "look"), "look")).toBe("look");
    expect(findOfferedToolName(createTools("Bash", "mcp__wink__look_up"), "look_up")).toBe(
      "mcp__wink__look_up",
    );
    expect(findOfferedToolName(createTools("mcp__my_server__get__it"), "get__it")).toBe(
      "mcp__my_server__get__it",
    );
  });

  test("is constructed if the tool is not offered", () => {
    expect(findOfferedToolName(createTools("mcp__wink__look"), "hear")).toBe("mcp__wink__hear");
    expect(findOfferedToolName([...createTools("Bash"), { type: "mcp_toolset" }], "hear")).toBe(
      "hear",
    );
  });

  test("is shown to the model without the bridge prefix", () => {
    expect(removeBridgePrefix("mcp__wink__look")).toBe("look");
    expect(removeBridgePrefix("mcp__other__look")).toBe("mcp__other__look");
  });
});
