import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  collectWarnings,
  createLoop,
  createTool,
} from "../../../tests/support/fleet/fleet-fixture.ts";
import { EvaluationParkedError } from "../../adapter/approvals/evaluation-parked-error.ts";
import type { TurnRequest } from "../../adapter/model-client.ts";
import { type StreamFeed, streamFeed } from "../../adapter/turn-observer.ts";
import { Budget } from "../../base/budget.ts";
import { BudgetExceededError, DeadlineExceededError } from "../../base/evaluation-errors.ts";
import { definePrompt } from "../../prompt/define-prompt.ts";
import { defineSlice } from "../../session/define-slice.ts";
import { Session } from "../../session/session.ts";
import { JsonlSessionStore } from "../../stores/index.ts";
import type { StreamedExecuteOptions } from "./execute-loop.ts";

const callOnce = ({ turn, answers }: TurnRequest) =>
  turn === 1 ? { toolCalls: [{ name: "act" }] } : { text: `read: ${answers[0]?.text}` };

describe("execute", () => {
  let folder = "";
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "wink-execute-"));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  const openSession = async () => Session.openOrCreate(new JsonlSessionStore(folder), "run");

  test("runs one request, and returns what finalize returns", async () => {
    const loop = createLoop({
      model: { text: "hello" },
      finalize: async (output, { session, response, signal }) =>
        `${output} ${response.text} ${typeof session.id} ${signal.aborted}`,
    });
    expect(await loop.execute({ n: 1 })).toBe("hello hello string false");
    await expect(loop.execute({ n: "1" } as never)).rejects.toThrow("request must match");
  });

  test("passes the parts of responses to the feed of the library", async () => {
    const parts: unknown[] = [];
    const feed: StreamFeed = {
      onPart: (part) => parts.push(part),
      onRestart: () => {},
      backlog: null,
    };
    const options: StreamedExecuteOptions = { [streamFeed]: feed };
    await createLoop({ model: { text: "hello", deltas: ["hel", "lo"] } }).execute(
      { n: 1 },
      options,
    );
    expect(parts).toEqual([
      { type: "text", turn: 1, delta: "hel" },
      { type: "text", turn: 1, delta: "lo" },
    ]);
  });

  test("registers the loop's slices in the session", async () => {
    const turns = defineSlice<number>("turns", {
      initial: 0,
      policy: "log",
      on: { TurnCompleted: (count) => count + 1 },
    });
    const session = new Session();
    await createLoop({ slices: [turns] }).execute({ n: 1 }, { session });
    expect(session.get(turns)).toBe(1);
  });

  test("passes prepare a folder that is named after the session, and removes it at the end", async () => {
    const folders: string[] = [];
    const loop = createLoop({
      prepare: async (_request, context) => {
        folders.push(context.folder);
        expect(context).toMatchObject({ attempt: 1 });
        await mkdir(context.folder);
        await writeFile(join(context.folder, "a.txt"), "a");
        return definePrompt({ name: "task", instructions: "Do it." });
      },
    });
    const session = new Session({ id: "a:b" });
    expect(await loop.execute({ n: 1 }, { session })).toBe("done");
    expect(folders).toEqual([join(tmpdir(), "wink-run-a_b")]);
    expect(existsSync(folders[0] ?? "")).toBe(false);
    const own = join(folder, "own");
    await loop.execute({ n: 1 }, { folder: own });
    expect(await readdir(own)).toEqual(["a.txt"]); // a folder that was passed stays
  });

  test("keeps the folder of a stored session whose run failed, so that it can continue", async () => {
    let isBroken = true;
    const folders: string[] = [];
    const loop = createLoop({
      prepare: async (_request, context) => {
        folders.push(context.folder);
        await mkdir(context.folder, { recursive: true });
        return definePrompt({ name: "task", instructions: "Do it." });
      },
      finalize: (output) => {
        if (isBroken) throw new Error("broken");
        return output;
      },
    });
    await expect(loop.execute({ n: 1 })).rejects.toThrow("broken");
    expect(existsSync(folders[0] ?? "")).toBe(false); // not stored
    const session = await openSession();
    await expect(loop.execute({ n: 1 }, { session })).rejects.toThrow("broken");
    expect(existsSync(folders[1] ?? "")).toBe(true);
    isBroken = false;
    expect(await loop.execute({ n: 1 }, { session })).toBe("done");
    expect(folders[2]).toBe(folders[1]);
    expect(existsSync(folders[1] ?? "")).toBe(false);
    await session.close();
  });

  test("continues a stored session where an earlier process stopped, and sends no turn twice", async () => {
    const turns: number[] = [];
    const fail = new Error("killed");
    let isKilled = true;
    const model = (request: TurnRequest) => {
      turns.push(request.turn);
      if (request.turn === 2 && isKilled) throw fail;
      return callOnce(request);
    };
    const loop = createLoop({ tools: [createTool("act")], model });
    const first = await openSession();
    await expect(loop.execute({ n: 1 }, { session: first })).rejects.toThrow("killed");
    await first.close();
    isKilled = false;
    const second = await openSession();
    expect(await loop.execute({ n: 1 }, { session: second })).toBe("read: act done");
    expect(turns).toEqual([1, 2, 2]);
    expect(await loop.execute({ n: 1 }, { session: second })).toBe("read: act done");
    expect(turns).toEqual([1, 2, 2]); // the answer is stored
    await second.close();
  });

  test("parks with approve, and continues with the decision", async () => {
    const loop = createLoop({
      tools: [createTool("act", () => {}, { needsApproval: true })],
      model: callOnce,
    });
    expect(await loop.execute({ n: 1 })).toMatch(/^read: The call was not made: it needs approval/);
    const session = await openSession();
    const parking = loop.execute({ n: 1 }, { session, approve: async () => "park" });
    const error = await parking.catch((thrown: unknown) => thrown);
    if (!(error instanceof EvaluationParkedError)) throw error;
    const approvals = { [error.approvals[0]?.key ?? ""]: "approve" } as const;
    expect(await loop.execute({ n: 1 }, { session, approvals })).toBe("read: act done");
    await session.close();
  });

  test("asks the loop's approve unless another one is passed", async () => {
    const loop = createLoop({
      tools: [createTool("act", () => {}, { needsApproval: true })],
      model: callOnce,
      approve: async () => "approve",
    });
    expect(await loop.execute({ n: 1 })).toBe("read: act done");
    const denied = await loop.execute({ n: 1 }, { approve: async () => "deny" });
    expect(denied).toMatch(/^read: The call was not made: it was denied/);
  });

  test("stops at the deadline, at the budget, at maxTurns and when its signal aborts", async () => {
    const wait = createTool(
      "act",
      ({ signal }) =>
        new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve())),
    );
    const late = createLoop({ tools: [wait], model: callOnce, limits: { deadlineMs: 50 } });
    await expect(late.execute({ n: 1 })).rejects.toThrow(DeadlineExceededError);
    const expensive = createLoop({
      tools: [createTool("act")],
      model: { toolCalls: [{ name: "act" }], usage: { inputTokens: 60 } },
      limits: { budget: new Budget({ maxTotalTokens: 100 }) },
    });
    await expect(expensive.execute({ n: 1 })).rejects.toThrow(BudgetExceededError);
    const endless = createLoop({
      tools: [createTool("act")],
      model: { toolCalls: [{ name: "act" }] },
      limits: { maxTurns: 2 },
    });
    await expect(endless.execute({ n: 1 })).rejects.toThrow("No answer after 2 turns");
    const reason = new Error("stop");
    const stopped = createLoop().execute({ n: 1 }, { signal: AbortSignal.abort(reason) });
    await expect(stopped).rejects.toThrow();
  });

  test("reports the error of the evaluation, and warns if a section cannot be cleaned up after it", async () => {
    const warnings = collectWarnings();
    const loop = createLoop({
      model: new Error("the model failed"),
      prepare: () => {
        const prompt = definePrompt({ name: "task", instructions: "Do it." });
        prompt.cleanup = async () => {
          throw new Error("busy");
        };
        return prompt;
      },
    });
    await expect(loop.execute({ n: 1 })).rejects.toThrow("the model failed");
    await expect.poll(() => warnings).toEqual(["A section failed to clean up: busy"]);
  });

  test("does not call finalize if its signal aborts while the answer arrives", async () => {
    const stop = new AbortController();
    const loop = createLoop({
      model: () => ({ text: "done" }),
      prepare: () => {
        const prompt = definePrompt({ name: "task", instructions: "Do it." });
        const cleanup = prompt.cleanup.bind(prompt);
        prompt.cleanup = async () => {
          stop.abort(new Error("stop"));
          await cleanup();
        };
        return prompt;
      },
      finalize: () => expect.unreachable(),
    });
    await expect(loop.execute({ n: 1 }, { signal: stop.signal })).rejects.toThrow("stop");
  });
});
