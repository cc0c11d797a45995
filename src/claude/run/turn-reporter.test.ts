import { describe, expect, test } from "vitest";
import { textBlock, toolUse } from "../../../tests/support/claude/scripted-sdk.ts";
import { startRun } from "../../../tests/support/claude/start-run.ts";
import type { TurnObserver } from "../../adapter/turn-observer.ts";
import type { NativeCall } from "./run-state.ts";
import { TurnReporter } from "./turn-reporter.ts";

/** Creates an observer that records its calls as arrays. */
function recordObserver(more: Partial<TurnObserver> = {}) {
  const calls: unknown[][] = [];
  const record =
    (name: string) =>
    (...args: readonly unknown[]) =>
      void calls.push([name, ...args]);
  const observer: TurnObserver = {
    wantsParts: true,
    backlog: null,
    onPart: record("part"),
    onReceived: record("received"),
    onStatus: record("status"),
    onRestart: record("restart"),
    ...more,
  };
  return { calls, observer };
}

const createReporter = () =>
  new TurnReporter({
    isStructured: false,
    findNative: (name) => (name === "Bash" ? { kind: "shell", codeField: "command" } : null),
  });

const createCall = (parts: Partial<NativeCall> = {}): NativeCall => ({
  id: "c1",
  name: "Bash",
  input: { command: "ls" },
  response: { stdout: "" },
  error: null,
  durationMs: 1,
  ...parts,
});

const message = {
  type: "assistant",
  message: { id: "m1", content: [{ type: "text", text: "Hi." }], stop_reason: "end_turn" },
};

describe("TurnReporter", () => {
  test("reports nothing without an observer", () => {
    const reporter = createReporter();
    const { calls, observer } = recordObserver();
    reporter.onMessage(message);
    reporter.startTurn(1, observer);
    reporter.startTurn(2, null);
    reporter.onMessage(message);
    reporter.onCallStarted("Bash");
    reporter.onCallEnded(createCall());
    expect(calls).toEqual([]);
    expect(reporter.backlog).toBeNull();
  });

  test("reports the size and the name of each message", () => {
    const reporter = createReporter();
    const { calls, observer } = recordObserver({ wantsParts: false });
    reporter.startTurn(1, observer);
    const messages = [
      message,
      { type: "stream_event", event: { type: "content_block_delta" } },
      { type: "system", subtype: "compact_boundary" },
      { type: "result", subtype: "success" },
    ];
    for (const one of messages) reporter.onMessage(one);
    const names = ["assistant", "content_block_delta", "compact_boundary", "success"];
    expect(calls).toEqual(
      names.map((name, index) => ["received", JSON.stringify(messages[index]).length, name]),
    );
  });

  test("reports parts with the number of the current turn", () => {
    const reporter = createReporter();
    const { calls, observer } = recordObserver();
    reporter.startTurn(3, observer);
    reporter.onMessage(message);
    expect(calls.at(-1)).toEqual(["part", { type: "text", turn: 3, delta: "Hi." }]);
    reporter.onMessage({ ...message, message: { ...message.message, id: "m2" } });
    expect(calls.map(([name]) => name)).toEqual([
      "received",
      "part",
      "received",
      "restart",
      "part",
    ]);
  });

  test.each([
    ["completed", "PostToolUse:Bash", {}],
    ["failed", "PostToolUseFailure:Bash", { error: "exit code 1" }],
    ["failed", "PostToolUseFailure:Bash", { response: { interrupted: true } }],
  ] as const)("reports a native call that has %s", (status, last, parts) => {
    const reporter = createReporter();
    const { calls, observer } = recordObserver();
    reporter.startTurn(2, observer);
    reporter.onCallStarted("Bash");
    reporter.onCallEnded(createCall(parts));
    const call = { type: "hostedCall", turn: 2, callId: "c1", kind: "shell", status };
    expect(calls).toEqual([
      ["status", "PreToolUse:Bash"],
      ["part", call],
      ["status", last],
    ]);
  });

  test("reports no call to a tool whose section is closed", () => {
    const reporter = createReporter();
    const { calls, observer } = recordObserver();
    reporter.startTurn(1, observer);
    reporter.onCallEnded(createCall({ name: "Read" }));
    expect(calls).toEqual([]);
  });
});

describe("a run with an observer", () => {
  const createSteps = () => [
    { content: [toolUse("c1", "Bash", { command: "ls" })] },
    { content: [textBlock("Done.")] },
  ];

  test("reports native calls between the messages", async () => {
    const { calls, observer } = recordObserver();
    const { next, run } = await startRun(createSteps(), { observer });
    await next();
    const hosted = { type: "hostedCall", turn: 1, callId: "c1", kind: "shell" };
    expect(calls.filter(([name]) => name !== "received")).toEqual([
      ["part", { ...hosted, status: "in_progress" }],
      ["part", { ...hosted, status: "in_progress", delta: "ls" }],
      ["status", "PreToolUse:Bash"],
      ["part", { ...hosted, status: "completed" }],
      ["status", "PostToolUse:Bash"],
    ]);
    run.close();
    await run.waitForEnd();
  });

  test("stops reading the SDK's messages until the readers have caught up", async () => {
    const { promise: backlog, resolve } = Promise.withResolvers<void>();
    const { calls, observer } = recordObserver();
    const slow = { ...observer, backlog: backlog as Promise<void> | null };
    const { next, run } = await startRun([{ content: [textBlock("Done.")] }], { observer: slow });
    const step = next();
    await new Promise((passed) => setTimeout(passed, 50));
    expect(calls).toHaveLength(1);
    slow.backlog = null;
    resolve();
    expect((await step).text).toBe("Done.");
    expect(calls.length).toBeGreaterThan(5);
    run.close();
    await run.waitForEnd();
  });

  test("ends while its readers are behind if it is closed", async () => {
    const { promise: backlog } = Promise.withResolvers<void>();
    const { observer } = recordObserver({ backlog });
    const { run } = await startRun([{ content: [textBlock("Done.")] }], { observer });
    await new Promise((passed) => setTimeout(passed, 10));
    run.close();
    await expect(run.waitForEnd()).resolves.toBeUndefined();
  });
});
