import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createLoop,
  openTestFleet,
  type TestFleet,
} from "../../tests/support/fleet/fleet-fixture.ts";
import { Fleet } from "./fleet.ts";

const NO_RUN = "00000000-0000-4000-8000-000000000000";

describe("Fleet.open()", () => {
  const open = (options: object) => Fleet.open(Object(options));

  test("refuses options without a folder and without PostgreSQL", async () => {
    await expect(open({})).rejects.toThrow("Fleet.open(folder) must be set, or postgres");
  });

  test("refuses both a folder and PostgreSQL", async () => {
    const options = { folder: "fleet", postgres: "postgres://wink:word-1@host/db" };
    await expect(open(options)).rejects.toThrow(
      "Fleet.open(folder) must be omitted if postgres is set",
    );
  });

  test.each(["folder", "filesFolder"])("refuses a %s that is not a path", async (name) => {
    for (const value of ["", 7]) {
      await expect(open({ [name]: value })).rejects.toThrow(
        `Fleet.open(${name}) must be the path of a folder`,
      );
    }
  });

  test("refuses direct without PostgreSQL, and does not print it", async () => {
    const opened = open({ folder: "fleet", direct: "postgres://wink:word-1@host/db" });
    const error: Error = await opened.then(
      () => new Error("opened"),
      (reason) => reason,
    );
    expect(error.message).toContain("Fleet.open(direct) must be omitted without postgres");
    expect(error.message).not.toContain("word-1");
  });

  test.each(["maxWaiting", "keepDoneDays"])(
    "refuses a %s that is not a positive integer",
    async (name) => {
      for (const value of [0, -1, 0.5, "7"]) {
        await expect(open({ folder: "fleet", [name]: value })).rejects.toThrow(
          `Fleet.open(${name}) must be a positive integer`,
        );
      }
    },
  );
});

describe("A fleet", () => {
  let opened: TestFleet;
  const loop = createLoop({ name: "count" });
  beforeAll(async () => {
    opened = await openTestFleet("folder");
  }, 60_000);
  afterAll(() => opened[Symbol.asyncDispose]());
  const enqueue = (options: object) => opened.fleet.enqueue(loop, { n: 1 }, Object(options));

  test.each(["key", "group"])("refuses a %s that is not a short text", async (name) => {
    for (const value of ["", "x".repeat(201), "a\0b", 7]) {
      await expect(enqueue({ [name]: value })).rejects.toThrow(
        `Fleet.enqueue(${name}) must be 1-200 characters without NUL`,
      );
    }
  });

  test.each([1.5, 2 ** 31, "5"])("refuses the priority %j", async (priority) => {
    await expect(enqueue({ priority })).rejects.toThrow(
      "Fleet.enqueue(priority) must be an integer of 32 bits",
    );
  });

  test.each(["2030-01-01", new Date(Number.NaN)])("refuses to wait until %o", async (notBefore) => {
    await expect(enqueue({ notBefore })).rejects.toThrow(
      "Fleet.enqueue(notBefore) must be a valid Date",
    );
  });

  test("refuses to enqueue in something that is not a client", async () => {
    await expect(enqueue({ in: {} })).rejects.toThrow(
      "Fleet.enqueue(in) must be an object with query()",
    );
  });

  test("refuses to enqueue in a transaction before the queue exists, in a folder", async () => {
    const other = createLoop({ name: "unregistered" });
    const work = opened.fleet.transact((sql) => opened.fleet.enqueue(other, { n: 1 }, { in: sql }));
    await expect(work).rejects.toThrow(
      'The queue of the loop "unregistered" does not exist yet. Call fleet.register(loop) before the transaction.',
    );
  });

  test.each(["", "a b", "x".repeat(101), 7])("refuses the schedule name %j", async (name) => {
    const options = Object({ name });
    await expect(opened.fleet.schedule(loop, "* * * * *", { n: 1 }, options)).rejects.toThrow(
      "Fleet.schedule(name) must be 1-100 letters, digits, _ . and -",
    );
  });

  test.each([
    ["every day", "UTC"],
    ["0 3 * * *", "Europe/Nowhere"],
  ])("refuses the cron expression %j in the time zone %j", async (cron, tz) => {
    await expect(opened.fleet.schedule(loop, cron, { n: 1 }, { tz })).rejects.toThrow(
      "Fleet.schedule(cron) must be a cron expression and a time zone",
    );
  });

  test("refuses to list runs of a state that does not exist", async () => {
    const runs = opened.fleet.runs(Object({ state: "lost" }));
    await expect(runs.next()).rejects.toThrow("Fleet.runs(state) must be one of");
  });

  test("refuses a decision other than approve and deny", async () => {
    await expect(opened.fleet.approve(NO_RUN, "key", "yes" as never)).rejects.toThrow(
      'Fleet.approve(decision) must be "approve" or "deny"',
    );
  });

  test("refuses to decide about a call for which the run does not wait", async () => {
    const { id } = await opened.fleet.enqueue(loop, { n: 1 });
    await expect(opened.fleet.approve(id, "key", "approve")).rejects.toThrow(
      `Run ${id} is waiting and does not wait for the approval of "key". Use a key of its approvals.`,
    );
    await opened.fleet.cancel(id);
  });

  test.each([[[]], [undefined], ["review"]])("refuses the loops %j for a worker", (loops) => {
    expect(() => opened.fleet.worker(Object(loops))).toThrow(
      "Fleet.worker(loops) must be a list of at least one AgentLoop",
    );
  });

  test("refuses loops of a worker that are not AgentLoops", () => {
    expect(() => opened.fleet.worker([{ name: "review" } as never])).toThrow(
      "Fleet.worker(loops) must be AgentLoops",
    );
  });

  test("refuses two loops with the same name and version for a worker", () => {
    expect(() => opened.fleet.worker([loop, createLoop({ name: "count" })])).toThrow(
      "Fleet.worker(loops) must not have the same name and version twice",
    );
  });

  test.each(["concurrency", "perGroup", "graceMs"])(
    "refuses a worker's %s that is not a positive integer",
    (name) => {
      for (const value of [0, 1.5, "4"]) {
        expect(() => opened.fleet.worker([loop], { [name]: value })).toThrow(
          new RegExp(`^Fleet\\.worker\\(${name}\\) must be an? `),
        );
      }
    },
  );

  test("says that a run does not exist", async () => {
    const { fleet } = opened;
    const calls = [
      () => fleet.result(NO_RUN),
      () => fleet.cancel("not a run"),
      () => fleet.retry(NO_RUN),
      () => fleet.follow(NO_RUN).next(),
    ];
    for (const call of calls) {
      await expect(call()).rejects.toThrow(
        /^The fleet has no run ".*"\. Check the id, the database/,
      );
    }
  });

  test("starts no worker twice, and no run again that is done", async () => {
    const { fleet } = opened;
    const { id } = await fleet.enqueue(loop, { n: 2 });
    const { worker, stop } = opened.work([loop]);
    expect(await fleet.result(id)).toBe("done");
    await expect(worker.run()).rejects.toThrow("The worker is running. Create another one.");
    await stop();
    await expect(fleet.retry(id)).rejects.toThrow(
      `Run ${id} is done. Enqueue the request again for another result.`,
    );
  });

  test("throws RunCancelledError to callers that wait for a run that was canceled", async () => {
    const { id } = await opened.fleet.enqueue(loop, { n: 3 });
    await opened.fleet.cancel(id, "superseded");
    await expect(opened.fleet.result(id)).rejects.toThrow(
      `The run "${id}" was cancelled: superseded. Enqueue it again if you need its result.`,
    );
  });
});
