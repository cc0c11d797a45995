import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { closeFleet, openFleet } from "../open-fleet.ts";
import { maintainFleet } from "./maintain-fleet.ts";
import { Reaper } from "./reaper.ts";

test("a cleanup stops between two pages when its worker ends", async () => {
  const stop = new AbortController();
  let pages = 0;
  const runs = {
    async deleteOld() {
      pages += 1;
      if (pages === 3) stop.abort();
      return ["one of many"];
    },
  };
  await maintainFleet({ runs, keepDoneDays: 30 } as never, stop.signal);
  expect(pages).toBe(3);
});

test("a cleanup deletes no runs if keepDoneDays is false", async () => {
  const stop = new AbortController();
  const called: string[] = [];
  const workers = {
    async declareSilentGone() {
      called.push("declareSilentGone");
      stop.abort();
    },
  };
  await maintainFleet({ workers, keepDoneDays: false } as never, stop.signal);
  expect(called).toEqual(["declareSilentGone"]);
});

test("keepDoneDays can be false, and neither true nor 0", async () => {
  const folder = await mkdtemp(join(tmpdir(), "wink-keep-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const keepDoneDays of [true as never, 0]) {
    await expect(openFleet({ folder, keepDoneDays })).rejects.toThrow(
      "Fleet.open(keepDoneDays) must be a positive integer",
    );
  }
  const parts = await openFleet({ folder: join(folder, "fleet"), keepDoneDays: false });
  expect(parts.keepDoneDays).toBe(false);
  await closeFleet(parts);
});

test("runs of a lost worker are given back although it failed at first", async () => {
  const job = { runId: "a", queue: "q", id: "j", retryCount: 0 };
  const waiting: unknown[] = [];
  const given: string[] = [];
  let looks = 0;
  const workers = {
    findGone: async () => (looks++ < 2 ? [7] : []), // it is declared gone at the second look
    declareGone: async () => {},
    listOrphans: async () => (waiting.length > 0 ? [] : [job]),
    async makeOrphansWait(_sql: unknown, jobs: readonly unknown[]) {
      if (given.length === 1) throw new Error("the database restarts");
      waiting.push(...jobs);
      return [];
    },
  };
  const dispatch = {
    ensureQueue: async () => {},
    async giveBack({ id }: { readonly id: string }) {
      given.push(id);
    },
  };
  const parts = { database: {}, dispatch, runs: { notify: async () => {} }, workers };
  const reaper = new Reaper(parts as never);
  await reaper.look(1);
  await expect(reaper.look(1)).rejects.toThrow("the database restarts");
  expect(waiting).toEqual([]);
  await reaper.look(1);
  expect(waiting).toEqual([job]);
  await reaper.look(1);
  expect(given).toEqual(["j", "j"]);
});
