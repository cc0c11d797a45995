import { describe, expect, test } from "vitest";
import type { NativeOutcome } from "../../../tests/support/claude/bridge-client.ts";
import { textBlock, toolUse } from "../../../tests/support/claude/scripted-sdk.ts";
import {
  answerAll,
  noNotes,
  runBash,
  startRun,
  tools,
} from "../../../tests/support/claude/start-run.ts";
import type { ToolUse } from "./model-message.ts";
import type { NativeHooks } from "./native-call-tracker.ts";

const done = { content: [textBlock("Done.")] };
const bashCall = (id: string, command = "echo hi") => toolUse(id, "Bash", { command });
const input = { command: "echo hi" };
const outcome = { name: "Bash", response: { stdout: "hi" }, error: null, durationMs: 7 };

describe("a message with only native calls", () => {
  test("produces a step when all calls have ended, and the SDK waits", async () => {
    const { run, sdk, after, next } = await startRun([
      { content: [textBlock("Let me see."), bashCall("t1"), bashCall("t2")] },
      done,
    ]);
    const calls = [
      { id: "t1", input, ...outcome },
      { id: "t2", input, ...outcome },
    ];
    expect(await next()).toMatchObject({
      text: "Let me see.",
      calls: [],
      native: calls,
      result: null,
      message: { number: 1 },
    });
    expect(after).toEqual(calls);
    expect(sdk.requests).toHaveLength(1);
    await run.answer(new Map(), { notes: ["Be quick."], tools });
    expect(await next()).toMatchObject({ text: "Done.", native: [] });
    expect(sdk.requests[1]?.newTexts.at(-1)).toBe("Be quick.");
  });

  test("can be followed by another one", async () => {
    const { run, sdk, next } = await startRun([
      { content: [bashCall("t1")] },
      { content: [bashCall("t2")] },
      done,
    ]);
    for (const id of ["t1", "t2"]) {
      const { native, message } = await next();
      expect(native.map((call) => call.id)).toEqual([id]);
      expect(message?.number).toBe(sdk.requests.length);
      await run.answer(new Map(), noNotes);
    }
    expect(await next()).toMatchObject({ text: "Done.", message: { number: 3 } });
  });

  test("runs its calls while it is still being streamed", async () => {
    const { promise: until, resolve } = Promise.withResolvers<void>();
    const { after, next } = await startRun([{ content: [bashCall("t1")], until }, done]);
    await expect.poll(() => after).toHaveLength(1);
    resolve();
    expect(await next()).toMatchObject({ native: [{ id: "t1" }], usage: { outputTokens: 5 } });
  });
});

describe("a message with native and bridged calls", () => {
  test("returns all bridged calls at the first one, and the SDK collects each answer", async () => {
    const content = [
      toolUse("t1", "mcp__wink__add"),
      bashCall("t2"),
      toolUse("t3", "mcp__wink__add"),
    ];
    const { run, sdk, next } = await startRun([{ content }, done]);
    const step = await next();
    expect(step.calls.map(({ id }) => id)).toEqual(["t1", "t3"]);
    expect(step.native).toEqual([]);
    expect(sdk.hookCalls).toEqual(["PreToolUse t1"]);
    await run.answer(answerAll(step), { notes: ["Be quick."], tools });
    expect(await next()).toMatchObject({ text: "Done.", native: [{ id: "t2" }] });
    expect(sdk.hookCalls).toEqual([
      "PreToolUse t1",
      "PostToolUse t1",
      "PreToolUse t2",
      "PostToolUse t2",
      "PreToolUse t3",
      "PostToolUse t3",
      "PostToolBatch",
    ]);
    expect(sdk.requests[1]?.newTexts).toEqual([
      "t1 is done.",
      '{"stdout":"hi"}',
      "t3 is done.",
      "Be quick.",
    ]);
  });

  test("includes native calls that ended before the first bridged call", async () => {
    const content = [bashCall("t1"), toolUse("t2", "mcp__wink__add")];
    const { next } = await startRun([{ content }, done]);
    expect(await next()).toMatchObject({ native: [{ id: "t1" }], calls: [{ id: "t2" }] });
  });
});

describe("a native call", () => {
  test("is reported with its error if it fails", async () => {
    const native = { Bash: async (): Promise<NativeOutcome> => ({ error: "Exit code 3" }) };
    const { after, next } = await startRun([{ content: [bashCall("t1")] }, done], { native });
    const failed = { id: "t1", name: "Bash", input, response: null, error: "Exit code 3" };
    expect((await next()).native).toEqual([{ ...failed, durationMs: 7 }]);
    expect(after).toHaveLength(1);
  });

  test("is passed to beforeCall with the shell's working folder", async () => {
    const seen: unknown[] = [];
    const beforeCall: NativeHooks["beforeCall"] = async (call) => {
      seen.push(call);
      return {};
    };
    const { sdk, next } = await startRun([{ content: [bashCall("t1")] }, done], {
      hooks: { beforeCall },
    });
    await next();
    expect(seen).toEqual([{ id: "t1", name: "Bash", input, cwd: "/work" }]);
    const [{ hooks }] = Object(sdk.options["hooks"]).PreToolUse;
    await hooks[0]({ tool_name: "Bash", tool_use_id: "t9" });
    expect(seen[1]).toEqual({ id: "t9", name: "Bash", input: {}, cwd: undefined });
  });

  test("is listed after calls from an earlier message", async () => {
    const content = [toolUse("t1", "mcp__wink__add"), bashCall("t2")];
    const { run, next } = await startRun([{ content }, { content: [bashCall("t3")] }, done]);
    await run.answer(answerAll(await next()), noNotes);
    expect((await next()).native.map(({ id }) => id)).toEqual(["t2", "t3"]);
  });

  test("runs with the input that beforeCall returns", async () => {
    const seen: unknown[] = [];
    const native = {
      Bash: async (input: object) => {
        seen.push(input);
        return await runBash();
      },
    };
    const beforeCall = async ({ id }: ToolUse) => (id === "t1" ? { input: { command: "ls" } } : {});
    const { next } = await startRun([{ content: [bashCall("t1"), bashCall("t2")] }, done], {
      native,
      hooks: { beforeCall },
    });
    expect(await next()).toMatchObject({ native: [{ input: { command: "ls" } }, { input }] });
    expect(seen).toEqual([{ command: "ls" }, { command: "echo hi" }]);
  });

  test("is not run if beforeCall denies it, and the model and the step get the reason", async () => {
    const beforeCall: NativeHooks["beforeCall"] = ({ id }) =>
      id === "t1" ? Promise.resolve({ denied: "Not this one." }) : Promise.resolve({});
    const { run, sdk, after, next } = await startRun(
      [{ content: [bashCall("t1"), bashCall("t2")] }, done],
      {
        hooks: { beforeCall },
      },
    );
    const error = "PreToolUse:Bash hook error: Not this one.";
    expect((await next()).native).toEqual([
      { id: "t1", name: "Bash", input, response: null, error, durationMs: null },
      { id: "t2", input, ...outcome },
    ]);
    expect(after.filter(({ error: problem }) => problem === null).map(({ id }) => id)).toEqual([
      "t2",
    ]);
    await run.answer(new Map(), noNotes);
    await next();
    expect(sdk.requests[1]?.newTexts[0]).toBe(error);
  });

  test("is not run if beforeCall throws", async () => {
    const beforeCall = async () => {
      throw new Error("no such folder");
    };
    const { next } = await startRun([{ content: [bashCall("t1")] }, done], {
      hooks: { beforeCall },
    });
    const error = "PreToolUse:Bash hook error: no such folder";
    expect((await next()).native).toMatchObject([{ id: "t1", error, response: null }]);
  });

  test("is reported with the next step if it is denied after a bridged call", async () => {
    const content = [toolUse("t1", "mcp__wink__add"), bashCall("t2")];
    const beforeCall = async () => ({ denied: "No." });
    const { run, next } = await startRun([{ content }, done], { hooks: { beforeCall } });
    await run.answer(answerAll(await next()), noNotes);
    expect(await next()).toMatchObject({ native: [{ id: "t2" }], text: "Done." });
  });

  // The SDK applies its permission rules after the hook. It reports a denied call only with its batch.
  test("is ended if the SDK denies it after beforeCall allowed it", async () => {
    const started: string[] = [];
    const { after, next } = await startRun([{ content: [bashCall("t1")] }, done], {
      native: { Bash: async () => ({ denied: "Permission to use Bash has been denied" }) },
      hooks: {
        beforeCall: async ({ id }) => {
          started.push(id);
          return {};
        },
      },
    });
    expect(await next()).toMatchObject({
      native: [{ id: "t1", error: "Permission to use Bash has been denied", response: null }],
    });
    expect(started).toEqual(["t1"]);
    expect(after).toMatchObject([{ id: "t1", error: "Permission to use Bash has been denied" }]);
  });

  test("is reported even if the SDK gives no reason for not running it", async () => {
    const { run, sdk, next } = await startRun([
      { content: [toolUse("t1", "mcp__wink__add")] },
      { content: [toolUse("t2", "mcp__wink__add")] },
      done,
    ]);
    const step = await next();
    const [{ hooks }] = Object(sdk.options["hooks"]).PostToolBatch;
    const call = { tool_name: "Bash", tool_use_id: "t1", tool_input: {}, tool_response: null };
    await hooks[0]({ hook_event_name: "PostToolBatch", tool_calls: [call] });
    await run.answer(answerAll(step), noNotes);
    expect((await next()).native).toMatchObject([{ id: "t1", error: "The call was not run" }]);
  });

  test("ends the run with the error if its rollback fails", async () => {
    const afterCall = async () => {
      throw new Error("The files could not be restored");
    };
    const { next } = await startRun([{ content: [bashCall("t1")] }, done], {
      hooks: { afterCall },
    });
    await expect(next()).rejects.toThrow("The files could not be restored");
  });
});

test("a disabled native tool is treated as an unknown tool", async () => {
  const { run, sdk, after, next } = await startRun([{ content: [bashCall("t1")] }, done], {
    hooks: { isEnabled: () => false },
  });
  const step = await next();
  expect(step).toMatchObject({ calls: [{ id: "t1", name: "Bash" }], native: [] });
  await run.answer(answerAll(step), noNotes);
  await next();
  expect(after).toEqual([]);
  expect(sdk.requests[1]?.newTexts.at(-1)).toBe("t1 is done.");
});
