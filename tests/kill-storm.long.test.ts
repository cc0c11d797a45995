import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { digestRecord } from "./support/storm/acknowledging-store.ts";
import type { StormSettings } from "./support/storm/storm-main.ts";
import { startStormProvider } from "./support/storm/storm-provider.ts";
import { openStormStore, type StormStore } from "./support/storm/storm-store.ts";

/** Kills per store. `.ci/run` sets 50, `npm run storm` 200. */
const KILLS = Number(process.env["WINK_KILLS"] ?? 4);
const STEPS = 6;
/** A turn for each step, and the answer. */
const TURNS = STEPS + 1;
const RUNS_AT_ONCE = 3;
const MAX_DELAY_MS = 900;
const script = fileURLToPath(new URL("./support/storm/storm-main.ts", import.meta.url));
const stores: readonly StormStore[] = [
  "jsonl",
  "sqlite",
  ...(process.env["WINK_POSTGRES"] ? (["postgres"] as const) : []),
];

/** Compiled sources, which the processes share, because each process starts from scratch. */
const cache = await mkdtemp(join(tmpdir(), "wink-storm-cache-"));
afterAll(() => rm(cache, { recursive: true }));

describe.each(stores)("runs on %s whose processes are killed at random", (store) => {
  const timeout = 120_000 + KILLS * 8_000;

  test(`end as if nothing had happened, after ${KILLS} kills`, { timeout }, async () => {
    const { kills, turns, runs } = await storm({ store, delivery: "stream", kills: KILLS });
    // At most one turn is paid for again per kill.
    expect(turns - runs * TURNS).toBeLessThanOrEqual(kills);
  });

  const some = Math.ceil(KILLS / 4);
  test(`pay for hardly a turn twice in the background, after ${some} kills`, {
    timeout,
  }, async () => {
    const { kills, turns, runs } = await storm({ store, delivery: "background", kills: some });
    expect(turns - runs * TURNS).toBeLessThanOrEqual(Math.max(1, Math.ceil(kills / 10)));
  });
});

interface Storm {
  readonly store: StormStore;
  readonly delivery: StormSettings["delivery"];
  readonly kills: number;
}

/** Runs agents until their processes were killed that often, and checks each run when it has ended. */
async function storm({ store, delivery, kills }: Storm) {
  const provider = await startStormProvider();
  let [killed, runs] = [0, 0];
  const workers = Array.from({ length: RUNS_AT_ONCE }, async () => {
    while (killed < kills) {
      runs += 1;
      const id = `storm-${process.pid}-${delivery}-${runs}`;
      const settings = {
        url: provider.url,
        folder: await createRunFolder(),
        store,
        id,
        steps: STEPS,
        delivery,
      };
      let isDone = false;
      while (!isDone) {
        const isKilled = killed < kills;
        if (isKilled) killed += 1;
        isDone = await runOnce(settings, isKilled ? Math.random() * MAX_DELAY_MS : null);
        if (isDone && isKilled) killed -= 1; // it was faster
      }
      await checkRun(settings);
    }
  });
  await Promise.all(workers);
  return { kills: killed, turns: provider.countTurns(), runs };
}

/** Runs a process, and kills it some time after its evaluation began. Returns whether the run is done. */
async function runOnce(settings: StormSettings, killAfterMs: number | null): Promise<boolean> {
  const child = spawn(process.execPath, [script, JSON.stringify(settings)], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
  });
  const output = collectOutput(child);
  const closed = once(child, "close");
  if (killAfterMs !== null) {
    await Promise.race([output.hasBegun, closed]);
    await Promise.race([setTimeout(killAfterMs), closed]);
    child.kill("SIGKILL");
  }
  const [code] = await closed;
  if (killAfterMs === null || code !== null)
    expect({ code, errors: output.errors() }).toEqual({ code: 0, errors: "" });
  return code === 0;
}

function collectOutput(child: ChildProcess) {
  let errors = "";
  child.stderr?.on("data", (text) => {
    errors += text;
  });
  const hasBegun = new Promise<void>((resolve) => {
    child.stdout?.on("data", () => resolve());
  });
  return { hasBegun, errors: () => errors };
}

async function createRunFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "wink-storm-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, "work"));
  await writeFile(join(folder, "work/readme.txt"), "Take the steps.\n");
  return folder;
}

/** Checks that a run has the answer, the files and the records of a run without kills. */
async function checkRun({ folder, store, id }: StormSettings): Promise<void> {
  expect(await readFile(join(folder, "answer.txt"), "utf8")).toBe(`Reached ${STEPS}.`);
  const lines = Array.from({ length: STEPS }, (_, index) => `step ${index + 1}\n`).join("");
  expect(await readFile(join(folder, "result/work/steps.txt"), "utf8")).toBe(lines);
  expect(await readFile(join(folder, "result/work/notes.txt"), "utf8")).toBe(lines);
  expect(existsSync(join(folder, "compactions.log"))).toBe(true);
  const charges = (await readFile(join(folder, "charges.log"), "utf8")).trim().split("\n");
  expect(charges).toEqual([...new Set(charges)]); // no call was started twice
  const steps = charges.map((line) => line.split(" ")[0]);
  expect(steps).toEqual([...new Set(steps)]); // and no turn was answered twice
  const opened = await openStormStore(store, folder);
  try {
    const digests: string[] = [];
    for await (const record of opened.store.read(id)) digests.push(digestRecord(record));
    const acknowledged = (await readFile(join(folder, "acknowledged.log"), "utf8"))
      .trim()
      .split("\n");
    for (const line of acknowledged) {
      const [position, digest] = line.split(" ");
      expect(digests[Number(position)], `record ${position}`).toBe(digest);
    }
    await opened.store.delete(id);
  } finally {
    await opened.close();
  }
}
