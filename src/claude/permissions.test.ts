import { describe, expect, test } from "vitest";
import { withDomains } from "./isolation.ts";
import { type PermissionMode, permissionModes, toPermissionOptions } from "./permissions.ts";

const native = ["Bash", "Read", "Write", "Edit", "Glob", "Grep", "WebSearch"];
const tools = { native, bridged: ["mcp__wink__add"], workspace: "/run/work", isolation: {} };
const listRules = (mode: PermissionMode, more: Partial<typeof tools> = {}) =>
  toPermissionOptions(mode, { ...tools, ...more }).allowedTools;

describe("toPermissionOptions()", () => {
  test.each(permissionModes)("never prompts for permission in mode %s", (mode) => {
    expect(toPermissionOptions(mode, tools).permissionPrompts).toBe("none");
  });

  test.each(["dontAsk", "bypassPermissions"] as const)(
    "allows exactly the enabled tools in mode %s",
    (mode) => {
      expect(toPermissionOptions(mode, tools)).toEqual({
        permissionMode: "dontAsk",
        permissionPrompts: "none",
        allowedTools: ["mcp__wink__add", "Edit(//run/work/**)", "Bash", "WebSearch"],
      });
      expect(listRules(mode, { native: ["Read", "Glob"] })).toEqual(["mcp__wink__add"]);
    },
  );

  test.each(["acceptEdits", "plan", "default"] as const)(
    "uses the SDK's mode %s, with rules for the prompt's tools and web search",
    (mode) => {
      expect(toPermissionOptions(mode, tools)).toEqual({
        permissionMode: mode,
        permissionPrompts: "none",
        allowedTools: ["mcp__wink__add", "WebSearch"],
      });
    },
  );

  test("allows reading and writing the configured paths", () => {
    const sandbox = { readablePaths: ["/opt/data"], writablePaths: ["/opt/out"] };
    const readable = ["Read(//opt/data/**)", "Read(//opt/out/**)"];
    expect(listRules("dontAsk", { isolation: { sandbox } })).toEqual([
      "mcp__wink__add",
      ...readable,
      ...["Edit(//run/work/**)", "Edit(//opt/out/**)", "Bash", "WebSearch"],
    ]);
    expect(listRules("plan", { native: ["Read"], isolation: { sandbox } })).toEqual([
      "mcp__wink__add",
      ...readable,
    ]);
  });

  test("allows fetching pages only from hosts in the network policy", () => {
    const fetching = { native: ["WebFetch"], bridged: [] };
    expect(listRules("dontAsk", fetching)).toEqual([]);
    const isolation = { networkPolicy: withDomains("cdc.gov", "pypi.org") };
    expect(listRules("dontAsk", { ...fetching, isolation })).toEqual([
      "WebFetch(domain:cdc.gov)",
      "WebFetch(domain:pypi.org)",
    ]);
  });

  test("rejects a workspace path that is a pattern", () => {
    expect(() => listRules("dontAsk", { workspace: "/run/work (1)" })).toThrow(
      "workspace must be an absolute path without any of",
    );
  });
});
