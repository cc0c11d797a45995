import { describe, expect, test } from "vitest";
import { noUsage } from "../base/usage.ts";
import { Session } from "../session/session.ts";
import { callRecord } from "./call-record.ts";
import { ToolResult } from "./tool-result.ts";

/** What a session remembers after these calls. */
function recordOf(...calls: readonly (readonly [name: string, params: unknown, ok?: boolean])[]) {
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

describe("what policies remember", () => {
  test("is each tool that has succeeded, once", () => {
    expect(recordOf(["read", null], ["write", {}], ["read", {}]).tools).toEqual(["read", "write"]);
  });

  test("is each path that a tool has succeeded on, once", () => {
    const { paths } = recordOf(
      ["read", { path: "a" }],
      ["read", { path: "b" }],
      ["read", { path: "a" }],
      ["write", { path: "a" }],
      ["write", { path: 7 }],
    );
    expect(paths).toEqual({ read: ["a", "b"], write: ["a"] });
  });

  test("is nothing of calls that failed", () => {
    expect(recordOf(["read", { path: "a" }, false])).toEqual({ tools: [], paths: {} });
  });

  test("may be of a tool that is named like a method of objects", () => {
    const { paths } = recordOf(["constructor", { path: "a" }], ["constructor", { path: "b" }]);
    expect(Object.entries(paths)).toEqual([["constructor", ["a", "b"]]]);
  });
});
