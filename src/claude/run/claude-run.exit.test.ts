import { setImmediate } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { connectBridge } from "../../../tests/support/claude/bridge-client.ts";
import { textBlock, toolUse } from "../../../tests/support/claude/scripted-sdk.ts";
import {
  answerAll,
  createTool,
  noNotes,
  startRun,
  tools,
} from "../../../tests/support/claude/start-run.ts";

const done = { content: [textBlock("Done.")] };
const addCall = { content: [toolUse("t1", "mcp__wink__add")] };
const text = "API Error: 500 bad.";
const failing = { failure: { error: "server_error", api_error_status: 500 }, text };
const killed = new Error("Claude Code process terminated by signal SIGKILL");
const never = Promise.withResolvers<void>().promise;

/** Records unhandled rejections until the test ends. */
function recordUnhandledRejections(): readonly unknown[] {
  const unhandled: unknown[] = [];
  const record = (error: unknown) => void unhandled.push(error);
  const others = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection").on("unhandledRejection", record);
  onTestFinished(() => {
    process.off("unhandledRejection", record);
    for (const other of others) process.on("unhandledRejection", other);
  });
  return unhandled;
}

describe("a request that fails after all retries", () => {
  test("ends the run with a failed result and the SDK's message", async () => {
    const { next } = await startRun([failing]);
    expect(await next()).toMatchObject({
      message: null,
      text: "",
      result: { is_error: true, result: text },
      failure: { error: "server_error", api_error_status: 500 },
      retry: null,
    });
  });

  test("allows another message in the same conversation", async () => {
    const { run, sdk, next } = await startRun([addCall, failing, done]);
    await run.answer(answerAll(await next()), noNotes);
    expect(await next()).toMatchObject({ result: { is_error: true }, message: null });
    run.sendText("Continue.");
    expect(await next()).toMatchObject({
      text: "Done.",
      result: { is_error: false },
      failure: null,
      message: { number: 2 },
    });
    expect(sdk.requests[2]?.newTexts).toEqual(["t1 is done.", "Continue."]);
  });

  test("is cleared when the model answers later", async () => {
    const { promise: until, resolve } = Promise.withResolvers<void>();
    const { run, next } = await startRun([failing, { ...addCall, until }]);
    await next();
    run.sendText("Continue.");
    resolve();
    expect(await next()).toMatchObject({ failure: null, calls: [{ id: "t1" }] });
  });

  test("makes the SDK throw on close(), which waitForEnd() ignores", async () => {
    const { run, next } = await startRun([failing]);
    await next();
    run.close();
    await expect(run.waitForEnd()).resolves.toBeUndefined();
  });
});

describe("a request that the SDK would retry", () => {
  const retry = { attempt: 1, retry_delay_ms: 4000, error_status: 429, error: "rate_limit" };

  test("is reported immediately if it is the first request", async () => {
    const { next } = await startRun([{ retry, until: never }]);
    expect(await next()).toMatchObject({ retry, message: null, result: null });
  });

  test("is retried by the SDK if it is a later request", async () => {
    const { run, next } = await startRun([addCall, { retry, until: Promise.resolve() }, done]);
    await run.answer(answerAll(await next()), noNotes);
    expect(await next()).toMatchObject({ retry: null, text: "Done." });
  });

  test("is reported if the SDK would wait longer than allowed", async () => {
    const options = { maxRetryMs: 3_999 };
    const { run, next } = await startRun([addCall, { retry, until: never }], options);
    await run.answer(answerAll(await next()), noNotes);
    expect(await next()).toMatchObject({ retry, calls: [], result: null });
  });
});

describe("an SDK that ends without a result", () => {
  test.each([
    ["with an error", killed, killed.message],
    ["without an error", null, "it ended without an answer"],
  ])("%s makes next() throw", async (_, exit, message) => {
    const { next } = await startRun([{ exit }]);
    await expect(next()).rejects.toThrow(message);
    await expect(next()).rejects.toThrow(message);
  });

  test("makes a waiting next() throw", async () => {
    const { run, next } = await startRun([addCall, { exit: killed }]);
    await run.answer(answerAll(await next()), noNotes);
    await expect(next()).rejects.toThrow(killed);
  });

  test("makes next() throw if it cannot be started", async () => {
    const { run, sdk, next } = await startRun([done]);
    await next();
    sdk.query = () => {
      throw new Error("spawn ENOENT");
    };
    await run.start([textBlock("Again.")], tools);
    run.sendText("Again.");
    await expect(next()).rejects.toThrow("spawn ENOENT");
  });

  test("during a call ignores a late answer and causes no unhandled rejection", async () => {
    const unhandled = recordUnhandledRejections();
    const { promise, reject } = Promise.withResolvers<never>();
    const { run, next } = await startRun([addCall], { crash: promise });
    const step = await next();
    reject(killed);
    await run.waitForEnd();
    await run.answer(answerAll(step), noNotes);
    await expect(next()).rejects.toThrow(killed);
    await setImmediate(); // when a rejection would be reported
    expect(unhandled).toEqual([]);
  });

  test("during a call accepts a late answer with other tools", async () => {
    const unhandled = recordUnhandledRejections();
    const { promise, reject } = Promise.withResolvers<never>();
    const { run, sdk, next } = await startRun([addCall], { crash: promise });
    const step = await next();
    sdk.disconnect(); // the process has ended, which the run has not noticed yet
    const late = { notes: [], tools: [...tools, createTool("late")] };
    await run.answer(answerAll(step), late);
    reject(killed);
    await expect(next()).rejects.toThrow(killed);
    await setImmediate(); // when a rejection would be reported
    expect(unhandled).toEqual([]);
  });
});

describe("ClaudeRun.close()", () => {
  test("releases a waiting call", async () => {
    const { run, sdk, next } = await startRun([addCall, done]);
    await next();
    run.close();
    await expect.poll(() => sdk.hookCalls).toContain("PostToolUseFailure t1");
    await run.waitForEnd();
  });

  test("releases a waiting batch", async () => {
    const { run, sdk, next } = await startRun([{ content: [toolUse("t1", "Bash")] }, done]);
    await next();
    expect(sdk.requests).toHaveLength(1);
    run.close();
    await run.waitForEnd();
    expect(sdk.hookCalls.at(-1)).toBe("PostToolBatch");
  });

  test("answers waiting and later calls with an error that the evaluation has ended", async () => {
    const { run, sdk, next } = await startRun([addCall, done]);
    await next();
    const end = await connectBridge(sdk.options);
    const waiting = end.call("t8", "add", {});
    run.close();
    const ended = { error: "The evaluation has ended." };
    expect(await Promise.all([waiting, end.call("t9", "add", {})])).toEqual([ended, ended]);
    await run.waitForEnd();
  });

  test("releases later calls and batches too", async () => {
    const { promise: until, resolve } = Promise.withResolvers<void>();
    const native = {
      Bash: async () => {
        await until;
        return { response: "hi" };
      },
    };
    const content = [toolUse("t1", "Bash"), toolUse("t2", "mcp__wink__add")];
    const { run, sdk } = await startRun([{ content }, { content: [toolUse("t3", "Bash")] }, done], {
      native,
    });
    await expect.poll(() => sdk.hookCalls).toEqual(["PreToolUse t1"]);
    run.close();
    resolve();
    await run.waitForEnd();
    expect(sdk.hookCalls).toContain("PostToolUseFailure t2");
    expect(sdk.hookCalls.at(-1)).toBe("PostToolBatch");
  });
});

test("ClaudeRun lists its tools while it is open", async () => {
  const { run, sdk, next } = await startRun([done]);
  await next();
  const end = await connectBridge(sdk.options);
  expect(end.toolNames).toEqual(["add"]);
  run.close();
});
