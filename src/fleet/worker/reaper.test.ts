import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  collectWarnings,
  createLoop,
  createTool,
  findRun,
  Gate,
  openTestFleet,
  type TestFleet,
} from "../../../tests/support/fleet/fleet-fixture.ts";
import type { TurnRequest } from "../../adapter/model-client.ts";
import { definePrompt } from "../../prompt/define-prompt.ts";
import { defineSlice } from "../../session/define-slice.ts";
import { scriptedClient } from "../../testing/scripted-client.ts";
import type { ToolContext } from "../../tools/tool-context.ts";
import { RunDeadLetteredError } from "../errors/run-dead-lettered-error.ts";
import { Fleet } from "../fleet.ts";
import { FleetError } from "../fleet-error.ts";

const callOnce = ({ turn }: TurnRequest) =>
  turn === 1 ? { toolCalls: [{ name: "wait" }] } : { text: "done" };

describe.runIf(process.env["WINK_POSTGRES"] !== undefined)("workers on PostgreSQL", () => {
  let scene: TestFleet;
  beforeAll(async () => {
    scene = await openTestFleet("postgres");
  });
  afterAll(async () => {
    await scene[Symbol.asyncDispose]();
  });

  /** Returns the connection that holds a worker's lock. */
  const findLock = async (worker: number | null) =>
    await scene.query(
      `select pid from pg_locks where locktype = 'advisory' and objsubid = 2 and objid = $1
         and classid::bigint = (hashtext($2)::bigint & 4294967295)`,
      [worker, `weakincentives ${scene.options.schema} worker`],
    );

  /** Makes the worker of a run one whose process was killed: no connection holds its lock. Returns its number. */
  const loseWorker = async (runId: string) => {
    const [row] = await scene.query(
      `insert into wink.worker (host, pid, loops, concurrency, has_presence) values ('h', 1, 'l', 1, true) returning id`,
    );
    await scene.query("update wink.run set worker = $2 where id = $1", [runId, row?.["id"]]);
    return row?.["id"];
  };

  test("continue the run of a worker whose process is gone, and its attempt is stopped", async () => {
    const { fleet, work, query } = scene;
    const gate = new Gate();
    const reasons: unknown[] = [];
    const wait = createTool("wait", async ({ signal }) => {
      if (gate.arrived > 0) return; // the next attempt
      await gate.pass(signal).catch((error: unknown) => {
        reasons.push(error);
        throw error;
      });
    });
    const loop = createLoop({ tools: [wait], model: callOnce });
    const { worker: lost, stop } = work([loop], { concurrency: 1 });
    const { id } = await fleet.enqueue(loop, { n: 1 });
    await gate.waitFor();
    const number = await loseWorker(id);
    const { stop: stopSecond } = work([loop]);
    expect(await fleet.result(id)).toBe("done");
    expect(await findRun(fleet, id)).toMatchObject({ attempt: 2, lost: 1 });
    await expect
      .poll(() => reasons)
      .toEqual([new FleetError("The run was taken over by another attempt.")]);
    await expect.poll(() => lost.health().running).toBe(0);
    const gone = await query("select gone_at from wink.worker where id = $1", [number]);
    expect(gone[0]?.["gone_at"]).not.toBeNull();
    await stop();
    await stopSecond();
  });

  test("take their lock again after its connection was lost, and keep their runs", async () => {
    const { fleet, work, query } = scene;
    const gate = new Gate();
    const loop = createLoop({
      tools: [createTool("wait", () => gate.pass())],
      model: callOnce,
    });
    const { worker, stop } = work([loop]);
    const { stop: stopSecond } = work([createLoop()]); // looks for lost workers
    const { id } = await fleet.enqueue(loop, { n: 1 });
    await gate.waitFor();
    const number = worker.health().id;
    const [before] = await findLock(number);
    await query("select pg_terminate_backend($1)", [before?.["pid"]]);
    await expect
      .poll(async () => (await findLock(number))[0]?.["pid"] ?? before?.["pid"])
      .not.toBe(before?.["pid"]);
    gate.open();
    expect(await fleet.result(id)).toBe("done");
    expect(await findRun(fleet, id)).toMatchObject({ attempt: 1, lost: 0 });
    expect(worker.health().id).toBe(number);
    await stop();
    expect(await findLock(number)).toEqual([]);
    await stopSecond();
  });

  test("do not take the turns of an evaluation within a call for progress", async () => {
    const { fleet, work } = scene;
    const gate = new Gate();
    const turns = defineSlice<number>("turns", {
      initial: 0,
      policy: "log",
      on: { TurnCompleted: (count) => count + 1 }, // so that the turns of the call are stored too
    });
    const think = async ({ session, signal }: ToolContext) => {
      const inner = definePrompt({ name: "inner", instructions: "Think." });
      await scriptedClient({ text: "inner" }).evaluate(inner, { session, input: "q" });
      await gate.pass(signal);
    };
    const wait = createTool("wait", think, { effects: "idempotent" }); // runs again
    const loop = createLoop({
      ...{ tools: [wait], model: callOnce, slices: [turns], limits: { attempts: 2 } },
    });
    const { id } = await fleet.enqueue(loop, { n: 1 });
    const { stop } = work([loop]);
    for (const [attempt, stuck] of [
      [1, 1],
      [2, 1],
      [3, 2],
    ] as const) {
      await gate.waitFor(attempt);
      expect(await findRun(fleet, id)).toMatchObject({ attempt, stuck });
      await loseWorker(id);
      await expect.poll(async () => (await findRun(fleet, id)).lost).toBe(attempt);
    }
    await expect(fleet.result(id)).rejects.toThrow(RunDeadLetteredError);
    await stop();
  });

  test("of two processes never run one run at once, and each run ends once", async () => {
    const { fleet, options, work } = scene;
    const running = new Set<string>();
    const ended: string[] = [];
    const loop = createLoop({
      tools: [createTool("wait")],
      model: callOnce,
      finalize: async (output, { session }) => {
        expect(running.has(session.id)).toBe(false);
        running.add(session.id);
        await new Promise(setImmediate);
        running.delete(session.id);
        ended.push(session.id);
        return output;
      },
    });
    await using other = await Fleet.open(options);
    const stopOther = new AbortController();
    const working = other
      .worker([loop], { concurrency: 3, graceMs: 5_000 })
      .run({ signal: stopOther.signal });
    const { stop } = work([loop], { concurrency: 3 });
    const runs = await Promise.all(
      Array.from({ length: 24 }, (_, n) => (n % 2 ? fleet : other).enqueue(loop, { n })),
    );
    const results = await Promise.all(runs.map(({ id }) => fleet.result(id)));
    expect(results).toEqual(Array(24).fill("done"));
    expect(ended.toSorted()).toEqual(runs.map(({ id }) => id).toSorted());
    stopOther.abort();
    await Promise.all([working, stop()]);
  });

  test("find messages again after the connection for them was lost", async () => {
    const { fleet, work, query } = scene;
    const warnings = collectWarnings();
    const loop = createLoop();
    const { stop } = work([loop]);
    const first = await fleet.enqueue(loop, { n: 1 });
    await fleet.result(first.id);
    const listening =
      "select pid from pg_stat_activity where query like $1 and pid <> pg_backend_pid()";
    const pids = await query(listening, [`listen "${scene.options.schema}_fleet"%`]);
    expect(pids).toHaveLength(1);
    await query("select pg_terminate_backend($1)", [pids[0]?.["pid"]]);
    await expect
      .poll(async () => await query(listening, [`listen "${scene.options.schema}_fleet"%`]))
      .not.toEqual(pids);
    const second = await fleet.enqueue(loop, { n: 2 });
    expect(await fleet.result(second.id)).toBe("done");
    expect(warnings).toEqual([]);
    await stop();
  });
});
