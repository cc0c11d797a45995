import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  collectWarnings,
  createLoop,
  createTool,
  findRun,
  fleetDatabases,
  Gate,
  openTestFleet,
  type TestFleet,
} from "../../../tests/support/fleet/fleet-fixture.ts";
import type { TurnRequest } from "../../adapter/model-client.ts";
import { Budget } from "../../base/budget.ts";
import { PromptRenderError } from "../../base/errors.ts";
import {
  BudgetExceededError,
  DeadlineExceededError,
  PromptEvaluationError,
  ThrottleError,
} from "../../base/evaluation-errors.ts";
import { definePrompt } from "../../prompt/define-prompt.ts";
import { defineSlice } from "../../session/define-slice.ts";
import { scriptedClient } from "../../testing/scripted-client.ts";
import { RunDeadLetteredError } from "../errors/run-dead-lettered-error.ts";

const refusal = { promptName: "agent:task", phase: "request" } as const;
const callTool = { toolCalls: [{ name: "wait" }] };

/** A model that throws the errors one after another, and then answers. */
function failWith(...errors: readonly Error[]) {
  const left = [...errors];
  return () => {
    const error = left.shift();
    if (error) throw error;
    return { text: "done" };
  };
}

describe.each(fleetDatabases)("an attempt on %s", (_name, kind, isAvailable) => {
  describe.runIf(isAvailable)("at a run", () => {
    let scene: TestFleet;
    beforeAll(async () => {
      scene = await openTestFleet(kind);
    });
    afterAll(async () => {
      await scene[Symbol.asyncDispose]();
    });

    test("that fails with an error of the network is repeated after 5 seconds, then 10", async () => {
      const { fleet, work, hurry, query } = scene;
      const createLostError = () =>
        new PromptEvaluationError("Lost.", {
          ...refusal,
          cause: Object.assign(new Error("x"), { status: 503 }),
        });
      const loop = createLoop({ model: failWith(createLostError(), createLostError()) });
      const { stop } = work([loop]);
      const { id } = await fleet.enqueue(loop, { n: 1 });
      for (const [stuck, seconds] of [
        [1, 5],
        [2, 10],
      ] as const) {
        await expect.poll(() => findRun(fleet, id)).toMatchObject({ state: "waiting", stuck });
        expect(await findRun(fleet, id)).toMatchObject({
          ...{ attempt: stuck, worker: null },
          error: { name: "PromptEvaluationError", message: "Lost." },
        });
        const [job] = await query(
          "select extract(epoch from start_after - created_on)::float8 as delay from boss.job where data ->> 'runId' = $1 and state < 'active'",
          [id],
        );
        expect(job?.["delay"]).toBeCloseTo(seconds, 0);
        await hurry();
      }
      expect(await fleet.result(id)).toBe("done");
      expect(await findRun(fleet, id)).toMatchObject({ attempt: 3, stuck: 0 });
      await stop();
    });

    test("that fails too often without a new turn is the last, and result has its error as cause", async () => {
      const { fleet, work, hurry, reach } = scene;
      const loop = createLoop({
        limits: { attempts: 2 },
        prepare: () => {
          throw new TypeError("no template");
        },
      });
      const { stop } = work([loop]);
      const { id } = await fleet.enqueue(loop, { n: 1 });
      await expect.poll(() => findRun(fleet, id)).toMatchObject({ state: "waiting", stuck: 1 });
      await hurry();
      await reach(id, "dead-lettered");
      const error = await fleet.result(id).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(RunDeadLetteredError);
      expect(error).toMatchObject({ runId: id, attempts: 2, cause: new TypeError("no template") });
      await fleet.retry(id);
      await expect.poll(() => findRun(fleet, id)).toMatchObject({ attempt: 3, stuck: 1 });
      await stop();
    });

    test("that has stored a turn does not count", async () => {
      const { fleet, work, hurry } = scene;
      let turns = 0;
      const loop = createLoop({
        limits: { attempts: 1 },
        tools: [createTool("wait")],
        adapter: () =>
          scriptedClient(
            ...Array.from({ length: 20 }, () => ({ turn }: TurnRequest) => {
              turns += 1;
              if (turns % 2 === 0)
                throw new ThrottleError("Slow down.", { ...refusal, kind: "rate_limit" });
              return turn < 4 ? callTool : { text: `turn ${turn}` };
            }),
          ).with({ throttle: { maxAttempts: 1 } }),
      });
      const { stop } = work([loop]);
      const { id } = await fleet.enqueue(loop, { n: 1 });
      for (const attempt of [1, 2, 3]) {
        await expect
          .poll(() => findRun(fleet, id))
          .toMatchObject({ state: "waiting", attempt, stuck: 0 });
        await hurry();
      }
      expect(await fleet.result(id)).toBe("turn 4");
      await stop();
    });

    test("whose worker was lost each time is not repeated after the last, with an error about it", async () => {
      const { fleet, work, query } = scene;
      const loop = createLoop({ limits: { attempts: 3 } });
      const { id } = await fleet.enqueue(loop, { n: 1 });
      await query("update wink.run set stuck = 3, attempt = 3, lost = 3 where id = $1", [id]);
      const { stop } = work([loop]);
      const error = await fleet.result(id).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(RunDeadLetteredError);
      expect(error).toMatchObject({
        attempts: 3,
        cause: {
          message:
            "The workers of 3 attempts in a row were lost before a new turn was stored. Find out what ends them, for example too little memory.",
        },
      });
      await stop();
    });

    test("at a run that was cancelled while no worker had it ends the run", async () => {
      const { fleet, work, query } = scene;
      const loop = createLoop();
      const { id } = await fleet.enqueue(loop, { n: 1 });
      await query("update wink.run set cancel_reason = 'superseded' where id = $1", [id]);
      const { stop } = work([loop]);
      await expect(fleet.result(id)).rejects.toThrow("superseded");
      await stop();
    });

    test("parks the run if the provider asks for a long pause, and its slot is free", async () => {
      const { fleet, work, hurry, reach } = scene;
      const pause = new ThrottleError("Later.", {
        ...refusal,
        kind: "rate_limit",
        retryAfterMs: 120_000,
      });
      const loop = createLoop({ model: failWith(pause) });
      const { worker, stop } = work([loop], { concurrency: 1 });
      const { id } = await fleet.enqueue(loop, { n: 1 });
      const run = await reach(id, "parked");
      expect(run).toMatchObject({ approvals: [], stuck: 0, error: { name: "ThrottleError" } });
      await expect.poll(() => worker.health().running).toBe(0);
      await hurry();
      expect(await fleet.result(id)).toBe("done");
      expect(await findRun(fleet, id)).toMatchObject({ attempt: 2 });
      await stop();
    });

    test("at a parked run that is cancelled before its pause ends never starts", async () => {
      const { fleet, work, hurry, reach } = scene;
      const pause = new ThrottleError("Later.", {
        ...refusal,
        kind: "rate_limit",
        retryAfterMs: 120_000,
      });
      const loop = createLoop({ model: failWith(pause) });
      const { stop } = work([loop]);
      const { id } = await fleet.enqueue(loop, { n: 1 });
      await reach(id, "parked");
      await fleet.cancel(id, "no time");
      await hurry();
      const next = await fleet.enqueue(loop, { n: 2 });
      await fleet.result(next.id);
      expect(await findRun(fleet, id)).toMatchObject({ state: "cancelled", attempt: 1 });
      await stop();
    });

    test("fails at the deadline, which earlier attempts have used up too", async () => {
      const { fleet, work, query } = scene;
      const gate = new Gate();
      const loop = createLoop({
        limits: { deadlineMs: 400 },
        tools: [createTool("wait", ({ signal }) => gate.pass(signal))],
        model: callTool,
      });
      const { stop } = work([loop]);
      const first = await fleet.enqueue(loop, { n: 1 });
      await expect(fleet.result(first.id)).rejects.toThrow(DeadlineExceededError);
      await stop();
      const late = await fleet.enqueue(loop, { n: 2 });
      await query("update wink.run set deadline = now() - interval '1 s' where id = $1", [late.id]);
      const { stop: stopSecond } = work([loop]);
      await expect(fleet.result(late.id)).rejects.toThrow(DeadlineExceededError);
      expect(await findRun(fleet, late.id)).toMatchObject({ state: "failed", attempt: 1 });
      await stopSecond();
    });

    test("fails when the run's tokens are used up, counting the tokens of earlier attempts", async () => {
      const { fleet, work, hurry } = scene;
      let isLost = false;
      const loop = createLoop({
        limits: { budget: new Budget({ maxTotalTokens: 150 }) },
        tools: [createTool("wait")],
        adapter: () =>
          scriptedClient(
            ...Array.from({ length: 10 }, () => ({ turn }: TurnRequest) => {
              if (turn === 2 && !isLost) {
                isLost = true;
                throw new ThrottleError("Slow down.", { ...refusal, kind: "rate_limit" });
              }
              return { ...callTool, usage: { inputTokens: 50, outputTokens: 10 } };
            }),
          ).with({ throttle: { maxAttempts: 1 } }),
      });
      const { stop } = work([loop]);
      const { id } = await fleet.enqueue(loop, { n: 1 });
      await expect.poll(() => findRun(fleet, id)).toMatchObject({ state: "waiting", attempt: 1 });
      expect(await findRun(fleet, id)).toMatchObject({ usage: { totalTokens: 60 } });
      await hurry();
      const error = await fleet.result(id).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(BudgetExceededError);
      expect(error).toMatchObject({ used: 180, limit: 150 });
      expect(await findRun(fleet, id)).toMatchObject({ usage: { totalTokens: 180 } });
      await stop();
    });

    test("is not made for a job of a run that is over or unknown, and the job is settled", async () => {
      const { fleet, work, query } = scene;
      const loop = createLoop();
      const { stop } = work([loop]);
      const { id } = await fleet.enqueue(loop, { n: 1 });
      await fleet.result(id);
      const insert =
        "insert into boss.job (name, data, heartbeat_seconds) values ($1, $2, 10) returning id";
      const stale = [
        await query(insert, [`${loop.name}/1`, { runId: id }]),
        await query(insert, [`${loop.name}/1`, { runId: "no run" }]),
      ].map(([job]) => job?.["id"]);
      const count =
        "select count(*)::int as jobs from boss.job where id = any($1) and state = 'completed'";
      await expect.poll(() => query(count, [stale])).toEqual([{ jobs: 2 }]);
      expect(await findRun(fleet, id)).toMatchObject({ state: "done", attempt: 1 });
      await stop();
    });

    test("ends the run if it should be cancelled when its calls wait for approval", async () => {
      const { fleet, work, query } = scene;
      const gate = new Gate();
      const loop = createLoop({
        tools: [createTool("wait", () => {}, { needsApproval: true })],
        model: async () => {
          await gate.pass();
          return callTool;
        },
      });
      const { stop } = work([loop]);
      const { id } = await fleet.enqueue(loop, { n: 1 });
      await gate.waitFor();
      await query("update wink.run set cancel_reason = 'in time' where id = $1", [id]);
      gate.open();
      await expect(fleet.result(id)).rejects.toThrow("in time");
      await stop();
    });

    test("ends without a warning if the run was deleted meanwhile", async () => {
      const { fleet, work, query } = scene;
      const warnings = collectWarnings();
      const gate = new Gate();
      const loop = createLoop({
        finalize: async (output) => {
          await gate.pass();
          return output;
        },
      });
      const { worker, stop } = work([loop]);
      const { id } = await fleet.enqueue(loop, { n: 1 });
      await gate.waitFor();
      await query("delete from wink.run where id = $1", [id]);
      gate.open();
      await expect.poll(() => worker.health().running).toBe(0);
      await stop();
      expect(warnings).toEqual([]);
    });

    test("rebuilds the class of the error in result, with its fields and causes", async () => {
      const { fleet, work } = scene;
      const cause = new PromptRenderError("rules.style", "has no text");
      const failure = new PromptEvaluationError("Refused.", {
        ...refusal,
        requestId: "req_1",
        cause,
      });
      const loop = createLoop({ model: failure });
      const { stop } = work([loop]);
      const { id } = await fleet.enqueue(loop, { n: 1 });
      const error = await fleet.result(id).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(PromptEvaluationError);
      expect(error).toMatchObject({ message: "Refused.", requestId: "req_1", phase: "request" });
      expect((error as Error).cause).toBeInstanceOf(PromptRenderError);
      await stop();
    });

    test("has the slices of its loop, its folder and its number, and passes them to prepare and finalize", async () => {
      const { fleet, work, hurry } = scene;
      const starts = defineSlice<number>("starts", {
        initial: 0,
        policy: "log",
        on: { EvaluationStarted: (count) => count + 1 },
      });
      const seen: unknown[] = [];
      const loop = createLoop({
        slices: [starts],
        prepare: (_request, { session, folder, attempt, signal }) => {
          seen.push([attempt, folder.includes(session.id), signal.aborted, session.tags]);
          if (attempt === 1) throw new Error("try again");
          return definePrompt({ name: "task", instructions: "Do it." });
        },
        finalize: (output, { session, response, signal }) =>
          JSON.stringify([output, session.get(starts), response.text, signal.aborted]),
      });
      const { stop } = work([loop]);
      const { id } = await fleet.enqueue(loop, { n: 1 });
      await expect.poll(() => findRun(fleet, id)).toMatchObject({ state: "waiting", attempt: 1 });
      await hurry();
      expect(await fleet.result(id)).toBe(JSON.stringify(["done", 1, "done", false]));
      const tags = { loop: loop.name, version: "1" };
      expect(seen).toEqual([
        [1, true, false, tags],
        [2, true, false, tags],
      ]);
      await stop();
    });
  });
});
