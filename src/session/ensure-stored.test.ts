import { describe, expect, test, vi } from "vitest";
import { createPlainStore, MemorySessionStore } from "../../tests/support/memory-session-store.ts";
import { InvalidOptionError } from "../base/errors.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { ensureStored } from "./ensure-stored.ts";
import { Session } from "./session.ts";

const createdAt = "2030-01-01T12:00:00.000Z";
const mine = { id: "s", createdAt, tags: { by: "me" } };
const theirs = { n: 0, kind: "session", version: 2, id: "s", createdAt, tags: { by: "them" } };

/** Starts while another process has the claim, and returns when it waits. */
async function waitForOther() {
  const store = new MemorySessionStore();
  const clock = fakeClock();
  const other = await store.claim("s");
  const ensured = ensureStored(store, mine, clock);
  await vi.waitFor(() => expect(clock.sleeping).toBe(1));
  return { store, clock, other, ensured };
}

describe("ensureStored()", () => {
  test("stores the header of a new session and releases its claim", async () => {
    const store = new MemorySessionStore();
    await ensureStored(store, mine);
    expect(store.records("s")).toEqual([{ ...theirs, tags: { by: "me" } }]);
    expect(store.claims.size).toBe(0);
  });

  test("leaves a stored session as it is", async () => {
    const store = new MemorySessionStore();
    await store.append("s", theirs);
    const claim = vi.spyOn(store, "claim");
    await ensureStored(store, mine);
    expect(store.records("s")).toEqual([theirs]);
    expect(claim).not.toHaveBeenCalled();
  });

  test("creates a session in a store without claims", async () => {
    const store = createPlainStore("claim");
    await ensureStored(store, mine);
    expect(store.records("s")).toHaveLength(1);
  });

  test("finds the session if another process created it before the claim", async () => {
    const store = new MemorySessionStore();
    const claim = store.claim.bind(store);
    store.claim = async (id, options) => {
      await store.append("s", theirs);
      return await claim(id, options);
    };
    await ensureStored(store, mine);
    expect(store.records("s")).toEqual([theirs]);
    expect(store.claims.size).toBe(0);
  });

  test("finds the session if another process created it in a store without claims", async () => {
    const store = createPlainStore("claim");
    const append = store.append.bind(store);
    store.append = async (id, record, by) => {
      store.append = append;
      await append(id, theirs);
      await append(id, record, by);
    };
    await ensureStored(store, mine);
    expect(store.records("s")).toEqual([theirs]);
  });

  test("waits for another process that is about to create the session", async () => {
    const { store, clock, other, ensured } = await waitForOther();
    await store.append("s", theirs, { writer: {}, position: 0, fence: other.fence });
    await other.release();
    await clock.advance(100);
    await ensured;
    expect(store.records("s")).toEqual([theirs]);
  });

  test("creates the session if the other process ended before it did", async () => {
    const { store, clock, other, ensured } = await waitForOther();
    await other.release();
    await clock.advance(100);
    await ensured;
    expect(store.records("s")).toHaveLength(1);
  });

  test("gives up after 50 attempts if the holder never creates the session", async () => {
    const store = new MemorySessionStore();
    await store.claim("s", { owner: "another process" });
    const clock = fakeClock({ skipsSleep: true });
    await expect(ensureStored(store, mine, clock)).rejects.toMatchObject({
      name: "SessionStoreError",
      owner: "another process",
    });
    expect(clock.now()).toBe(4_900);
  });

  test("reports a store that fails for another reason at once, and releases the claim", async () => {
    const store = new MemorySessionStore();
    store.failure = new Error("the disk is full");
    await expect(ensureStored(store, mine)).rejects.toThrow("the disk is full");
    expect(store.claims.size).toBe(0);
  });
});

describe("Session.openOrCreate()", () => {
  test("opens one session for all that create it at once", async () => {
    const store = new MemorySessionStore();
    const sessions = await Promise.all(
      ["a", "b", "c", "d", "e"].map((by) => Session.openOrCreate(store, "s", [], { tags: { by } })),
    );
    const [first] = sessions;
    expect(store.records("s")).toHaveLength(1);
    for (const session of sessions) {
      expect(session).toMatchObject({ tags: first?.tags, createdAt: first?.createdAt });
      expect(session.isStored).toBe(true);
    }
  });

  test("keeps the tags of an existing session", async () => {
    const store = new MemorySessionStore();
    await Session.openOrCreate(store, "s", [], { tags: { team: "search" } });
    const session = await Session.openOrCreate(store, "s", [], { tags: { team: "ads" } });
    expect(session.tags).toEqual({ team: "search" });
  });

  test.each<readonly [string, string, object]>([
    ["id", "a b", {}],
    ["tags.team", "s", { tags: { team: 1 } }],
  ])("refuses an invalid %s before it stores anything", async (field, id, options) => {
    const store = new MemorySessionStore();
    const opened = Session.openOrCreate(store, id, [], options);
    await expect(opened).rejects.toThrow(InvalidOptionError);
    await expect(opened).rejects.toThrow(`Session.${field} must be`);
    expect(store.lines.size).toBe(0);
  });
});
