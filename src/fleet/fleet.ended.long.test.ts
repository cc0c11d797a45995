import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createLoop, openTestFleet } from "../../tests/support/fleet/fleet-fixture.ts";
import { Tool, ToolResult } from "../index.ts";
import { openFolderDatabase } from "./database/folder-database.ts";
import { Dispatch } from "./dispatch.ts";
import { Fleet } from "./fleet.ts";

/** A loop whose only tool waits until its signal aborts, and keeps the signal's reason. */
function createWaitingLoop() {
  const reasons: unknown[] = [];
  let started = 0;
  const wait = new Tool({
    name: "wait",
    description: "Waits.",
    params: null,
    effects: "none",
    handler: async (_params, { signal }) => {
      started += 1;
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      reasons.push(signal.reason);
      return ToolResult.ok(null);
    },
  });
  const loop = createLoop({
    tools: [wait],
    model: () => ({ toolCalls: [{ name: "wait", arguments: {} }] }),
  });
  return { loop, reasons, countStarted: () => started };
}

describe("A run", () => {
  test("that is canceled aborts its call with the reason", async () => {
    await using opened = await openTestFleet("folder");
    const { loop, reasons, countStarted } = createWaitingLoop();
    const { id } = await opened.fleet.enqueue(loop, { n: 1 });
    opened.work([loop]);
    await expect.poll(countStarted, { timeout: 20_000 }).toBe(1);
    await opened.fleet.cancel(id, "superseded");
    await expect(opened.fleet.result(id)).rejects.toThrow("superseded");
    expect(reasons).toMatchObject([{ message: "The run was cancelled: superseded." }]);
  });

  test("whose worker stops is aborted before graceMs ends, and given back", async () => {
    await using opened = await openTestFleet("folder");
    const { loop, reasons, countStarted } = createWaitingLoop();
    const { id } = await opened.fleet.enqueue(loop, { n: 1 });
    const { stop } = opened.work([loop], { graceMs: 2_000 });
    await expect.poll(countStarted, { timeout: 20_000 }).toBe(1);
    await stop();
    expect(reasons).toMatchObject([{ message: "The worker stops." }]);
    await expect.poll(async () => (await opened.fleet.find(id))?.state).toBe("waiting");
  });

  test("whose job the queue has given to another attempt is aborted", async () => {
    await using opened = await openTestFleet("folder");
    const { loop, reasons, countStarted } = createWaitingLoop();
    await opened.fleet.enqueue(loop, { n: 1 });
    opened.work([loop]);
    await expect.poll(countStarted, { timeout: 20_000 }).toBe(1);
    const { schema } = opened.options;
    const retry = `update "${schema}_pgboss".job set retry_count = retry_count + 1 where state = 'active'`;
    await opened.query(retry);
    await expect
      .poll(() => reasons, { timeout: 20_000 })
      .toMatchObject([{ message: "The run was taken over by another attempt." }]);
  });

  test("that fails too often without a new turn is dead-lettered with its last error", async () => {
    await using opened = await openTestFleet("folder");
    const prepare = () => {
      throw new Error("broken");
    };
    const loop = createLoop({ prepare, limits: { attempts: 1 } });
    const { id } = await opened.fleet.enqueue(loop, { n: 1 });
    opened.work([loop]);
    await expect(opened.fleet.result(id)).rejects.toMatchObject({
      message: `The run "${id}" was dead-lettered after 1 attempts without a new turn. Fix the cause, and call fleet.retry. The last error: broken`,
      cause: { message: "broken" },
    });
  });

  test("whose workers are lost too often without a new turn is dead-lettered", async () => {
    await using opened = await openTestFleet("folder");
    const loop = createLoop({ limits: { attempts: 3 } });
    const { id } = await opened.fleet.enqueue(loop, { n: 1 });
    await opened.query("update wink.run set stuck = 3, attempt = 3");
    opened.work([loop]);
    await expect(opened.fleet.result(id)).rejects.toMatchObject({
      name: "RunDeadLetteredError",
      cause: {
        message:
          "The workers of 3 attempts in a row were lost before a new turn was stored. Find out what ends them, for example too little memory.",
      },
    });
  });
});

test("A worker skips a schedule whose request was changed by another program, with a warning", async () => {
  await using opened = await openTestFleet("folder");
  const loop = createLoop();
  const warnings: string[] = [];
  const onWarning = (warning: Error) => warnings.push(warning.message);
  process.on("warning", onWarning);
  onTestFinished(() => void process.off("warning", onWarning));
  await opened.fleet.schedule(loop, "0 3 * * *", { n: 1 });
  await opened.query(
    `insert into "${opened.options.schema}_pgboss".job (name, data)
       values ('_schedules', '{"cron":"* * * * *","timezone":"UTC"}')`,
  );
  opened.work([loop]);
  await expect
    .poll(() => warnings, { timeout: 20_000 })
    .toContain("A schedule was skipped: Its request is damaged. Schedule it again.");
});

test("The queue refuses a job whose id it has", async () => {
  const folder = await mkdtemp(join(tmpdir(), "wink-queue-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await using database = await openFolderDatabase(folder);
  const dispatch = await Dispatch.open(database, "wink_pgboss");
  await dispatch.ensureQueue("review/1");
  const id = crypto.randomUUID();
  const job = { queue: "review/1", id, runId: id, priority: 0, group: null, startAfter: null };
  const send = () => database.transact((sql) => dispatch.send(sql, job));
  await send();
  await expect(send()).rejects.toThrow(`The queue refused the job of run ${id}.`);
  await dispatch.close();
});

test("Fleet.enqueue() throws FleetFullError above maxWaiting, and not for a known key", async () => {
  await using opened = await openTestFleet("folder", { maxWaiting: 2 });
  const loop = createLoop({ name: "count" });
  for (const n of [1, 2]) await opened.fleet.enqueue(loop, { n }, { key: `${n}` });
  await expect(opened.fleet.enqueue(loop, { n: 3 })).rejects.toMatchObject({
    name: "FleetFullError",
    message: expect.stringContaining("has 2 waiting runs, and maxWaiting is 2"),
  });
  expect(await opened.fleet.enqueue(loop, { n: 1 }, { key: "1" })).toMatchObject({ isNew: false });
});

test("Fleet.open() refuses tables of a newer release", async () => {
  const opened = await openTestFleet("folder");
  await opened.query("insert into wink.fleet_migration (version) values (9999)");
  await opened.fleet.close();
  await expect(Fleet.open(opened.options)).rejects.toThrow(
    /^A newer release has changed the fleet's tables in the schema ".*" \(version 9999\)\. Update/,
  );
  await opened[Symbol.asyncDispose]();
});

test("Fleet.enqueue() says that a run could not be stored", async () => {
  await using opened = await openTestFleet("folder");
  await opened.query(
    "create function wink.skip() returns trigger language plpgsql as 'begin return null; end'",
  );
  await opened.query(
    "create trigger skip before insert on wink.run for each row execute function wink.skip()",
  );
  await expect(opened.fleet.enqueue(createLoop(), { n: 1 })).rejects.toThrow(
    /^Run \S+ could not be stored\. Enqueue it again\.$/,
  );
});
