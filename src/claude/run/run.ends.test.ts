import { setImmediate } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { bridgeEnd } from "../../../tests/support/claude/bridge-end.ts";
import { say, use } from "../../../tests/support/claude/scripted-sdk.ts";
import {
  answersTo,
  silent,
  started,
  toolNamed,
  tools,
} from "../../../tests/support/claude/started-run.ts";

const done = { content: [say("Done.")] };
const calling = { content: [use("t1", "mcp__wink__add")] };
const words = "API Error: 500 bad.";
const failing = { failure: { error: "server_error", api_error_status: 500 }, words };
const killed = new Error("Claude Code process terminated by signal SIGKILL");
const never = Promise.withResolvers<void>().promise;

/** What nobody awaited, up to now. */
function lostRejections(): readonly unknown[] {
  const lost: unknown[] = [];
  const keep = (error: unknown) => void lost.push(error);
  const others = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection").on("unhandledRejection", keep);
  onTestFinished(() => {
    process.off("unhandledRejection", keep);
    for (const other of others) process.on("unhandledRejection", other);
  });
  return lost;
}

describe("a request that fails for good", () => {
  test("is a result, with what the SDK said of it", async () => {
    const { next } = await started([failing]);
    expect(await next()).toMatchObject({
      message: null,
      text: "",
      result: { is_error: true, result: words },
      failure: { error: "server_error", api_error_status: 500 },
      retry: null,
    });
  });

  test("in mid-conversation leaves the SDK open for one more word", async () => {
    const { run, sdk, next } = await started([calling, failing, done]);
    await run.answer(answersTo(await next()), silent);
    expect(await next()).toMatchObject({ result: { is_error: true }, message: null });
    run.say("Go on.");
    expect(await next()).toMatchObject({
      text: "Done.",
      result: { is_error: false },
      failure: null,
      message: { number: 2 },
    });
    expect(sdk.requests[2]?.news).toEqual(["t1 is done.", "Go on."]);
  });

  test("is forgotten when the model says something after all", async () => {
    const { promise: until, resolve } = Promise.withResolvers<void>();
    const { run, next } = await started([failing, { ...calling, until }]);
    await next();
    run.say("Go on.");
    resolve();
    expect(await next()).toMatchObject({ failure: null, calls: [{ id: "t1" }] });
  });

  test("makes the SDK throw when it is closed, which nobody needs to hear", async () => {
    const { run, next } = await started([failing]);
    await next();
    run.close();
    await expect(run.ended()).resolves.toBeUndefined();
  });
});

describe("a request that the SDK would send again", () => {
  const retry = { attempt: 1, retry_delay_ms: 4000, error_status: 429, error: "rate_limit" };

  test("is told at once if it is the first", async () => {
    const { next } = await started([{ retry, until: never }]);
    expect(await next()).toMatchObject({ retry, message: null, result: null });
  });

  test("is left to the SDK if it is a later one", async () => {
    const { run, next } = await started([calling, { retry, until: Promise.resolve() }, done]);
    await run.answer(answersTo(await next()), silent);
    expect(await next()).toMatchObject({ retry: null, text: "Done." });
  });
});

describe("an SDK that ends without a result", () => {
  test.each([
    ["with an error", killed, killed.message],
    ["without a word", null, "it ended without an answer"],
  ])("%s is an error", async (_, dies, message) => {
    const { next } = await started([{ dies }]);
    await expect(next()).rejects.toThrow(message);
    await expect(next()).rejects.toThrow(message);
  });

  test("is an error for whoever waits for it by then", async () => {
    const { run, next } = await started([calling, { dies: killed }]);
    await run.answer(answersTo(await next()), silent);
    await expect(next()).rejects.toThrow(killed);
  });

  test("that cannot even be started is an error too", async () => {
    const { run, sdk, next } = await started([done]);
    await next();
    sdk.query = () => {
      throw new Error("spawn ENOENT");
    };
    await run.start([say("Again.")], tools);
    run.say("Again.");
    await expect(next()).rejects.toThrow("spawn ENOENT");
  });

  test("while a call waits fails nothing but the run: a late answer reaches nobody", async () => {
    const lost = lostRejections();
    const { promise, reject } = Promise.withResolvers<never>();
    const { run, next } = await started([calling], { dies: promise });
    const step = await next();
    reject(killed);
    await run.ended();
    await run.answer(answersTo(step), silent);
    await expect(next()).rejects.toThrow(killed);
    await setImmediate(); // when it would have been told
    expect(lost).toEqual([]);
  });

  test("while a call waits takes an answer with other tools as well", async () => {
    const lost = lostRejections();
    const { promise, reject } = Promise.withResolvers<never>();
    const { run, sdk, next } = await started([calling], { dies: promise });
    const step = await next();
    sdk.cut(); // the process is gone, and nobody has told us yet
    const late = { notes: [], tools: [...tools, toolNamed("late")] };
    await run.answer(answersTo(step), late);
    reject(killed);
    await expect(next()).rejects.toThrow(killed);
    await setImmediate(); // when it would have been told
    expect(lost).toEqual([]);
  });
});

describe("close()", () => {
  test("lets go of a call that waits", async () => {
    const { run, sdk, next } = await started([calling, done]);
    await next();
    run.close();
    await expect.poll(() => sdk.seen).toContain("PostToolUseFailure t1");
    await run.ended();
  });

  test("lets go of a batch that waits", async () => {
    const { run, sdk, next } = await started([{ content: [use("t1", "Bash")] }, done]);
    await next();
    expect(sdk.requests).toHaveLength(1);
    run.close();
    await run.ended();
    expect(sdk.seen.at(-1)).toBe("PostToolBatch");
  });

  test("answers calls that wait and calls that come later that the evaluation has ended", async () => {
    const { run, sdk, next } = await started([calling, done]);
    await next();
    const end = await bridgeEnd(sdk.options);
    const waiting = end.call("t8", "add", {});
    run.close();
    const ended = { error: "The evaluation has ended." };
    expect(await Promise.all([waiting, end.call("t9", "add", {})])).toEqual([ended, ended]);
    await run.ended();
  });

  test("keeps nobody waiting who comes later: neither a call nor a batch", async () => {
    const { promise: until, resolve } = Promise.withResolvers<void>();
    const native = {
      Bash: async () => {
        await until;
        return { response: "hi" };
      },
    };
    const content = [use("t1", "Bash"), use("t2", "mcp__wink__add")];
    const { run, sdk } = await started([{ content }, { content: [use("t3", "Bash")] }, done], {
      native,
    });
    await expect.poll(() => sdk.seen).toEqual(["PreToolUse t1"]);
    run.close();
    resolve();
    await run.ended();
    expect(sdk.seen).toContain("PostToolUseFailure t2");
    expect(sdk.seen.at(-1)).toBe("PostToolBatch");
  });
});

test("the tools of a run can be asked for as long as it is open", async () => {
  const { run, sdk, next } = await started([done]);
  await next();
  const end = await bridgeEnd(sdk.options);
  expect(end.listed).toEqual(["add"]);
  run.close();
});
