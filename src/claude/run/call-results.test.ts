import { describe, expect, test } from "vitest";
import { ToolResult } from "../../tools/tool-result.ts";
import {
  createResultEntries,
  listCalls,
  listContents,
  listStepContents,
  toAnswerResults,
  toBatchResults,
} from "./call-results.ts";
import { noMessage } from "./model-message.ts";
import type { RunStep } from "./run-state.ts";

const createUse = (id: string, uuid: string) => ({
  type: "assistant",
  uuid,
  timestamp: "2026-01-01T00:00:00.000Z",
  sessionId: "s1",
  cwd: "/work",
  message: { id: "msg_1", content: [{ type: "tool_use", id, name: "Bash", input: {} }] },
});
const createResult = (id: string) => ({
  type: "user",
  message: { content: [{ type: "tool_result", tool_use_id: id, content: "done" }] },
});
const results = new Map([
  ["a", { content: "one", isError: false }],
  ["b", { content: "two", isError: true }],
]);

describe("listCalls()", () => {
  test("finds calls and whether they have results, and ignores entries without messages", () => {
    const odd = { type: "summary", message: "text" };
    const entries = [createUse("a", "u1"), odd, createUse("b", "u2"), createResult("a")];
    expect(listCalls(entries).map(({ id, hasResult }) => [id, hasResult])).toEqual([
      ["a", true],
      ["b", false],
    ]);
  });
});

describe("createResultEntries()", () => {
  test("answers only calls without results, in the SDK's format", () => {
    const entries = [createUse("a", "u1"), createUse("b", "u2"), createResult("a")];
    const [entry, ...others] = createResultEntries(entries, results);
    expect(others).toEqual([]);
    expect(entry).toEqual({
      parentUuid: "u2",
      isSidechain: false,
      type: "user",
      message: {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "b", content: "two", is_error: true }],
      },
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      timestamp: "2026-01-01T00:00:00.000Z",
      sourceToolAssistantUUID: "u2",
      sessionId: "s1",
      cwd: "/work",
    });
  });

  test("leaves calls whose outcome is not known to the SDK", () => {
    expect(createResultEntries([createUse("c", "u1")], results)).toEqual([]);
  });
});

describe("listStepContents()", () => {
  const message = { ...noMessage.message, id: "msg_1", uses: [{ id: "a" }, { id: "b" }] };
  const createStep = (parts: object) => ({ message, native: [], calls: [], ...parts }) as never;

  test("names the message, its calls, and results of native calls before a call that waits", () => {
    const native = [{ id: "a" }, { id: "earlier" }];
    const step: RunStep = createStep({ native, calls: [{ id: "b" }] });
    const contents = listStepContents(step);
    expect(contents).toEqual(["msg_1", "a", "b", "result a"]);
    const entries = [createUse("a", "u1"), createUse("b", "u2"), createResult("a")];
    expect(new Set(listContents(entries))).toEqual(new Set([...contents, ""]));
  });

  test("does not name results after a batch, or anything without a message", () => {
    expect(listStepContents(createStep({ native: [{ id: "a" }] }))).toEqual(["msg_1", "a", "b"]);
    expect(listStepContents(createStep({ message: null }))).toEqual([]);
    expect(listStepContents(createStep({ message: { id: null, uses: [] } }))).toEqual([]);
  });
});

describe("the results of calls", () => {
  test("are read from answers", () => {
    const call = { name: "look", callId: "a", arguments: "{}" };
    const answers = [
      { call, result: ToolResult.ok(1), text: "one" },
      { call: { ...call, callId: "b" }, result: ToolResult.error("two"), text: "two" },
    ];
    expect(toAnswerResults(answers)).toEqual(results);
  });

  test("are read from the SDK's batches", () => {
    const blocks = [{ type: "text", text: "three" }];
    const calls = [
      { tool_use_id: "a", tool_response: "one" },
      { tool_use_id: "b", tool_response: "two" },
      { tool_use_id: "c", tool_response: blocks },
    ];
    const expected = new Map([...results, ["c", { content: blocks, isError: false }]] as never);
    expect(toBatchResults(calls, new Set(["b"]))).toEqual(expected);
  });
});
