import { describe, expect, test } from "vitest";
import { offeredName, ownName } from "./tool-names.ts";

const named = (...names: readonly string[]) => names.map((name) => ({ name }));

describe("the name of a tool", () => {
  test("is its own before that of a bridge to it", () => {
    expect(offeredName(named("mcp__wink__look", "look"), "look")).toBe("look");
    expect(offeredName(named("Bash", "mcp__wink__look_up"), "look_up")).toBe("mcp__wink__look_up");
    expect(offeredName(named("mcp__my_server__get__it"), "get__it")).toBe(
      "mcp__my_server__get__it",
    );
  });

  test("is made up where the tool is not offered", () => {
    expect(offeredName(named("mcp__wink__look"), "hear")).toBe("mcp__wink__hear");
    expect(offeredName([...named("Bash"), { type: "mcp_toolset" }], "hear")).toBe("hear");
  });

  test("is told to the model without our bridge", () => {
    expect(ownName("mcp__wink__look")).toBe("look");
    expect(ownName("mcp__other__look")).toBe("mcp__other__look");
  });
});
