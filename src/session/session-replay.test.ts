import { afterEach, describe, expect, test, vi } from "vitest";
import { MemorySessionStore } from "../../tests/support/memory-session-store.ts";
import type { Clock } from "../base/clock.ts";
import { InvalidOptionError } from "../base/errors.ts";
import { InProcessEventBus } from "./event-bus.ts";
import { logSlice } from "./log-slice.ts";
import { Session } from "./session.ts";
import { type SessionStore, SessionStoreError } from "./session-store.ts";
import { defineSlice } from "./slice.ts";
import { SnapshotRestoreError } from "./snapshot.ts";

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

const sown = (kind: string, sessionId?: string): SeedSown =>
  sessionId === undefined ? { type: "SeedSown", kind } : { type: "SeedSown", kind, sessionId };
const noon = Date.UTC(2030, 0, 1, 12);
const clock: Clock = { now: () => noon, sleep: async () => {} };

const bed = defineSlice<readonly string[]>("bed", {
  initial: [],
  on: { SeedSown: (kinds, { kind }) => [...kinds, kind] },
});
const diary = logSlice("diary", "SeedSown");
const slices = [bed, diary];

function garden(store: SessionStore): Session {
  const session = new Session({ id: "s", store, clock, tags: { team: "search" } });
  return session.register(bed).register(diary);
}

afterEach(() => void vi.restoreAllMocks());

describe("a session that is opened again", () => {
  test("is as it was, and publishes nothing", async () => {
    const store = new MemorySessionStore();
    const session = garden(store);
    for (const kind of ["leek", "kale", "dill"]) session.dispatch(sown(kind));
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

  test("goes on in the same place, as often as one likes", async () => {
    const store = new MemorySessionStore();
    let session = garden(store);
    for (const kind of ["leek", "kale", "dill"]) {
      session.dispatch(sown(kind));
      await session.flush();
      session = await Session.open(store, "s", slices);
    }
    expect(session.get(bed)).toEqual(["leek", "kale", "dill"]);
    expect(store.records("s")).toHaveLength(6);
    expect(store.records("s")).toEqual(
      store.records("s").map((_record, n) => expect.objectContaining({ n })),
    );
  });

  test("hears of its own events on the bus it is given", async () => {
    const store = new MemorySessionStore();
    await garden(store).flush();
    const bus = new InProcessEventBus();
    const again = await Session.open(store, "s", slices, { bus });
    bus.publish(sown("leek", "s"));
    expect(again.get(bed)).toEqual(["leek"]);
  });

  test("writes nothing unless something happens", async () => {
    const store = new MemorySessionStore();
    await garden(store).flush();
    const note = defineSlice("note", { initial: "", on: {} });
    const again = await Session.open(store, "s", [...slices, note]);
    await again.flush();
    expect(store.records("s")).toHaveLength(3);
    again.dispatch(sown("leek"));
    await again.flush();
    expect(store.records("s").slice(3)).toEqual([
      { n: 3, kind: "slice", id: "note", policy: "state" },
      { n: 4, kind: "event", event: sown("leek") },
    ]);
  });

  test("returns to any moment it returned to before", async () => {
    const store = new MemorySessionStore();
    const session = garden(store);
    const empty = session.snapshot();
    session.dispatch(sown("leek"));
    const leek = session.snapshot();
    for (const snapshot of [empty, leek, empty, leek]) {
      session.dispatch(sown("kale"));
      session.restore(snapshot);
    }
    await session.flush();
    const again = await Session.open(store, "s", slices);
    expect(again.get(bed)).toEqual(["leek"]);
    expect(again.get(diary)).toHaveLength(5);
  });

  test("has slices that came late hear what they heard then", async () => {
    const store = new MemorySessionStore();
    const session = new Session({ id: "s", store }).register(diary);
    const before = session.snapshot();
    session.dispatch(sown("leek"));
    session.register(bed);
    session.dispatch(sown("kale"));
    await session.flush();
    expect((await Session.open(store, "s", slices)).get(bed)).toEqual(["kale"]);
    session.restore(before);
    await session.flush();
    expect((await Session.open(store, "s", slices)).get(bed)).toEqual([]);
  });

  test("may take another session's snapshot, and one taken before it was opened", async () => {
    const store = new MemorySessionStore();
    const session = garden(store);
    session.dispatch(sown("leek"));
    await session.flush();
    const again = await Session.open(store, "s", slices);
    again.dispatch(sown("kale"));
    again.restore(session.snapshot());
    await again.flush();
    const third = await Session.open(store, "s", slices);
    expect([third.get(bed), third.get(diary).length]).toEqual([["leek"], 2]);
  });

  test("can be one that was parsed", async () => {
    const session = garden(new MemorySessionStore());
    session.dispatch(sown("leek"));
    const store = new MemorySessionStore();
    const parsed = Session.parse(session.serialize(), slices, { store });
    parsed.dispatch(sown("kale"));
    await parsed.flush();
    const again = await Session.open(store, "s", slices);
    expect(again.serialize()).toBe(parsed.serialize());
    expect(again.get(diary)).toEqual([sown("leek"), sown("kale")]);
  });
});

describe("a reducer that failed", () => {
  const failures = logSlice("failures", "ReducerFailed");
  const fussy = (id: string, isFussy: boolean) =>
    defineSlice(id, {
      initial: 0,
      on: {
        SeedSown: (count, { kind }) => {
          if (isFussy && kind === "thistle") throw new Error("a weed");
          return count + 1;
        },
      },
    });

  test("fails again without being told of again", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const store = new MemorySessionStore();
    const picky = fussy("picky", true);
    const session = garden(store).register(picky).register(failures);
    for (const kind of ["leek", "thistle", "kale"]) session.dispatch(sown(kind));
    await session.flush();
    const again = await Session.open(store, "s", [...slices, picky, failures]);
    expect(again.serialize()).toBe(session.serialize());
    expect([again.get(picky), again.get(failures).length]).toEqual([2, 1]);
    expect(warned).not.toHaveBeenCalled();
  });

  test("and was mended since leaves the session as it was all the same", async () => {
    const store = new MemorySessionStore();
    const session = garden(store).register(fussy("picky", true));
    for (const kind of ["leek", "thistle", "kale"]) session.dispatch(sown(kind));
    await session.flush();
    const mended = fussy("picky", false);
    expect((await Session.open(store, "s", [...slices, mended])).get(mended)).toBe(2);
  });

  test("only now leaves its slice as it was, the others change, and the process is warned", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const store = new MemorySessionStore();
    const session = garden(store).register(fussy("picky", false));
    for (const kind of ["leek", "thistle", "thistle"]) session.dispatch(sown(kind));
    await session.flush();
    const picky = fussy("picky", true);
    const again = await Session.open(store, "s", [...slices, picky]);
    expect([again.get(picky), again.get(bed).length]).toEqual([1, 3]);
    expect(warned.mock.calls).toEqual([
      [
        'Slice "picky" of session "s" failed on an event it took before, and stays as it was ' +
          "without it: SeedSown: a weed",
        "WinkWarning",
      ],
    ]);
  });
});

describe("opening", () => {
  test("refuses an id that no session can have", async () => {
    await expect(Session.open(new MemorySessionStore(), "../s", [])).rejects.toThrow(
      InvalidOptionError,
    );
  });

  test("refuses a session that the store does not have", async () => {
    const opening = Session.open(new MemorySessionStore(), "s", slices);
    await expect(opening).rejects.toThrow(SessionStoreError);
    await expect(opening).rejects.toThrow(
      'There is no session "s" in the store: make it with new Session({ store, id }), or see ' +
        "store.list() for those there are",
    );
  });

  test("refuses to leave stored slices out", async () => {
    const store = new MemorySessionStore();
    await garden(store).flush();
    const opening = Session.open(store, "s", []);
    await expect(opening).rejects.toThrow(SnapshotRestoreError);
    await expect(opening).rejects.toThrow(
      'Session "s" was stored with the slices "bed", "diary", which are not given: pass them to ' +
        "Session.open",
    );
  });

  test("refuses a slice whose policy has changed", async () => {
    const store = new MemorySessionStore();
    await garden(store).flush();
    const changed = defineSlice<readonly string[]>("bed", { initial: [], on: {}, policy: "log" });
    const opening = Session.open(store, "s", [changed, diary]);
    await expect(opening).rejects.toThrow(SnapshotRestoreError);
    await expect(opening).rejects.toThrow(
      'Slice "bed" was stored as a "state" slice and is a "log" slice now: set its policy back, or ' +
        "give the slice a new id",
    );
  });

  test("refuses two slices of one id", async () => {
    const store = new MemorySessionStore();
    await garden(store).flush();
    const namesake = defineSlice("bed", { initial: 0, on: {} });
    await expect(Session.open(store, "s", [...slices, namesake])).rejects.toThrow(
      'Slice.id must be unique within a session, got "bed"',
    );
  });

  test("refuses states that no longer fit their slices", async () => {
    const store = new MemorySessionStore();
    const other = new Session().register(bed);
    other.dispatch(sown("leek"));
    const session = garden(store);
    session.restore(other.snapshot());
    await session.flush();
    const counter = defineSlice("bed", { initial: 0, on: {} });
    const opening = Session.open(store, "s", [counter, diary]);
    await expect(opening).rejects.toThrow(SnapshotRestoreError);
    await expect(opening).rejects.toThrow('Slice "bed" does not fit, it holds a list');
  });

  test("leaves nobody behind on the bus when it is refused", async () => {
    const bus = new InProcessEventBus();
    const subscribe = vi.spyOn(bus, "subscribe");
    await expect(Session.open(new MemorySessionStore(), "s", [], { bus })).rejects.toThrow();
    expect(subscribe).not.toHaveBeenCalled();
  });
});

describe("records that do not fit", () => {
  const header = { n: 0, kind: "session", version: 1, id: "s", createdAt: "2030-01-01", tags: {} };

  async function opening(...records: readonly object[]): Promise<Session> {
    const store = new MemorySessionStore();
    for (const record of records) await store.append("s", record);
    return await Session.open(store, "s", slices);
  }

  test("because another version wrote them are refused", async () => {
    const opened = opening({ ...header, version: 2, tags: "of another form" });
    await expect(opened).rejects.toThrow(SnapshotRestoreError);
    await expect(opened).rejects.toThrow(
      'Session "s" was stored in version 2 of the records, and this is version 1: open it with the ' +
        "release that wrote it",
    );
  });

  test("because they are another session's are refused", async () => {
    await expect(opening({ ...header, id: "t" })).rejects.toThrow(
      'What the store has as session "s" is session "t": its records were moved there; move them back',
    );
  });

  test.each<readonly [string, readonly object[], string]>([
    ["do not begin with a header", [{ n: 0, kind: "event" }], 'it is of the kind "event"'],
    ["are no objects", [[]], "it is []"],
    ["leave one out", [header, { n: 2, kind: "event" }], "it has the number 2"],
    ["are there twice", [header, header], "it has the number 0"],
    ["are of no kind we know", [header, { n: 1, kind: "mark" }], 'it is of the kind "mark"'],
    ["return to what is still to come", [header, { n: 1, kind: "restored", to: 2 }], "not a whole"],
  ])("because they %s are refused by number", async (_why, records, problem) => {
    const opened = opening(...records);
    await expect(opened).rejects.toThrow(SessionStoreError);
    await expect(opened).rejects.toThrow(
      `Record ${records.length - 1} of session "s" does not fit`,
    );
    await expect(opened).rejects.toThrow(problem);
    await expect(opened).rejects.toThrow("put back an older copy of them");
  });

  test("because the store cannot be read are refused with what it said", async () => {
    const store = new MemorySessionStore();
    const cause = new Error("no such bucket");
    // biome-ignore lint/correctness/useYield: it fails before it has anything to give
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
