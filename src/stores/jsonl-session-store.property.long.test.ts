import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defineSlice } from "../session/define-slice.ts";
import { logSlice } from "../session/log-slice.ts";
import { Session } from "../session/session.ts";
import { SessionStoreError } from "../session/session-store.ts";
import type { Snapshot } from "../session/snapshot.ts";
import type { SessionTruncated } from "./hold-session-file.ts";
import { JsonlSessionStore } from "./jsonl-session-store.ts";

interface NotePlayed {
  readonly type: "NotePlayed";
  readonly note: unknown;
}

declare module "../session/event-map.ts" {
  interface EventMap {
    NotePlayed: NotePlayed;
  }
}

const createNotePlayed = (note: unknown): NotePlayed => ({ type: "NotePlayed", note });
const tune = defineSlice<readonly unknown[]>("tune", {
  initial: [],
  on: { NotePlayed: (notes, { note }) => [...notes, note] },
});
const take = logSlice("take", "NotePlayed");
const slices = [tune, take];

let folder: string;
let runs = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "wink-store-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Returns an unused directory. */
function createDirectoryName(): string {
  runs += 1;
  return join(folder, String(runs));
}

type Step =
  | { readonly do: "dispatch"; readonly note: unknown }
  | { readonly do: "snapshot" | "flush" | "reopen" }
  | { readonly do: "restore"; readonly which: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant("dispatch" as const), note: fc.jsonValue({ maxDepth: 1 }) }),
  fc.record({ do: fc.constantFrom("snapshot" as const, "flush" as const, "reopen" as const) }),
  fc.record({ do: fc.constant("restore" as const), which: fc.nat(99) }),
);

/** Runs the steps and returns the state after each one. */
async function runSteps(directory: string, steps: readonly Step[]): Promise<string[]> {
  let store = new JsonlSessionStore(directory);
  let live = new Session({ id: "s", store }).register(tune).register(take);
  const moments = [readState(live)];
  const taken: Snapshot[] = [];
  for (const next of steps) {
    if (next.do === "dispatch") live.dispatch(createNotePlayed(next.note));
    else if (next.do === "snapshot") taken.push(live.snapshot());
    else if (next.do === "restore") {
      const snapshot = taken[next.which % Math.max(1, taken.length)];
      if (snapshot) live.restore(snapshot);
    } else await live.flush();
    if (next.do === "reopen") {
      await store.close();
      store = new JsonlSessionStore(directory);
      live = await Session.open(store, "s", slices);
    }
    moments.push(readState(live));
  }
  await live.flush();
  await store.close();
  return moments;
}

/** Normalizes JSON, which has only one zero. */
function readState(session: Session): string {
  return JSON.stringify(JSON.parse(session.serialize()).slices);
}

test("JsonlSessionStore restores any session when it is reopened", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const directory = createDirectoryName();
      const moments = await runSteps(directory, steps);
      const again = await Session.open(new JsonlSessionStore(directory), "s", slices);
      expect(readState(again)).toBe(moments.at(-1));
    }),
    { numRuns: 50 },
  );
});

const song: readonly Step[] = [
  { do: "dispatch", note: "dö" },
  { do: "snapshot" },
  { do: "dispatch", note: { re: [1, null, "\n"] } },
  { do: "restore", which: 0 },
  { do: "dispatch", note: "\ud83c\udfb5" },
  { do: "restore", which: 0 },
  { do: "dispatch", note: 5 },
];

test("JsonlSessionStore restores an earlier state from a file truncated anywhere and reports it", async () => {
  const whole = createDirectoryName();
  const moments = await runSteps(whole, song);
  const file = await readFile(join(whole, "s.jsonl"));
  const first = file.indexOf("\n") + 1;
  await forEachLength(0, file.length, async (length) => {
    const part = file.subarray(0, length);
    const { directory, store, cuts } = await createStore(part);
    const bytes = length - (part.lastIndexOf("\n") + 1);
    const opening = Session.open(store, "s", slices);
    if (length < first) await expect(opening, `${length}`).rejects.toThrow(SessionStoreError);
    else expect(moments, `${length}`).toContain(readState(await opening));
    expect(cuts).toEqual(bytes === 0 ? [] : [expect.objectContaining({ sessionId: "s", bytes })]);
    expect(await readFile(join(directory, "s.jsonl"))).toEqual(part); // unchanged
  });
});

test("JsonlSessionStore continues a session after its file was truncated anywhere", async () => {
  const whole = createDirectoryName();
  await runSteps(whole, song);
  const file = await readFile(join(whole, "s.jsonl"));
  await forEachLength(file.indexOf("\n") + 1, file.length, async (length) => {
    const { store } = await createStore(file.subarray(0, length));
    const session = await Session.open(store, "s", slices);
    session.dispatch(createNotePlayed("la"));
    await session.flush();
    await store.close();
    const again = await Session.open(store, "s", slices);
    expect(readState(again), `${length}`).toBe(readState(session));
    expect(again.get(tune).at(-1)).toBe("la");
  });
});

test("JsonlSessionStore reads a file with one changed byte or rejects it by line", async () => {
  const whole = createDirectoryName();
  await runSteps(whole, song);
  const file = await readFile(join(whole, "s.jsonl"));
  await fc.assert(
    fc.asyncProperty(fc.nat(file.length - 2), fc.nat(255), async (at, byte) => {
      const changed = Buffer.from(file);
      changed[at] = byte;
      const { store } = await createStore(changed);
      try {
        await Session.open(store, "s", slices);
      } catch (error) {
        expect(error).toMatchObject({
          name: expect.stringMatching(/^(SessionStoreError|SnapshotRestoreError)$/),
          message: expect.stringMatching(/line|record|slice|session/i),
        });
      }
    }),
    { numRuns: 300 },
  );
});

test("JsonlSessionStore rejects garbage between records, with the line number", async () => {
  const whole = createDirectoryName();
  await runSteps(whole, song);
  const lines = (await readFile(join(whole, "s.jsonl"), "utf8")).split("\n").slice(0, -1);
  const garbage = fc.string().filter((text) => !text.includes("\n") && !isObject(text));
  await fc.assert(
    fc.asyncProperty(fc.nat(lines.length - 1), garbage, async (at, text) => {
      const damaged = lines.toSpliced(at, 0, text);
      const { store } = await createStore(Buffer.from(`${damaged.join("\n")}\n`));
      await expect(Session.open(store, "s", slices)).rejects.toThrow(
        new RegExp(`^Line ${at + 1} of .*s\\.jsonl is not a record`),
      );
    }),
  );
});

/** Runs `work` for each length, 8 at a time. */
async function forEachLength(
  from: number,
  to: number,
  work: (length: number) => Promise<void>,
): Promise<void> {
  for (let length = from; length <= to; length += 8) {
    const some = Array.from({ length: Math.min(8, to + 1 - length) }, (_, more) => length + more);
    await Promise.all(some.map(work));
  }
}

async function createStore(content: Buffer) {
  const directory = createDirectoryName();
  await mkdir(directory);
  await writeFile(join(directory, "s.jsonl"), content);
  const cuts: SessionTruncated[] = [];
  const store = new JsonlSessionStore(directory, { onRepair: (cut) => void cuts.push(cut) });
  return { directory, store, cuts };
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
