import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "pg";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { others, review } from "../../../tests/support/fleet/cli-loops.ts";
import { fleetDatabases } from "../../../tests/support/fleet/fleet-fixture.ts";
import { runFleetCommand } from "../../../tests/support/fleet/run-fleet-command.ts";
import { Fleet } from "../../fleet/fleet.ts";
import type { FleetChoice } from "./add-fleet-options.ts";
import { cancelRun } from "./cancel-run.ts";
import { drainWorkers } from "./drain-workers.ts";
import { formatWorkers, listRuns } from "./list-runs.ts";
import { runWorker } from "./run-worker.ts";
import { showRun } from "./show-run.ts";

const LOOPS = "tests/support/fleet/cli-loops.ts";
const loops = new Map([review, ...others].map((loop) => [loop.name, loop]));
const silent = { write: () => {} };

let folder = "";
let choice: FleetChoice = { source: "--folder" };
let flags: readonly string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "wink-test-"));
  vi.stubEnv("HOME", folder);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
  if (choice.postgres === undefined) return;
  const pool = new Pool({ connectionString: choice.postgres });
  await pool.query(`drop schema if exists "${choice.schema}" cascade`);
  await pool.query(`drop schema if exists "${choice.schema}_pgboss" cascade`);
  await pool.end();
});

for (const [database, kind, isAvailable] of fleetDatabases) {
  describe.skipIf(!isAvailable)(`wink fleet on ${database}`, () => {
    beforeEach(() => {
      const schema = `cli_${crypto.randomUUID().slice(0, 8)}`;
      const postgres = process.env["WINK_POSTGRES"] ?? "";
      choice =
        kind === "folder"
          ? { folder, source: "--folder" }
          : { postgres, schema, source: "--postgres" };
      flags =
        kind === "folder" ? ["--folder", folder] : ["--postgres", postgres, "--schema", schema];
    });

    test("runs are listed, shown, approved, cancelled and tried again", {
      timeout: 300_000,
    }, async () => {
      const ids = await enqueue("review", "pay", "poison", "poison");
      const [done = "", parked = "", dead = "", dead2 = ""] = ids;
      const lines = await workUntil(["done", "parked", "dead-lettered", "dead-lettered"]);
      expect(lines).toContainEqual(
        expect.stringMatching(`run ${done.slice(0, 8)} review done in .*, 2,468 tokens$`),
      );

      const listed = await wink("ls");
      expect(listed.split("\n").slice(0, -1)).toHaveLength(5);
      expect(listed).toMatch(
        new RegExp(
          `^${parked.slice(0, 8)}  pay/1     parked  .*waits for approval of charge, charge$`,
          "m",
        ),
      );
      expect(await wink("ls", "--limit", "1")).toMatch(
        /… and more \(use --limit to show more than 1\)\n$/,
      );
      expect(await wink("ls", "--loop", "nothing")).toBe("");
      const json = await wink(
        "ls",
        "--json",
        "--group",
        "team-a",
        "--state",
        "dead-lettered",
        "--limit",
        "1",
      );
      expect(JSON.parse(json)).toMatchObject({
        id: dead2,
        loop: "poison",
        error: { name: "Error" },
      });
      expect((await wink("ls", "--json")).trim().split("\n")).toHaveLength(4);

      const shown = await wink("show", done.slice(0, 8));
      expect(shown).toContain(`Run ${done}\n`);
      expect(shown).toMatch(/✓ note \{"text":"a"\} \d+ms noted a\n/);
      expect(shown).toMatch(/\nResult\nAll\\u\{1b\}\[31m good\.\n$/);
      const events = (await wink("show", done, "--json"))
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(events[0]).toMatchObject({
        run: { id: done, state: "done" },
        result: "All\u001b[31m good.",
      });
      expect(events.slice(1).map(({ event }) => event.type)).toContain("TurnCompleted");
      expect(await wink("show", dead)).toMatch(
        / {2}state {6}dead-lettered: Error: no route to .*\n[\s\S]*Events.*\nnone\n$/,
      );

      const [problem, first = ""] = (await fail("approve", parked)).split("\n");
      expect(problem).toBe(
        `error: Several calls of run ${parked} wait for approval. Pass one of these keys:`,
      );
      const [, key = ""] = /^ {2}(1:\S+) {2}charge \{"amount":30\}$/.exec(first) ?? [];
      expect(await fail("approve", parked, "nothing")).toContain(
        'with the key "nothing" waits for approval',
      );
      expect(await wink("approve", parked, key)).toBe(
        `Approved charge {"amount":30} of run ${parked}. 1 call still waiting.\n`,
      );
      expect(await wink("approve", parked, "--deny")).toBe(
        `Denied charge {"amount":40} of run ${parked}.\n`,
      );
      expect(await fail("approve", parked)).toContain(
        "is waiting, and none of its calls waits for approval",
      );

      expect(await fail("retry", parked)).toContain(
        "is waiting. Only a run that has ended can be tried again.",
      );
      expect(await fail("retry", done)).toContain("is done. Enqueue the request again");
      expect(await wink("retry", dead)).toBe(
        `Run ${dead} was dead-lettered, and waits for a worker again.\n`,
      );
      const all = ["retry", "--state", "dead-lettered", "--loop"];
      expect(await wink(...all, "review")).toBe("0 dead-lettered runs wait for a worker again.\n");
      expect(await wink(...all, "poison")).toBe("1 dead-lettered run waits for a worker again.\n");

      expect(await wink("cancel", parked, "--reason", "enough")).toBe(
        `Run ${parked} is cancelled.\n`,
      );
      expect(await wink("cancel", parked)).toBe(`Run ${parked} is cancelled.\n`);
      expect(await fail("cancel", done)).toContain(
        "is done. Only a run that has not ended can be cancelled.",
      );
      expect(await wink("ls", "--key", "key-1")).toMatch(/cancelled .* key-1 {2}enough\n$/);
      expect(await fail("show", "00000000")).toContain(
        'No run has an id that starts with "00000000"',
      );
      await renameRuns([dead, dead2]);
      expect(await fail("show", "abcd")).toMatch(
        /^error: Several runs start with "abcd"\. Use more characters of one of them:\n {2}abcd0000-\S+ poison waiting, \d+s old\n {2}abcd0001-/,
      );
    });

    test("a terminal shows totals and workers below the runs", { timeout: 300_000 }, async () => {
      await enqueue("review");
      await use(async (fleet) => void (await fleet.schedules())); // the queue exists, and nothing more
      const print = async (filter: { loop?: string } = {}) => {
        const log = vi.spyOn(console, "log").mockImplementation(() => {});
        await listRuns(choice, { ...filter, json: false, screen: { isTTY: true, columns: 90 } });
        const printed = log.mock.calls.map(([line]) => String(line));
        log.mockRestore();
        return printed;
      };
      expect((await print()).slice(2)).toEqual(["", "1 waiting", "No worker is running."]);
      expect(await print({ loop: "nothing" })).toEqual(["No runs match.", "No worker is running."]);
    });

    test("drain reports that there is no worker, and a folder cannot be followed", {
      timeout: 300_000,
    }, async () => {
      const [id = ""] = await enqueue("review");
      if (kind === "folder") {
        const err = await fail("show", id, "--follow");
        expect(err).toContain(
          "no worker can continue it while this command has the folder open. Omit",
        );
      }
      expect(await wink("drain", "--wait")).toBe("No worker is running.\n");
      expect(await fail("drain", "7")).toContain(
        "error: There is no worker 7. No worker is running.",
      );
    });
  });
}

describe.skipIf(process.env["WINK_POSTGRES"] === undefined)(
  "wink fleet with workers on PostgreSQL",
  () => {
    beforeEach(() => {
      const postgres = process.env["WINK_POSTGRES"] ?? "";
      choice = { postgres, schema: `cli_${crypto.randomUUID().slice(0, 8)}`, source: "--postgres" };
      flags = ["--postgres", postgres, "--schema", choice.schema ?? ""];
    });

    test("refuses a schema without a fleet, and creates none", async () => {
      const problem = `There is no fleet in the schema "${choice.schema}". Enqueue a run or start a worker first`;
      expect(await fail("ls")).toContain(problem);
      expect(await fail("ls")).toContain(problem);
    });

    test("drains workers, waits for them, and cancels their runs", async () => {
      const [id = ""] = await enqueue("slow");
      const stop = new AbortController();
      const log: string[] = [];
      const write = vi
        .spyOn(process.stdout, "write")
        .mockImplementation((line) => log.push(String(line)) > 0);
      const work = { files: [LOOPS], json: true, signal: stop.signal, terminal: silent };
      const working = runWorker(choice, work).finally(() => write.mockRestore());
      await expect.poll(() => log.filter((line) => line.includes("RunStarted"))).toHaveLength(1);
      const ls = vi.spyOn(console, "log").mockImplementation(() => {});
      await listRuns(choice, { json: false, screen: { isTTY: true } });
      expect(ls.mock.calls.at(-1)?.[0]).toMatch(
        /^worker \d+ on .* \(pid \d+\): .*review\/3.*, 1 of 4 running, up \d+s$/,
      );
      const following = showRun(choice, { run: id, json: true, follow: true, terminal: silent });
      await cancelRun(choice, { run: id, reason: "enough" });
      const [said = ""] = ls.mock.calls
        .map(([line]) => String(line))
        .filter((line) => line.startsWith("Run "));
      expect(said).toMatch(/ is (?:running: worker \d+ will abort it|cancelled)\.$/);
      await following;
      expect(JSON.parse(String(ls.mock.calls.at(-1)?.[0]))).toMatchObject({
        run: { id, state: "cancelled" },
      });
      await expect.poll(() => log.filter((line) => line.includes("RunEnded"))).toHaveLength(1);
      const shown: string[] = [];
      const terminal = { isTTY: true, write: (text: string) => shown.push(text) };
      await drainWorkers(choice, { wait: true, terminal });
      expect(ls.mock.calls.slice(-2)).toEqual([
        ["1 worker was asked to drain."],
        ["1 worker has ended."],
      ]);
      const progress = shown.join("").replaceAll("\r\u001b[K", "");
      expect(["", "Waiting for 1 worker with 0 runs …"]).toContain(progress); // it may end at once
      await working;
      ls.mockRestore();
      const types = log.map((line) => JSON.parse(line).type);
      expect(types).toEqual(["WorkerStarted", "RunStarted", "RunEnded", "WorkerDraining"]);
    });

    test("show --follow prints events until the run ends, and its result", async () => {
      const [id = ""] = await enqueue("review");
      const log = vi.spyOn(console, "log").mockImplementation(() => {});
      const shown: string[] = [];
      const terminal = { isTTY: true, write: (text: string) => shown.push(text) };
      const following = showRun(choice, { run: id, json: false, follow: true, terminal });
      await workUntil(["done"]);
      await following;
      const out = log.mock.calls.join("\n");
      log.mockRestore();
      expect(out).toContain("  state      waiting\n");
      expect(out).toMatch(/answer after 2 turns\n\ndone after .*\n\nResult\nAll/);
      expect(shown.join("")).toContain("Waiting for the next event (press Ctrl-C to stop) …");
      const again = await wink("show", id, "--follow", "--json");
      expect(JSON.parse(again.split("\n")[0] ?? "")).toMatchObject({ run: { state: "done" } });
    });

    test("drain --wait ends if the workers have stopped reporting", async () => {
      await enqueue("review");
      await use(async (fleet) => {
        await fleet.transact(async (sql) => {
          const values = "('box', 1, 'review/3', 4, now() - interval '1 hour')";
          await sql.query(
            `insert into "${choice.schema}".worker (host, pid, loops, concurrency, seen_at) values ${values}`,
          );
        });
      });
      const log = vi.spyOn(console, "log").mockImplementation(() => {});
      await listRuns(choice, { json: false, screen: { isTTY: true } });
      expect(log.mock.calls.at(-1)?.[0]).toMatch(/^worker 1 on box .*, not seen for 1h$/);
      await use(async (fleet) => {
        await fleet.transact(
          async (sql) =>
            void (await sql.query(`update "${choice.schema}".worker set loops = 'pay/1'`)),
        );
      });
      await listRuns(choice, { json: false, screen: { isTTY: true } });
      expect(log.mock.calls.at(-1)?.[0]).toBe("No worker runs review/3: its runs wait.");
      const waiting = drainWorkers(choice, {
        worker: 1,
        wait: true,
        terminal: silent,
        maxSilenceMs: 1,
      });
      await expect(waiting).rejects.toThrow(
        "worker 1 (process 1 on box) stopped reporting, and probably does not exist any more. Check its machine",
      );
      expect(log.mock.calls.at(-1)?.[0]).toBe("Worker 1 was asked to drain.");
      log.mockRestore();
      expect(await fail("drain", "7")).toContain("There is no worker 7. Use one of 1.");
    });
  },
);

test("a worker that drains is marked in the list", () => {
  const now = Date.parse("2026-01-01T00:00:00.000Z");
  const at = "2026-01-01T00:00:00.000Z";
  const worker = {
    id: 1,
    host: "box",
    pid: 1,
    loops: ["a/1"],
    concurrency: 4,
    running: 0,
    isDraining: true,
    upAt: at,
    seenAt: at,
  };
  expect([...formatWorkers([worker], now)]).toEqual([
    "worker 1 on box (pid 1): a/1, 0 of 4 running, up 0s, draining",
  ]);
});

/** Runs a command that succeeds. Returns its output. */
async function wink(...args: readonly string[]): Promise<string> {
  const { out, err, code } = await runFleetCommand(...args, ...flags);
  expect({ err, code }).toEqual({ err: "", code: 0 });
  return out;
}

/** Runs a command that fails. Returns its error. */
async function fail(...args: readonly string[]): Promise<string> {
  const { err, code } = await runFleetCommand(...args, ...flags);
  expect(code).toBe(1);
  return err;
}

async function use<Result>(work: (fleet: Fleet) => Promise<Result>): Promise<Result> {
  const { folder: at, postgres, schema } = choice;
  await using fleet = await Fleet.open({ folder: at, postgres, schema });
  return await work(fleet);
}

async function enqueue(...names: readonly string[]): Promise<readonly string[]> {
  return await use(async (fleet) => {
    const ids: string[] = [];
    for (const [n, name] of names.entries()) {
      const options = { key: `key-${n}`, group: "team-a" };
      const loop = loops.get(name);
      if (loop) ids.push((await fleet.enqueue(loop, { n }, options)).id);
    }
    return ids;
  });
}

/** Runs a worker until runs have ended in these ways, in any order. Returns the lines that it prints. */
async function workUntil(outcomes: readonly string[]): Promise<readonly string[]> {
  const stop = new AbortController();
  const lines: string[] = [];
  const write = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    lines.push(String(text).trimEnd());
    const ended = lines.flatMap(
      (line) => / (done|parked|dead-lettered)(?: |:)/.exec(line)?.[1] ?? [],
    );
    if (ended.toSorted().join() === outcomes.toSorted().join()) stop.abort();
    return true;
  });
  try {
    await runWorker(choice, { files: [LOOPS], json: false, signal: stop.signal, terminal: silent });
  } finally {
    write.mockRestore();
  }
  return lines;
}

/** Gives runs ids that start with the same characters. */
async function renameRuns(ids: readonly string[]): Promise<void> {
  await use(async (fleet) => {
    await fleet.transact(async (sql) => {
      for (const [n, id] of ids.entries()) {
        const next = `abcd000${n}-0000-4000-8000-000000000000`;
        await sql.query(`update "${choice.schema ?? "wink"}".run set id = $2 where id = $1`, [
          id,
          next,
        ]);
      }
    });
  });
}
