import { describe, expect, test } from "vitest";
import type { NativeOutcome } from "../../../tests/support/claude/bridge-client.ts";
import { ScriptedSdk, textBlock, toolUse } from "../../../tests/support/claude/scripted-sdk.ts";
import {
  answerAll,
  createTool,
  noNotes,
  startRun,
  tools,
} from "../../../tests/support/claude/start-run.ts";
import { toUsage } from "../../base/usage.ts";
import { ClaudeRun } from "./claude-run.ts";
import type { NativeHooks } from "./native-call-tracker.ts";
import { TurnReporter } from "./turn-reporter.ts";

describe("ClaudeRun", () => {
  test("starts the SDK with its first message, its tools and its hooks", async () => {
    const { sdk, next } = await startRun([{ content: [textBlock("Done.")] }]);
    await next();
    expect(sdk.requests).toEqual([{ tools: ["add"], newTexts: ["Do it."] }]);
    const week = [{ hooks: [expect.any(Function)], timeout: 604_800 }];
    expect(sdk.options).toEqual({
      cwd: "/work",
      mcpServers: { wink: expect.objectContaining({ type: "sdk", name: "wink" }) },
      hooks: {
        PreToolUse: week,
        PostToolUse: week,
        PostToolUseFailure: week,
        PostToolBatch: [{ hooks: Array(16).fill(expect.any(Function)), timeout: 604_800 }],
      },
    });
  });

  test("returns the SDK's result as the last step", async () => {
    const { next } = await startRun([{ content: [textBlock("Do"), textBlock("ne.")] }]);
    expect(await next()).toEqual({
      message: {
        number: 1,
        id: "msg_1",
        model: "claude-test",
        requestId: "req_1",
        text: "Done.",
        uses: [],
        stopReason: "end_turn",
        usage: toUsage({ inputTokens: 10, outputTokens: 5 }),
        isComplete: true,
      },
      text: "Done.",
      calls: [],
      native: [],
      usage: toUsage({ inputTokens: 10, outputTokens: 5 }),
      result: expect.objectContaining({ subtype: "success", result: "Done." }),
      failure: null,
      retry: null,
      hasRetried: false,
    });
  });

  test("ignores values that are not messages", async () => {
    const messages = [null, "hello", [], new Map([["type", "result"]])];
    const { next } = await startRun([{ content: [textBlock("Done.")] }], { messages });
    expect(await next()).toMatchObject({ text: "Done." });
  });

  test("reports compactions by the SDK", async () => {
    const metadata = { pre_tokens: 90, post_tokens: 9 };
    const boundary = { type: "system", subtype: "compact_boundary", compact_metadata: metadata };
    const { next, compactions } = await startRun([{ content: [textBlock("Done.")] }], {
      messages: [boundary],
    });
    await next();
    expect(compactions).toEqual([metadata]);
  });

  test("ends when it is closed, and keeps its result", async () => {
    const { run, next } = await startRun([{ content: [textBlock("Done.")] }]);
    await next();
    run.close();
    await run.waitForEnd();
    expect(await next()).toMatchObject({ result: { subtype: "success" }, message: null });
  });

  test("sets hasResult after the result", async () => {
    const { run, next } = await startRun([{ content: [textBlock("Done.")] }]);
    expect(run.hasResult).toBe(false);
    await next();
    expect(run.hasResult).toBe(true);
  });

  test("waitForEnd() returns immediately before start()", async () => {
    const native: NativeHooks = {
      isEnabled: () => false,
      beforeCall: async () => ({}),
      afterCall: async () => {},
    };
    const reporter = new TurnReporter({ isStructured: false, findNative: () => null });
    const settings = { options: {}, native, reporter, onCompacted() {} };
    const run = new ClaudeRun({ sdk: new ScriptedSdk([]), ...settings });
    await expect(run.waitForEnd()).resolves.toBeUndefined();
  });

  test("next() rejects when its signal aborts", async () => {
    const { promise: until } = Promise.withResolvers<void>();
    const { run } = await startRun([{ content: [textBlock("Done.")], until }]);
    const stop = new AbortController();
    const step = run.next(stop.signal);
    stop.abort("enough");
    await expect(step).rejects.toBe("enough");
  });
});

describe("a bridged call", () => {
  const addCall = {
    content: [textBlock("Let me see."), toolUse("t1", "mcp__wink__add", { a: 1 })],
  };
  const done = { content: [textBlock("Done.")] };

  test("is returned in a step, and the SDK waits for its answer", async () => {
    const { run, sdk, next } = await startRun([addCall, done]);
    const step = await next();
    expect(step).toMatchObject({
      text: "Let me see.",
      calls: [{ id: "t1", name: "mcp__wink__add", input: { a: 1 } }],
      result: null,
      native: [],
    });
    expect(sdk.hookCalls).toEqual(["PreToolUse t1"]);
    await run.answer(new Map([["t1", { text: "Two.", isError: false }]]), noNotes);
    expect(await next()).toMatchObject({ text: "Done.", message: { number: 2 }, calls: [] });
    expect(sdk.requests[1]).toEqual({ tools: ["add"], newTexts: ["Two."] });
    expect(sdk.hookCalls).toEqual(["PreToolUse t1", "PostToolUse t1", "PostToolBatch"]);
  });

  test("is reported to the SDK as failed if its answer is an error", async () => {
    const { run, sdk, next } = await startRun([addCall, done]);
    await next();
    await run.answer(new Map([["t1", { text: "No.", isError: true }]]), noNotes);
    await next();
    expect(sdk.hookCalls[1]).toBe("PostToolUseFailure t1");
  });

  test("is returned only when its message is complete", async () => {
    const { promise: until, resolve } = Promise.withResolvers<void>();
    const { sdk, next } = await startRun([{ ...addCall, until }, done]);
    const step = next();
    await expect.poll(() => sdk.hookCalls).toEqual(["PreToolUse t1"]);
    const later = Promise.resolve("not yet");
    expect(await Promise.race([step, later])).toBe("not yet");
    resolve();
    expect(await step).toMatchObject({ usage: { outputTokens: 5 }, message: { isComplete: true } });
  });

  test("accepts notes with its answer, which are sent with the next request", async () => {
    const { run, sdk, next } = await startRun([addCall, addCall, done]);
    const step = await next();
    await run.answer(answerAll(step), { notes: ["Be quick.", "And kind."], tools });
    await run.answer(answerAll(await next()), noNotes);
    await next();
    expect(sdk.requests.map(({ newTexts }) => newTexts)).toEqual([
      ["Do it."],
      ["t1 is done.", "Be quick.\n\nAnd kind."],
      ["t1 is done."],
    ]);
  });

  test("accepts other tools with its answer, which the SDK lists before the next request", async () => {
    const { run, sdk, next } = await startRun([addCall, addCall, done]);
    const more = [...tools, createTool("late")];
    await run.answer(answerAll(await next()), { notes: [], tools: more });
    await run.answer(answerAll(await next()), { notes: [], tools: more });
    await next();
    expect(sdk.requests.map((request) => request.tools)).toEqual([
      ["add"],
      ["add", "late"],
      ["add", "late"],
    ]);
  });

  test("to an unknown tool gets its answer in the text after the batch", async () => {
    const calls = [toolUse("t1", "mcp__wink__unknown"), toolUse("t2", "Nope")];
    const { run, sdk, next } = await startRun([{ content: calls }, done]);
    const step = await next();
    expect(step.calls.map(({ name }) => name)).toEqual(["mcp__wink__unknown", "Nope"]);
    await run.answer(answerAll(step), { notes: ["Be quick."], tools });
    await next();
    expect(sdk.requests[1]?.newTexts.at(-1)).toBe("t1 is done.\n\nt2 is done.\n\nBe quick.");
  });

  test("to an unknown tool is returned together with a call to a known tool", async () => {
    const calls = [toolUse("t1", "mcp__wink__unknown"), toolUse("t2", "mcp__wink__add")];
    const { run, sdk, next } = await startRun([{ content: calls }, done]);
    const step = await next();
    expect(step.calls.map(({ id }) => id)).toEqual(["t1", "t2"]);
    await run.answer(answerAll(step), noNotes);
    await next();
    expect(sdk.requests[1]?.newTexts.slice(1)).toEqual(["t2 is done.", "t1 is done."]);
  });
});

describe("a structured answer", () => {
  const checkAnswer = async ({ word }: { word?: unknown }): Promise<NativeOutcome> =>
    word === "owl"
      ? { response: "Structured output provided successfully" }
      : { error: "Output does not match required schema: /word: must be string" };
  const native = { StructuredOutput: checkAnswer };
  const good = toolUse("t9", "StructuredOutput", { word: "owl" });

  test("ends the run without a step if the SDK accepts it", async () => {
    const { sdk, next } = await startRun([{ content: [good] }], { native });
    expect(await next()).toMatchObject({
      calls: [],
      native: [],
      result: { structured_output: { word: "owl" } },
    });
    expect(sdk.hookCalls.at(-1)).toBe("PostToolBatch");
  });

  test("produces a step if the SDK rejects it, and the model tries again", async () => {
    const bad = toolUse("t1", "StructuredOutput", { word: 5 });
    const { run, sdk, next } = await startRun([{ content: [bad] }, { content: [good] }], {
      native,
    });
    const step = await next();
    expect(step).toMatchObject({ calls: [], native: [], result: null, message: { number: 1 } });
    await run.answer(new Map(), { notes: ["A word."], tools });
    expect(await next()).toMatchObject({ result: { structured_output: { word: "owl" } } });
    expect(sdk.requests[1]?.newTexts.at(-1)).toBe("A word.");
  });

  test("can be in a message with a bridged call", async () => {
    const content = [toolUse("t1", "mcp__wink__add"), good];
    const { run, next } = await startRun([{ content }], { native });
    const step = await next();
    expect(step.calls.map(({ id }) => id)).toEqual(["t1"]);
    await run.answer(answerAll(step), noNotes);
    expect(await next()).toMatchObject({ result: { structured_output: { word: "owl" } } });
  });
});

describe("the model's text", () => {
  test("is joined if a message was cut off and continued", async () => {
    const { next } = await startRun([
      { content: [textBlock("Once upon")], stop: "max_tokens" },
      { content: [textBlock(" a time")], stop: "max_tokens" },
      { content: [textBlock(" there was.")] },
    ]);
    expect(await next()).toMatchObject({
      text: "Once upon a time there was.",
      message: { number: 3 },
      usage: { inputTokens: 30, outputTokens: 15 },
    });
  });

  test("is only the last message's text otherwise", async () => {
    const { run, next } = await startRun([
      { content: [textBlock("An owl."), toolUse("t1", "Nope")] },
      { content: [textBlock("It is an owl.")] },
    ]);
    await run.answer(answerAll(await next()), noNotes);
    expect(await next()).toMatchObject({ text: "It is an owl.", usage: { outputTokens: 5 } });
  });
});
