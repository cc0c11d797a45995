import { describe, expect, test } from "vitest";
import { withDomains } from "./isolation.ts";
import { type PermissionMode, permissionModes, permissionOptions } from "./permissions.ts";

const native = ["Bash", "Read", "Write", "Edit", "Glob", "Grep", "WebSearch"];
const tools = { native, bridged: ["mcp__wink__add"], workspace: "/run/work", isolation: {} };
const rulesIn = (mode: PermissionMode, more: Partial<typeof tools> = {}) =>
  permissionOptions(mode, { ...tools, ...more }).allowedTools;

describe("a permission mode", () => {
  test.each(permissionModes)("%s waits for nobody", (mode) => {
    expect(permissionOptions(mode, tools).permissionPrompts).toBe("none");
  });

  test.each(["dontAsk", "bypassPermissions"] as const)("%s allows just what is on", (mode) => {
    expect(permissionOptions(mode, tools)).toEqual({
      permissionMode: "dontAsk",
      permissionPrompts: "none",
      allowedTools: ["mcp__wink__add", "Edit(//run/work/**)", "Bash", "WebSearch"],
    });
    expect(rulesIn(mode, { native: ["Read", "Glob"] })).toEqual(["mcp__wink__add"]);
  });

  test.each(["acceptEdits", "plan", "default"] as const)(
    "%s is the SDK's, with rules for our own tools and for searching the web",
    (mode) => {
      expect(permissionOptions(mode, tools)).toEqual({
        permissionMode: mode,
        permissionPrompts: "none",
        allowedTools: ["mcp__wink__add", "WebSearch"],
      });
    },
  );

  test("lets files be read and written where the config says", () => {
    const sandbox = { readablePaths: ["/opt/data"], writablePaths: ["/opt/out"] };
    const readable = ["Read(//opt/data/**)", "Read(//opt/out/**)"];
    expect(rulesIn("dontAsk", { isolation: { sandbox } })).toEqual([
      "mcp__wink__add",
      ...readable,
      ...["Edit(//run/work/**)", "Edit(//opt/out/**)", "Bash", "WebSearch"],
    ]);
    expect(rulesIn("plan", { native: ["Read"], isolation: { sandbox } })).toEqual([
      "mcp__wink__add",
      ...readable,
    ]);
  });

  test("lets pages be fetched only from hosts that the policy names", () => {
    const fetching = { native: ["WebFetch"], bridged: [] };
    expect(rulesIn("dontAsk", fetching)).toEqual([]);
    const isolation = { networkPolicy: withDomains("cdc.gov", "pypi.org") };
    expect(rulesIn("dontAsk", { ...fetching, isolation })).toEqual([
      "WebFetch(domain:cdc.gov)",
      "WebFetch(domain:pypi.org)",
    ]);
  });

  test("is not made for a workspace whose path is a pattern", () => {
    expect(() => rulesIn("dontAsk", { workspace: "/run/work (1)" })).toThrow(
      "workspace must be an absolute path without any of",
    );
  });
});
