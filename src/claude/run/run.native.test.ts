import { describe, expect, test } from "vitest";
import type { NativeOutcome } from "../../../tests/support/claude/bridge-end.ts";
import { say, use } from "../../../tests/support/claude/scripted-sdk.ts";
import {
  answersTo,
  bash,
  silent,
  started,
  tools,
} from "../../../tests/support/claude/started-run.ts";
import type { ToolUse } from "./model-message.ts";
import type { NativeHooks } from "./native-call-tracker.ts";

const done = { content: [say("Done.")] };
const shell = (id: string, command = "echo hi") => use(id, "Bash", { command });
const input = { command: "echo hi" };
const ran = { name: "Bash", response: { stdout: "hi" }, error: null, durationMs: 7 };

describe("a message with calls of the SDK's own tools alone", () => {
  test("is a step when all have run, and the SDK waits", async () => {
    const { run, sdk, after, next } = await started([
      { content: [say("Let me see."), shell("t1"), shell("t2")] },
      done,
    ]);
    const calls = [
      { id: "t1", input, ...ran },
      { id: "t2", input, ...ran },
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
    expect(sdk.requests[1]?.news.at(-1)).toBe("Be quick.");
  });

  test("may be followed by another one", async () => {
    const { run, sdk, next } = await started([
      { content: [shell("t1")] },
      { content: [shell("t2")] },
      done,
    ]);
    for (const id of ["t1", "t2"]) {
      const { native, message } = await next();
      expect(native.map((call) => call.id)).toEqual([id]);
      expect(message?.number).toBe(sdk.requests.length);
      await run.answer(new Map(), silent);
    }
    expect(await next()).toMatchObject({ text: "Done.", message: { number: 3 } });
  });

  test("lets the tools run while it is still being streamed", async () => {
    const { promise: until, resolve } = Promise.withResolvers<void>();
    const { after, next } = await started([{ content: [shell("t1")], until }, done]);
    await expect.poll(() => after).toHaveLength(1);
    resolve();
    expect(await next()).toMatchObject({ native: [{ id: "t1" }], usage: { outputTokens: 5 } });
  });
});

describe("a message with calls of both", () => {
  test("is handed out at the first of ours, and answered as the SDK comes to each", async () => {
    const content = [use("t1", "mcp__wink__add"), shell("t2"), use("t3", "mcp__wink__add")];
    const { run, sdk, next } = await started([{ content }, done]);
    const step = await next();
    expect(step.calls.map(({ id }) => id)).toEqual(["t1", "t3"]);
    expect(step.native).toEqual([]);
    expect(sdk.seen).toEqual(["PreToolUse t1"]);
    await run.answer(answersTo(step), { notes: ["Be quick."], tools });
    expect(await next()).toMatchObject({ text: "Done.", native: [{ id: "t2" }] });
    expect(sdk.seen).toEqual([
      "PreToolUse t1",
      "PostToolUse t1",
      "PreToolUse t2",
      "PostToolUse t2",
      "PreToolUse t3",
      "PostToolUse t3",
      "PostToolBatch",
    ]);
    expect(sdk.requests[1]?.news).toEqual([
      "t1 is done.",
      '{"stdout":"hi"}',
      "t3 is done.",
      "Be quick.",
    ]);
  });

  test("tells of those that have run before the first of ours", async () => {
    const content = [shell("t1"), use("t2", "mcp__wink__add")];
    const { next } = await started([{ content }, done]);
    expect(await next()).toMatchObject({ native: [{ id: "t1" }], calls: [{ id: "t2" }] });
  });
});

describe("a call of the SDK's own tools", () => {
  test("that fails is told with its error", async () => {
    const native = { Bash: async (): Promise<NativeOutcome> => ({ error: "Exit code 3" }) };
    const { after, next } = await started([{ content: [shell("t1")] }, done], { native });
    const failed = { id: "t1", name: "Bash", input, response: null, error: "Exit code 3" };
    expect((await next()).native).toEqual([{ ...failed, durationMs: 7 }]);
    expect(after).toHaveLength(1);
  });

  test("is told to us before it runs, with the folder that the shell is in", async () => {
    const seen: unknown[] = [];
    const before: NativeHooks["before"] = async (call) => {
      seen.push(call);
      return {};
    };
    const { sdk, next } = await started([{ content: [shell("t1")] }, done], { hooks: { before } });
    await next();
    expect(seen).toEqual([{ id: "t1", name: "Bash", input, cwd: "/work" }]);
    const [{ hooks }] = Object(sdk.options["hooks"]).PreToolUse;
    await hooks[0]({ tool_name: "Bash", tool_use_id: "t9" });
    expect(seen[1]).toEqual({ id: "t9", name: "Bash", input: {}, cwd: undefined });
  });

  test("comes after those of an earlier message", async () => {
    const content = [use("t1", "mcp__wink__add"), shell("t2")];
    const { run, next } = await started([{ content }, { content: [shell("t3")] }, done]);
    await run.answer(answersTo(await next()), silent);
    expect((await next()).native.map(({ id }) => id)).toEqual(["t2", "t3"]);
  });

  test("may be made with another input", async () => {
    const seen: unknown[] = [];
    const native = {
      Bash: async (given: object) => {
        seen.push(given);
        return await bash();
      },
    };
    const before = async ({ id }: ToolUse) => (id === "t1" ? { input: { command: "ls" } } : {});
    const { next } = await started([{ content: [shell("t1"), shell("t2")] }, done], {
      native,
      hooks: { before },
    });
    expect(await next()).toMatchObject({ native: [{ input: { command: "ls" } }, { input }] });
    expect(seen).toEqual([{ command: "ls" }, { command: "echo hi" }]);
  });

  test("is not run where it is denied, which the model reads and the step tells", async () => {
    const before: NativeHooks["before"] = ({ id }) =>
      id === "t1" ? Promise.resolve({ denied: "Not this one." }) : Promise.resolve({});
    const { run, sdk, after, next } = await started(
      [{ content: [shell("t1"), shell("t2")] }, done],
      {
        hooks: { before },
      },
    );
    const error = "PreToolUse:Bash hook error: Not this one.";
    expect((await next()).native).toEqual([
      { id: "t1", name: "Bash", input, response: null, error, durationMs: null },
      { id: "t2", input, ...ran },
    ]);
    expect(after.filter(({ error: problem }) => problem === null).map(({ id }) => id)).toEqual([
      "t2",
    ]);
    await run.answer(new Map(), silent);
    await next();
    expect(sdk.requests[1]?.news[0]).toBe(error);
  });

  test("is not run where it cannot be judged", async () => {
    const before = async () => {
      throw new Error("no such folder");
    };
    const { next } = await started([{ content: [shell("t1")] }, done], { hooks: { before } });
    const error = "PreToolUse:Bash hook error: no such folder";
    expect((await next()).native).toMatchObject([{ id: "t1", error, response: null }]);
  });

  test("that is denied after one of ours is told with the next step", async () => {
    const content = [use("t1", "mcp__wink__add"), shell("t2")];
    const before = async () => ({ denied: "No." });
    const { run, next } = await started([{ content }, done], { hooks: { before } });
    await run.answer(answersTo(await next()), silent);
    expect(await next()).toMatchObject({ native: [{ id: "t2" }], text: "Done." });
  });

  // The SDK asks its own rules after our hook; it then tells of the call only with its batch.
  test("that was begun here and refused by the SDK itself is ended here too", async () => {
    const begun: string[] = [];
    const { after, next } = await started([{ content: [shell("t1")] }, done], {
      native: { Bash: async () => ({ refused: "Permission to use Bash has been denied" }) },
      hooks: {
        before: async ({ id }) => {
          begun.push(id);
          return {};
        },
      },
    });
    expect(await next()).toMatchObject({
      native: [{ id: "t1", error: "Permission to use Bash has been denied", response: null }],
    });
    expect(begun).toEqual(["t1"]);
    expect(after).toMatchObject([{ id: "t1", error: "Permission to use Bash has been denied" }]);
  });

  test("that the SDK does not say why it was not run is told all the same", async () => {
    const { run, sdk, next } = await started([
      { content: [use("t1", "mcp__wink__add")] },
      { content: [use("t2", "mcp__wink__add")] },
      done,
    ]);
    const step = await next();
    const [{ hooks }] = Object(sdk.options["hooks"]).PostToolBatch;
    const call = { tool_name: "Bash", tool_use_id: "t1", tool_input: {}, tool_response: null };
    await hooks[0]({ hook_event_name: "PostToolBatch", tool_calls: [call] });
    await run.answer(answersTo(step), silent);
    expect((await next()).native).toMatchObject([{ id: "t1", error: "It was not run" }]);
  });

  test("that could not be undone ends the run, with what went wrong", async () => {
    const after = async () => {
      throw new Error("The files could not be put back");
    };
    const { next } = await started([{ content: [shell("t1")] }, done], { hooks: { after } });
    await expect(next()).rejects.toThrow("The files could not be put back");
  });
});

test("a tool that is switched off is none of the SDK's own", async () => {
  const { run, sdk, after, next } = await started([{ content: [shell("t1")] }, done], {
    hooks: { isOn: () => false },
  });
  const step = await next();
  expect(step).toMatchObject({ calls: [{ id: "t1", name: "Bash" }], native: [] });
  await run.answer(answersTo(step), silent);
  await next();
  expect(after).toEqual([]);
  expect(sdk.requests[1]?.news.at(-1)).toBe("t1 is done.");
});
