import { afterEach, describe, expect, test, vi } from "vitest";
import { MemorySessionStore } from "../../tests/support/memory-session-store.ts";
import type { Clock } from "../base/clock.ts";
import { InvalidOptionError } from "../base/errors.ts";
import { defineSlice } from "./define-slice.ts";
import { InProcessEventBus } from "./event-bus.ts";
import { logSlice } from "./log-slice.ts";
import { Session } from "./session.ts";
import { fingerprintSlices } from "./session-checkpoint.ts";
import { type SessionStore, SessionStoreError } from "./session-store.ts";
import { SnapshotRestoreError } from "./snapshot-errors.ts";

interface SeedSown {
  readonly type: "SeedSown";
  readonly sessionId?: string;
  readonly kind: string;
}

declare module "./event-map.ts" {
  interface EventMap {
    SeedSown: SeedSown;
  }
}

const createSeedSown = (kind: string, sessionId?: string): SeedSown =>
  sessionId === undefined ? { type: "SeedSown", kind } : { type: "SeedSown", kind, sessionId };
const noon = Date.UTC(2030, 0, 1, 12);
const clock: Clock = { now: () => noon, sleep: async () => {} };

const bed = defineSlice<readonly string[]>("bed", {
  initial: [],
  on: { SeedSown: (kinds, { kind }) => [...kinds, kind] },
});
const diary = logSlice("diary", "SeedSown");
const slices = [bed, diary];

function createSession(store: SessionStore): Session {
  const session = new Session({ id: "s", store, clock, tags: { team: "search" } });
  return session.register(bed).register(diary);
}

afterEach(() => void vi.restoreAllMocks());

describe("Session.open()", () => {
  test("restores the session and publishes nothing", async () => {
    const store = new MemorySessionStore();
    const session = createSession(store);
    for (const kind of ["leek", "kale", "dill"]) session.dispatch(createSeedSown(kind));
    await session.flush();
    const bus = new InProcessEventBus();
    const heard: unknown[] = [];
    bus.subscribe("*", (event) => void heard.push(event));
    const again = await Session.open(store, "s", slices, { bus });
    expect(again.serialize()).toBe(session.serialize());
    expect(again).toMatchObject({ id: "s", bus, tags: { team: "search" } });
    expect(again.createdAt).toBe("2030-01-01T12:00:00.000Z");
    expect([again.get(bed), again.get(diary), again.get(diary)[0]]).toSatisfy((all: unknown[]) =>
      all.every(Object.isFrozen),
    );
    expect(heard).toEqual([]);
  });

  test("appends to the same records each time", async () => {
    const store = new MemorySessionStore();
    let session = createSession(store);
    for (const kind of ["leek", "kale", "dill"]) {
      session.dispatch(createSeedSown(kind));
      await session.flush();
      session = await Session.open(store, "s", slices);
    }
    expect(session.get(bed)).toEqual(["leek", "kale", "dill"]);
    expect(store.records("s")).toHaveLength(6);
    expect(store.records("s")).toEqual(
      store.records("s").map((_record, n) => expect.objectContaining({ n })),
    );
  });

  test("receives its events on the given bus", async () => {
    const store = new MemorySessionStore();
    await createSession(store).flush();
    const bus = new InProcessEventBus();
    const again = await Session.open(store, "s", slices, { bus });
    bus.publish(createSeedSown("leek", "s"));
    expect(again.get(bed)).toEqual(["leek"]);
  });

  test("writes nothing until something happens", async () => {
    const store = new MemorySessionStore();
    await createSession(store).flush();
    const note = defineSlice("note", { initial: "", on: {} });
    const again = await Session.open(store, "s", [...slices, note]);
    await again.flush();
    expect(store.records("s")).toHaveLength(3);
    again.dispatch(createSeedSown("leek"));
    await again.flush();
    expect(store.records("s").slice(3)).toEqual([
      { n: 3, kind: "slice", id: "note", policy: "state" },
      { n: 4, kind: "event", event: createSeedSown("leek") },
    ]);
  });

  test("replays repeated rollbacks", async () => {
    const store = new MemorySessionStore();
    const session = createSession(store);
    const empty = session.snapshot();
    session.dispatch(createSeedSown("leek"));
    const leek = session.snapshot();
    for (const snapshot of [empty, leek, empty, leek]) {
      session.dispatch(createSeedSown("kale"));
      session.restore(snapshot);
    }
    await session.flush();
    const again = await Session.open(store, "s", slices);
    expect(again.get(bed)).toEqual(["leek"]);
    expect(again.get(diary)).toHaveLength(5);
  });

  test("replays events for slices registered late only from their registration", async () => {
    const store = new MemorySessionStore();
    const session = new Session({ id: "s", store }).register(diary);
    const before = session.snapshot();
    session.dispatch(createSeedSown("leek"));
    session.register(bed);
    session.dispatch(createSeedSown("kale"));
    await session.flush();
    expect((await Session.open(store, "s", slices)).get(bed)).toEqual(["kale"]);
    session.restore(before);
    await session.flush();
    expect((await Session.open(store, "s", slices)).get(bed)).toEqual([]);
  });

  test("accepts snapshots from another session or from before it was opened", async () => {
    const store = new MemorySessionStore();
    const session = createSession(store);
    session.dispatch(createSeedSown("leek"));
    await session.flush();
    const again = await Session.open(store, "s", slices);
    again.dispatch(createSeedSown("kale"));
    again.restore(session.snapshot());
    await again.flush();
    const third = await Session.open(store, "s", slices);
    expect([third.get(bed), third.get(diary).length]).toEqual([["leek"], 2]);
  });

  test("opens a session that was parsed", async () => {
    const session = createSession(new MemorySessionStore());
    session.dispatch(createSeedSown("leek"));
    const store = new MemorySessionStore();
    const parsed = Session.parse(session.serialize(), slices, { store });
    parsed.dispatch(createSeedSown("kale"));
    await parsed.flush();
    const again = await Session.open(store, "s", slices);
    expect(again.serialize()).toBe(parsed.serialize());
    expect(again.get(diary)).toEqual([createSeedSown("leek"), createSeedSown("kale")]);
  });
});

describe("Session.open() with a failing reducer", () => {
  const failures = logSlice("failures", "ReducerFailed");
  const createFussySlice = (id: string, isFussy: boolean) =>
    defineSlice(id, {
      initial: 0,
      on: {
        SeedSown: (count, { kind }) => {
          if (isFussy && kind === "thistle") throw new Error("a weed");
          return count + 1;
        },
      },
    });

  test("replays a recorded failure without reporting it again", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const store = new MemorySessionStore();
    const picky = createFussySlice("picky", true);
    const session = createSession(store).register(picky).register(failures);
    for (const kind of ["leek", "thistle", "kale"]) session.dispatch(createSeedSown(kind));
    await session.flush();
    const again = await Session.open(store, "s", [...slices, picky, failures]);
    expect(again.serialize()).toBe(session.serialize());
    expect([again.get(picky), again.get(failures).length]).toEqual([2, 1]);
    expect(warned).not.toHaveBeenCalled();
  });

  test("keeps the recorded state even if the reducer has been fixed", async () => {
    const store = new MemorySessionStore();
    const session = createSession(store).register(createFussySlice("picky", true));
    for (const kind of ["leek", "thistle", "kale"]) session.dispatch(createSeedSown(kind));
    await session.flush();
    const mended = createFussySlice("picky", false);
    expect((await Session.open(store, "s", [...slices, mended])).get(mended)).toBe(2);
  });

  test("warns if a reducer fails only now, skips its event and changes the other slices", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const store = new MemorySessionStore();
    const session = createSession(store).register(createFussySlice("picky", false));
    for (const kind of ["leek", "thistle", "thistle"]) session.dispatch(createSeedSown(kind));
    await session.flush();
    const picky = createFussySlice("picky", true);
    const again = await Session.open(store, "s", [...slices, picky]);
    expect([again.get(picky), again.get(bed).length]).toEqual([1, 3]);
    expect(warned.mock.calls).toEqual([
      [
        'Slice "picky" of session "s" failed on an event that it accepted before and skipped it: ' +
          "SeedSown: a weed",
        "WinkWarning",
      ],
    ]);
  });
});

describe("Session.open() with invalid arguments", () => {
  test("rejects an invalid id", async () => {
    await expect(Session.open(new MemorySessionStore(), "../s", [])).rejects.toThrow(
      InvalidOptionError,
    );
  });

  test("rejects a session that is not in the store", async () => {
    const opening = Session.open(new MemorySessionStore(), "s", slices);
    await expect(opening).rejects.toThrow(SessionStoreError);
    await expect(opening).rejects.toThrow(
      'There is no session "s" in the store. Create it with new Session({ store, id }), or call ' +
        "store.list() to see the stored sessions.",
    );
  });

  test("rejects missing slices", async () => {
    const store = new MemorySessionStore();
    await createSession(store).flush();
    const opening = Session.open(store, "s", []);
    await expect(opening).rejects.toThrow(SnapshotRestoreError);
    await expect(opening).rejects.toThrow(
      'Session "s" was stored with the slices "bed", "diary", which were not passed. Pass them to ' +
        "Session.open.",
    );
  });

  test("rejects a slice whose policy has changed", async () => {
    const store = new MemorySessionStore();
    await createSession(store).flush();
    const changed = defineSlice<readonly string[]>("bed", { initial: [], on: {}, policy: "log" });
    const opening = Session.open(store, "s", [changed, diary]);
    await expect(opening).rejects.toThrow(SnapshotRestoreError);
    await expect(opening).rejects.toThrow(
      'Slice "bed" was stored with the policy "state" but now has "log". Restore its policy, or ' +
        "use a new slice id.",
    );
  });

  test("rejects two slices with the same id", async () => {
    const store = new MemorySessionStore();
    await createSession(store).flush();
    const namesake = defineSlice("bed", { initial: 0, on: {} });
    await expect(Session.open(store, "s", [...slices, namesake])).rejects.toThrow(
      'Slice.id must be unique within a session, got "bed"',
    );
  });

  test("rejects states that no longer match their slices", async () => {
    const store = new MemorySessionStore();
    const other = new Session().register(bed);
    other.dispatch(createSeedSown("leek"));
    const session = createSession(store);
    session.restore(other.snapshot());
    await session.flush();
    const counter = defineSlice("bed", { initial: 0, on: {} });
    const opening = Session.open(store, "s", [counter, diary]);
    await expect(opening).rejects.toThrow(SnapshotRestoreError);
    await expect(opening).rejects.toThrow('Slice "bed" cannot be restored: its state is an array');
  });

  test("leaves no subscription on the bus when it fails", async () => {
    const bus = new InProcessEventBus();
    const subscribe = vi.spyOn(bus, "subscribe");
    await expect(Session.open(new MemorySessionStore(), "s", [], { bus })).rejects.toThrow();
    expect(subscribe).not.toHaveBeenCalled();
  });
});

describe("Session.open() with invalid records", () => {
  const header = { n: 0, kind: "session", version: 1, id: "s", createdAt: "2030-01-01", tags: {} };

  async function openRecords(...records: readonly object[]): Promise<Session> {
    const store = new MemorySessionStore();
    for (const record of records) await store.append("s", record);
    return await Session.open(store, "s", slices);
  }

  test("rejects records of a different version", async () => {
    const opened = openRecords({ ...header, version: 3, tags: "of another form" });
    await expect(opened).rejects.toThrow(SnapshotRestoreError);
    await expect(opened).rejects.toThrow(
      'Session "s" was stored with record version 3, but this release reads versions 1 and 2. ' +
        "Open it with the release that wrote it.",
    );
  });

  test("rejects records of a different session", async () => {
    await expect(openRecords({ ...header, id: "t" })).rejects.toThrow(
      'The store returned session "t" for the id "s". The records were moved; move them back.',
    );
  });

  test.each<readonly [string, readonly object[], string]>([
    ["do not start with a header", [{ n: 0, kind: "event" }], 'its kind is "event"'],
    ["are not objects", [[]], "it is []"],
    ["have a gap", [header, { n: 2, kind: "event" }], "its number is 2"],
    ["are duplicated", [header, header], "its number is 0"],
    ["have an unknown kind", [header, { n: 1, kind: "mark" }], 'its kind is "mark"'],
    ["restore a later record", [header, { n: 1, kind: "restored", to: 2 }], "not a complete"],
  ])("rejects records that %s, with the record number", async (_why, records, problem) => {
    const opened = openRecords(...records);
    await expect(opened).rejects.toThrow(SessionStoreError);
    await expect(opened).rejects.toThrow(
      `Record ${records.length - 1} of session "s" is invalid: `,
    );
    await expect(opened).rejects.toThrow(problem);
    await expect(opened).rejects.toThrow("restore an older copy of them.");
  });

  test("reports why the store could not be read", async () => {
    const store = new MemorySessionStore();
    const cause = new Error("no such bucket");
    // biome-ignore lint/correctness/useYield: it fails before it yields
    store.read = async function* () {
      throw cause;
    };
    const opened = Session.open(store, "s", slices);
    await expect(opened).rejects.toThrow(SessionStoreError);
    await expect(opened).rejects.toMatchObject({
      message: expect.stringContaining('The store could not read session "s": no such bucket'),
      cause,
    });
  });
});

describe("Session.open() with a checkpoint that does not fit", () => {
  async function openWith(change: (checkpoint: object) => unknown) {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const store = new MemorySessionStore();
    const session = createSession(store);
    session.dispatch(createSeedSown("leek"));
    await session.flush();
    const [header] = store.records("s");
    const fingerprint = await fingerprintSlices([]);
    const covered = { header, records: 1, last: "none", slices: [], fingerprint };
    const checkpoint = { version: 1, ...covered, states: {}, mark: null };
    store.checkpoints.set("s", JSON.stringify(change(checkpoint)));
    const again = await Session.open(store, "s", slices);
    expect(again.serialize()).toBe(session.serialize());
    return warned.mock.calls.map(([text]) => text);
  }

  const opening = 'The checkpoint of session "s" is not used, and all of its records are read: ';

  test("warns about a checkpoint of other records, and reads all records", async () => {
    expect(await openWith((checkpoint) => checkpoint)).toEqual([
      `${opening}the session's records are not those that it was made from`,
    ]);
  });

  test.each<readonly [string, object | string, string]>([
    ["is not an object", "text", "it is not an object"],
    ["a newer release wrote", { version: 99 }, "another release of this package wrote it"],
    ["has no header", { header: null }, "it is of another session"],
    ["covers no records", { records: 0 }, "it is not complete"],
  ])("warns about a checkpoint that %s, and reads all records", async (_why, changed, problem) => {
    const warnings = await openWith((checkpoint) =>
      typeof changed === "string" ? changed : { ...checkpoint, ...changed },
    );
    expect(warnings).toEqual([opening + problem]);
  });
});
