import { describe, expect, test } from "vitest";
import { noUsage } from "../base/usage.ts";
import { Session } from "../session/session.ts";
import { callRecord } from "./call-record.ts";
import { ToolResult } from "./tool-result.ts";

/** Returns the record of a session after these calls. */
function createRecord(
  ...calls: readonly (readonly [name: string, params: unknown, ok?: boolean])[]
) {
  const session = new Session().register(callRecord);
  for (const [name, params, ok = true] of calls) {
    session.dispatch({
      type: "ToolInvoked",
      ...{ sessionId: session.id, promptName: "p", adapter: "a", createdAt: "" },
      ...{ name, params, callId: "c", renderedOutput: "", usage: noUsage, durationMs: 0 },
      result: ok ? ToolResult.ok(null) : ToolResult.error("No."),
    });
  }
  return session.get(callRecord);
}

describe("callRecord", () => {
  test("lists each tool that succeeded once", () => {
    expect(createRecord(["read", null], ["write", {}], ["read", {}]).tools).toEqual([
      "read",
      "write",
    ]);
  });

  test("lists each path that a tool succeeded on once", () => {
    const { paths } = createRecord(
      ["read", { path: "a" }],
      ["read", { path: "b" }],
      ["read", { path: "a" }],
      ["write", { path: "a" }],
      ["write", { path: 7 }],
    );
    expect(paths).toEqual({ read: ["a", "b"], write: ["a"] });
  });

  test("ignores failed calls", () => {
    expect(createRecord(["read", { path: "a" }, false])).toEqual({ tools: [], paths: {} });
  });

  test("accepts a tool named like a method of Object.prototype", () => {
    const { paths } = createRecord(["constructor", { path: "a" }], ["constructor", { path: "b" }]);
    expect(Object.entries(paths)).toEqual([["constructor", ["a", "b"]]]);
  });
});
