import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Session } from "../src/session/session.ts";
import { slices, steps, walk } from "./support/session-crash-writer.ts";
import { openStormStore, type StormStore } from "./support/storm/storm-store.ts";

const CRASHES = Number(process.env["WINK_CRASHES"] ?? 25);
const CRASHES_PER_SESSION = 5;
const SESSIONS_AT_ONCE = 5;
const script = fileURLToPath(new URL("./support/session-crash-writer.ts", import.meta.url));

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "wink-crash-"));
});
afterAll(() => rm(directory, { recursive: true }));

const kinds: readonly StormStore[] = process.env["WINK_POSTGRES"]
  ? ["jsonl", "sqlite", "postgres"]
  : ["jsonl", "sqlite"]; // scripts/with-postgres.ts starts the third

test.each(kinds)(
  `sessions whose processes are killed ${CRASHES} times keep all flushed changes in %s`,
  {
    timeout: 60_000 + CRASHES * 1_000,
  },
  async (kind) => {
    const one = crypto.randomUUID();
    const ids = Array.from(
      { length: CRASHES / CRASHES_PER_SESSION },
      (_, index) => `${one}-${index}`,
    );
    const acknowledged: number[] = [];
    const workers = Array.from({ length: SESSIONS_AT_ONCE }, async () => {
      for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
        acknowledged.push(...(await crashRepeatedly(kind, id)));
      }
    });
    await Promise.all(workers);
    expect(acknowledged).toHaveLength(CRASHES);
    expect(Math.max(...acknowledged)).toBeGreaterThan(0);
  },
);

/** Continues one session in several processes. Returns the last change each acknowledged. */
async function crashRepeatedly(kind: StormStore, id: string): Promise<readonly number[]> {
  const all: number[] = [];
  let before: string | null = null;
  for (let crash = 0; crash < CRASHES_PER_SESSION; crash++) {
    const acknowledged = await writeUntilKilled(kind, id);
    const after = await readSession(kind, id);
    if (after !== null) expectReached({ before, after, acknowledged });
    else expect([before, acknowledged]).toEqual([null, -1]); // killed before the first write
    before = after;
    all.push(acknowledged);
  }
  return all;
}

/** Kills the writer at a random time. Returns the last change it acknowledged, or -1. */
async function writeUntilKilled(kind: StormStore, id: string): Promise<number> {
  const child = spawn(process.execPath, [script, directory, id, kind], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const closed = once(child, "close");
  let [output, errorOutput] = ["", ""];
  child.stderr.on("data", (text) => {
    errorOutput += text;
  });
  const enough = Math.floor(Math.random() * 25);
  const isEnough = new Promise<void>((resolve) => {
    child.stdout.on("data", (text) => {
      output += text;
      if (output.split("\n").length > enough) resolve();
    });
    child.once("close", () => resolve());
  });
  // Most are killed while writing; some while starting, opening the session or acquiring its lock.
  await (Math.random() < 0.2 ? setTimeout(Math.random() * 200) : isEnough);
  await setTimeout(Math.random() * 3);
  child.kill("SIGKILL");
  await closed;
  expect({ signal: child.signalCode, errorOutput }).toEqual({ signal: "SIGKILL", errorOutput: "" });
  return Number(output.split("\n").at(-2) ?? -1);
}

/** Returns the serialized session, or `null` if it does not exist. */
async function readSession(kind: StormStore, id: string): Promise<string | null> {
  const { store, close } = await openStormStore(kind, directory);
  try {
    if (!(await store.list()).includes(id)) return null;
    return (await Session.open(store, id, slices)).serialize();
  } finally {
    await close();
  }
}

/** Expects that `after` follows from `before` and is not older than the acknowledged change. */
function expectReached({
  before,
  after,
  acknowledged,
}: {
  readonly before: string | null;
  readonly after: string;
  readonly acknowledged: number;
}): void {
  const last = Session.parse(after, slices).get(steps).length;
  const session = before === null ? createInitialSession(after) : Session.parse(before, slices);
  const moments = [session.serialize()];
  for (const _change of walk(session)) {
    moments.push(session.serialize());
    if (session.get(steps).length > last + 1) break;
  }
  expect(moments.lastIndexOf(after)).toBeGreaterThanOrEqual(Math.max(0, acknowledged));
}

/** Returns the session in its state right after creation. */
function createInitialSession(text: string): Session {
  const made = { ...JSON.parse(text), slices: {} };
  return Session.parse(JSON.stringify(made), slices);
}
