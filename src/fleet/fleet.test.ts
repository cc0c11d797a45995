import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  collectWarnings,
  createLoop,
  createTool,
  findRun,
  fleetDatabases,
  Gate,
  listRuns,
  openTestFleet,
  type TestFleet,
} from "../../tests/support/fleet/fleet-fixture.ts";
import type { TurnRequest } from "../adapter/model-client.ts";
import { InvalidOptionError } from "../base/errors.ts";
import { RunCancelledError } from "./errors/run-cancelled-error.ts";
import { RunNotFoundError } from "./errors/run-not-found-error.ts";
import { FleetError } from "./fleet-error.ts";

const NO_RUN = "00000000-0000-4000-8000-000000000000";

/** Calls the tool `wait` once, then answers. */
const callOnce = ({ turn }: TurnRequest) =>
  turn === 1 ? { toolCalls: [{ name: "wait" }] } : { text: "done" };

/** A loop whose first turn waits for a gate, until its signal aborts. */
function createWaitingLoop() {
  const gate = new Gate();
  const reasons: unknown[] = [];
  const wait = createTool("wait", async ({ signal }) => {
    signal.addEventListener("abort", () => reasons.push(signal.reason));
    await gate.pass(signal);
  });
  return { gate, reasons, loop: createLoop({ tools: [wait], model: callOnce }) };
}

describe.each(fleetDatabases)("a fleet on %s", (_name, kind, isAvailable) => {
  describe.runIf(isAvailable)("with its runs", () => {
    let scene: TestFleet;
    beforeAll(async () => {
      scene = await openTestFleet(kind);
    });
    afterAll(async () => {
      await scene[Symbol.asyncDispose]();
    });

    test.each([NO_RUN, "not a run", ""])("does not have the run %j", async (id) => {
      const { fleet } = scene;
      expect(await fleet.find(id)).toBeNull();
      const missing = new RunNotFoundError(id);
      await expect(fleet.result(id)).rejects.toThrow(missing);
      await expect(fleet.cancel(id)).rejects.toThrow(missing);
      await expect(fleet.retry(id)).rejects.toThrow(missing);
      await expect(fleet.approve(id, "k", "approve")).rejects.toThrow(missing);
      await expect(fleet.follow(id).next()).rejects.toThrow(missing);
    });

    test("a run that waits is cancelled at once, and no worker takes it", async () => {
      const { fleet, work, query } = scene;
      const loop = createLoop();
      const { id } = await fleet.enqueue(loop, { n: 1 });
      await fleet.cancel(id, "superseded");
      await fleet.cancel(id, "again"); // does nothing
      expect(await findRun(fleet, id)).toMatchObject({
        ...{ state: "cancelled", cancelReason: "superseded", attempt: 0 },
        endedAt: expect.stringMatching(/^20.*Z$/),
      });
      await expect(fleet.result(id)).rejects.toThrow(new RunCancelledError(id, "superseded"));
      expect(await query("select 1 from boss.job where data ->> 'runId' = $1", [id])).toEqual([]);
      const { stop } = work([loop]);
      const next = await fleet.enqueue(loop, { n: 2 });
      await fleet.result(next.id);
      expect(await findRun(fleet, id)).toMatchObject({ state: "cancelled", attempt: 0 });
      await stop();
    });

    test("a run that runs is aborted by its worker, and its handler sees the signal", async () => {
      const { fleet, work } = scene;
      const { gate, reasons, loop } = createWaitingLoop();
      const { stop } = work([loop]);
      const { id } = await fleet.enqueue(loop, { n: 1 });
      await gate.waitFor();
      await fleet.cancel(id);
      await expect(fleet.result(id)).rejects.toThrow(
        new RunCancelledError(id, "no reason was given"),
      );
      const cause = new FleetError("The run was cancelled: no reason was given.");
      expect(reasons).toEqual([cause]);
      await stop();
    });

    test("a run that ends although it should be cancelled is done, and was not cancelled", async () => {
      const { fleet, work } = scene;
      const gate = new Gate();
      const loop = createLoop({
        finalize: async (output) => {
          await gate.pass();
          return output;
        },
      });
      const { stop } = work([loop]);
      const { id } = await fleet.enqueue(loop, { n: 1 });
      await gate.waitFor();
      await fleet.cancel(id, "too late");
      gate.open();
      expect(await fleet.result(id)).toBe("done");
      expect(await findRun(fleet, id)).toMatchObject({ state: "done", cancelReason: null });
      await fleet.cancel(id, "much too late"); // does nothing
      expect(await fleet.result(id)).toBe("done");
      await stop();
    });

    test("a failed or cancelled run starts again with retry, continues, and gets a new deadline", async () => {
      const { fleet, work, query } = scene;
      const answers = [new InvalidOptionError({ field: "f", value: 1, rule: "r", remedy: "m" })];
      const loop = createLoop({
        finalize: (output) => {
          const error = answers.pop();
          if (error) throw error;
          return output;
        },
        limits: { deadlineMs: 60_000 },
      });
      const { stop } = work([loop]);
      const { id } = await fleet.enqueue(loop, { n: 1 });
      await expect(fleet.result(id)).rejects.toThrow(InvalidOptionError);
      expect(await findRun(fleet, id)).toMatchObject({
        ...{ state: "failed", error: { name: "InvalidOptionError" } },
      });
      await query("update wink.run set deadline = now() - interval '1 minute' where id = $1", [id]);
      await fleet.retry(id);
      expect(await fleet.result(id)).toBe("done");
      const run = await findRun(fleet, id);
      expect(run).toMatchObject({ state: "done", attempt: 2 });
      expect(Date.parse(run.deadline ?? "")).toBeGreaterThan(Date.now());
      await expect(fleet.retry(id)).rejects.toThrow(
        new FleetError(`Run ${id} is done. Enqueue the request again for another result.`),
      );
      await stop();
    });

    test("retry does nothing while a run waits or runs, and two at once create one attempt", async () => {
      const { fleet, work } = scene;
      const { gate, loop } = createWaitingLoop();
      const { id } = await fleet.enqueue(loop, { n: 1 });
      await fleet.retry(id);
      await fleet.cancel(id);
      await Promise.all([fleet.retry(id), fleet.retry(id), fleet.retry(id)]);
      const { stop } = work([loop]);
      await gate.waitFor();
      await fleet.retry(id);
      gate.open();
      expect(await fleet.result(id)).toBe("done");
      expect(await findRun(fleet, id)).toMatchObject({ attempt: 1, cancelReason: null });
      await stop();
    });

    test("cancel and retry at the same time leave one run that ends", async () => {
      const { fleet, work } = scene;
      const loop = createLoop();
      const runs = await Promise.all(
        Array.from({ length: 10 }, (_, n) => fleet.enqueue(loop, { n })),
      );
      const { stop } = work([loop], { concurrency: 3 });
      await Promise.all(
        runs.flatMap(({ id }) => [
          fleet.cancel(id).then(() => fleet.retry(id).catch(ignoreDone)),
          fleet.retry(id).catch(ignoreDone),
        ]),
      );
      const results = await Promise.all(runs.map(({ id }) => fleet.result(id)));
      expect(results).toEqual(Array(10).fill("done"));
      await stop();
    });

    test("runs are listed the newest first, by filter, over several pages", async () => {
      const { fleet, query } = scene;
      const [many, one] = [createLoop(), createLoop()];
      const first = await fleet.enqueue(many, { n: 0 }, { key: "first", group: "g" });
      await query(
        `insert into wink.run (id, loop, version, request) select gen_random_uuid(), $1, '1', '{}'
         from generate_series(1, 230)`,
        [many.name],
      );
      const { id } = await fleet.enqueue(one, { n: 1 }, { group: "g" });
      const listed = await listRuns(fleet, { loop: many.name });
      expect(new Set(listed.map((run) => run.id)).size).toBe(231);
      expect(listed.at(-1)).toMatchObject({ id: first.id, key: "first", request: { n: 0 } });
      const ids = async (filter: object) => (await listRuns(fleet, filter)).map((run) => run.id);
      expect(await ids({ group: "g" })).toEqual([id, first.id]);
      expect(await ids({ group: "g", loop: many.name, state: "waiting" })).toEqual([first.id]);
      expect(await ids({ key: "first", loop: many.name })).toEqual([first.id]);
      expect(await ids({ state: "done", loop: many.name })).toEqual([]);
      await expect(listRuns(fleet, { state: "lost" as never })).rejects.toThrow(
        /^Fleet\.runs\(state\) must be one of "waiting", .*, got "lost"\. Omit it for all runs\.$/,
      );
    });

    test("a run whose row another program has damaged can still be read", async () => {
      const { fleet, query } = scene;
      const { id } = await fleet.enqueue(createLoop(), { n: 1 });
      for (const [approvals, decisions, failure] of [
        ['{"key":"k"}', "[]", "no JSON"],
        ['[1,{"key":"k"}]', '{"a":"maybe","b":"deny"}', "[1]"],
      ]) {
        await query(
          "update wink.run set approvals = $2, decisions = $3, failure = $4, request = 'no JSON' where id = $1",
          [id, approvals, decisions, failure],
        );
        const run = await findRun(fleet, id);
        expect(run).toMatchObject({ request: null, error: null, state: "waiting" });
        expect(run.approvals).toEqual(approvals?.startsWith("[") ? [{ key: "k" }] : []);
      }
    });

    test("follow yields the events of a run as they are stored, and ends with it", async () => {
      const { fleet, work } = scene;
      const { gate, loop } = createWaitingLoop();
      const { id } = await fleet.enqueue(loop, { n: 1 });
      const types: string[] = [];
      const positions: number[] = [];
      const following = (async () => {
        for await (const { type, position } of fleet.follow(id)) {
          types.push(type);
          positions.push(position);
        }
      })();
      const { stop } = work([loop]);
      await gate.waitFor();
      await expect.poll(() => types).toContain("TurnCompleted"); // while the run runs
      gate.open();
      await following;
      expect(types.at(-1)).toBe("PromptExecuted");
      expect(types).toContain("ToolInvoked");
      expect(positions).toEqual(positions.toSorted((a, b) => a - b));
      const from = (positions.at(-1) ?? 0) - 1;
      const late: number[] = [];
      for await (const { position } of fleet.follow(id, { from })) late.push(position);
      expect(late).toEqual(positions.filter((position) => position >= from));
      for await (const event of fleet.follow(id, { from: 1_000 })) expect(event).toBe(null);
      await stop();
    });

    test.each([-1, 0.5, Number.NaN, "1"])("follow refuses the position %j", (from) => {
      expect(() => scene.fleet.follow(NO_RUN, { from: from as number })).toThrow(
        "Fleet.follow(from) must be the number of a record",
      );
    });

    test("result and follow end with the reason of their signal", async () => {
      const { fleet } = scene;
      const { id } = await fleet.enqueue(createLoop(), { n: 1 });
      const stop = new AbortController();
      const reason = new Error("enough");
      const result = expect(fleet.result(id, { signal: stop.signal })).rejects.toBe(reason);
      const next = expect(fleet.follow(id, { signal: stop.signal }).next()).rejects.toBe(reason);
      stop.abort(reason);
      await Promise.all([result, next]);
      await expect(fleet.result(id, { signal: stop.signal })).rejects.toBe(reason);
      await expect(fleet.follow(id, { signal: stop.signal }).next()).rejects.toBe(reason);
    });

    test("many waits for one run all end with it, without a warning", async () => {
      const { fleet, work } = scene;
      const warnings = collectWarnings();
      const loop = createLoop();
      const { id } = await fleet.enqueue(loop, { n: 1 });
      const waits = Array.from({ length: 20 }, () => fleet.result(id));
      const { stop } = work([loop]);
      expect(await Promise.all(waits)).toEqual(Array(20).fill("done"));
      await stop();
      expect(warnings).toEqual([]);
    });
  });
});

function ignoreDone(error: unknown): void {
  if (!(error instanceof FleetError && error.message.includes("is done"))) throw error;
}
