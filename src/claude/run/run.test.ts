import { describe, expect, test } from "vitest";
import type { NativeOutcome } from "../../../tests/support/claude/bridge-end.ts";
import { ScriptedSdk, say, use } from "../../../tests/support/claude/scripted-sdk.ts";
import {
  answersTo,
  silent,
  started,
  toolNamed,
  tools,
} from "../../../tests/support/claude/started-run.ts";
import { usageOf } from "../../base/usage.ts";
import type { NativeHooks } from "./native-call-tracker.ts";
import { ClaudeRun } from "./run.ts";

describe("a run", () => {
  test("starts the SDK with its first message, its tools and its hooks", async () => {
    const { sdk, next } = await started([{ content: [say("Done.")] }]);
    await next();
    expect(sdk.requests).toEqual([{ tools: ["add"], news: ["Do it."] }]);
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

  test("is over with the result", async () => {
    const { next } = await started([{ content: [say("Do"), say("ne.")] }]);
    expect(await next()).toEqual({
      message: {
        number: 1,
        id: "msg_1",
        model: "claude-test",
        requestId: "req_1",
        text: "Done.",
        uses: [],
        stopReason: "end_turn",
        usage: usageOf({ inputTokens: 10, outputTokens: 5 }),
        isComplete: true,
      },
      text: "Done.",
      calls: [],
      native: [],
      usage: usageOf({ inputTokens: 10, outputTokens: 5 }),
      result: expect.objectContaining({ subtype: "success", result: "Done." }),
      failure: null,
      retry: null,
    });
  });

  test("leaves alone what is no message", async () => {
    const says = [null, "hello", [], new Map([["type", "result"]])];
    const { next } = await started([{ content: [say("Done.")] }], { says });
    expect(await next()).toMatchObject({ text: "Done." });
  });

  test("tells that the SDK has made the conversation shorter", async () => {
    const about = { pre_tokens: 90, post_tokens: 9 };
    const boundary = { type: "system", subtype: "compact_boundary", compact_metadata: about };
    const { next, compactions } = await started([{ content: [say("Done.")] }], {
      says: [boundary],
    });
    await next();
    expect(compactions).toEqual([about]);
  });

  test("ends when it is closed, and says so", async () => {
    const { run, next } = await started([{ content: [say("Done.")] }]);
    await next();
    run.close();
    await run.ended();
    expect(await next()).toMatchObject({ result: { subtype: "success" }, message: null });
  });

  test("says whether it has come to its end", async () => {
    const { run, next } = await started([{ content: [say("Done.")] }]);
    expect(run.isAnswered).toBe(false);
    await next();
    expect(run.isAnswered).toBe(true);
  });

  test("has nothing to end before it was started", async () => {
    const native: NativeHooks = {
      isOn: () => false,
      before: async () => ({}),
      after: async () => {},
    };
    const run = new ClaudeRun({ sdk: new ScriptedSdk([]), options: {}, native, compacted() {} });
    await expect(run.ended()).resolves.toBeUndefined();
  });

  test("is waited for no longer than the signal says", async () => {
    const { promise: until } = Promise.withResolvers<void>();
    const { run } = await started([{ content: [say("Done.")], until }]);
    const stop = new AbortController();
    const step = run.next(stop.signal);
    stop.abort("enough");
    await expect(step).rejects.toBe("enough");
  });
});

describe("a call of our tools", () => {
  const calling = { content: [say("Let me see."), use("t1", "mcp__wink__add", { a: 1 })] };
  const done = { content: [say("Done.")] };

  test("is handed out, and the SDK waits for its answer", async () => {
    const { run, sdk, next } = await started([calling, done]);
    const step = await next();
    expect(step).toMatchObject({
      text: "Let me see.",
      calls: [{ id: "t1", name: "mcp__wink__add", input: { a: 1 } }],
      result: null,
      native: [],
    });
    expect(sdk.seen).toEqual(["PreToolUse t1"]);
    await run.answer(new Map([["t1", { text: "Two.", isError: false }]]), silent);
    expect(await next()).toMatchObject({ text: "Done.", message: { number: 2 }, calls: [] });
    expect(sdk.requests[1]).toEqual({ tools: ["add"], news: ["Two."] });
    expect(sdk.seen).toEqual(["PreToolUse t1", "PostToolUse t1", "PostToolBatch"]);
  });

  test("that failed is told as one that failed", async () => {
    const { run, sdk, next } = await started([calling, done]);
    await next();
    await run.answer(new Map([["t1", { text: "No.", isError: true }]]), silent);
    await next();
    expect(sdk.seen[1]).toBe("PostToolUseFailure t1");
  });

  test("is handed out no sooner than the message is whole", async () => {
    const { promise: until, resolve } = Promise.withResolvers<void>();
    const { sdk, next } = await started([{ ...calling, until }, done]);
    const step = next();
    await expect.poll(() => sdk.seen).toEqual(["PreToolUse t1"]);
    const later = Promise.resolve("not yet");
    expect(await Promise.race([step, later])).toBe("not yet");
    resolve();
    expect(await step).toMatchObject({ usage: { outputTokens: 5 }, message: { isComplete: true } });
  });

  test("comes with notes, which the model reads before the next request", async () => {
    const { run, sdk, next } = await started([calling, calling, done]);
    const step = await next();
    await run.answer(answersTo(step), { notes: ["Be quick.", "And kind."], tools });
    await run.answer(answersTo(await next()), silent);
    await next();
    expect(sdk.requests.map(({ news }) => news)).toEqual([
      ["Do it."],
      ["t1 is done.", "Be quick.\n\nAnd kind."],
      ["t1 is done."],
    ]);
  });

  test("may change which tools there are, before the next request", async () => {
    const { run, sdk, next } = await started([calling, calling, done]);
    const more = [...tools, toolNamed("late")];
    await run.answer(answersTo(await next()), { notes: [], tools: more });
    await run.answer(answersTo(await next()), { notes: [], tools: more });
    await next();
    expect(sdk.requests.map((request) => request.tools)).toEqual([
      ["add"],
      ["add", "late"],
      ["add", "late"],
    ]);
  });

  test("of a tool that is not there is answered in words after the calls", async () => {
    const calls = [use("t1", "mcp__wink__nought"), use("t2", "Nope")];
    const { run, sdk, next } = await started([{ content: calls }, done]);
    const step = await next();
    expect(step.calls.map(({ name }) => name)).toEqual(["mcp__wink__nought", "Nope"]);
    await run.answer(answersTo(step), { notes: ["Be quick."], tools });
    await next();
    expect(sdk.requests[1]?.news.at(-1)).toBe("t1 is done.\n\nt2 is done.\n\nBe quick.");
  });

  test("of a tool that is not there, beside one that is, is handed out with it", async () => {
    const calls = [use("t1", "mcp__wink__nought"), use("t2", "mcp__wink__add")];
    const { run, sdk, next } = await started([{ content: calls }, done]);
    const step = await next();
    expect(step.calls.map(({ id }) => id)).toEqual(["t1", "t2"]);
    await run.answer(answersTo(step), silent);
    await next();
    expect(sdk.requests[1]?.news.slice(1)).toEqual(["t2 is done.", "t1 is done."]);
  });
});

describe("an answer with a schema", () => {
  const answer = async ({ word }: { word?: unknown }): Promise<NativeOutcome> =>
    word === "owl"
      ? { response: "Structured output provided successfully" }
      : { error: "Output does not match required schema: /word: must be string" };
  const native = { StructuredOutput: answer };
  const good = use("t9", "StructuredOutput", { word: "owl" });

  test("that is accepted ends the run, with no step before", async () => {
    const { sdk, next } = await started([{ content: [good] }], { native });
    expect(await next()).toMatchObject({
      calls: [],
      native: [],
      result: { structured_output: { word: "owl" } },
    });
    expect(sdk.seen.at(-1)).toBe("PostToolBatch");
  });

  test("that is refused is a step, after which the model is asked again", async () => {
    const bad = use("t1", "StructuredOutput", { word: 5 });
    const { run, sdk, next } = await started([{ content: [bad] }, { content: [good] }], { native });
    const step = await next();
    expect(step).toMatchObject({ calls: [], native: [], result: null, message: { number: 1 } });
    await run.answer(new Map(), { notes: ["A word."], tools });
    expect(await next()).toMatchObject({ result: { structured_output: { word: "owl" } } });
    expect(sdk.requests[1]?.news.at(-1)).toBe("A word.");
  });

  test("may come beside a call of ours", async () => {
    const content = [use("t1", "mcp__wink__add"), good];
    const { run, next } = await started([{ content }], { native });
    const step = await next();
    expect(step.calls.map(({ id }) => id)).toEqual(["t1"]);
    await run.answer(answersTo(step), silent);
    expect(await next()).toMatchObject({ result: { structured_output: { word: "owl" } } });
  });
});

describe("what the model says", () => {
  test("is joined where it was cut off and went on", async () => {
    const { next } = await started([
      { content: [say("Once upon")], stop: "max_tokens" },
      { content: [say(" a time")], stop: "max_tokens" },
      { content: [say(" there was.")] },
    ]);
    expect(await next()).toMatchObject({
      text: "Once upon a time there was.",
      message: { number: 3 },
      usage: { inputTokens: 30, outputTokens: 15 },
    });
  });

  test("is only the last, where it was asked to say it otherwise", async () => {
    const { run, next } = await started([
      { content: [say("An owl."), use("t1", "Nope")] },
      { content: [say("It is an owl.")] },
    ]);
    await run.answer(answersTo(await next()), silent);
    expect(await next()).toMatchObject({ text: "It is an owl.", usage: { outputTokens: 5 } });
  });
});
