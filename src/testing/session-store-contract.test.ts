import { describe, expect, test } from "vitest";
import { createPlainStore, MemorySessionStore } from "../../tests/support/memory-session-store.ts";
import {
  type RecordWriter,
  type SessionStore,
  SessionStoreError,
} from "../session/session-store.ts";
import { sessionStoreContract } from "./session-store-contract.ts";

describe("a store in memory", () => {
  for (const { name, run } of sessionStoreContract(() => new MemorySessionStore())) test(name, run);
});

/** Stores with one fault each, and the case that must find it. */
const broken: readonly (readonly [string, () => SessionStore, string])[] = [
  [
    "sorts the keys of its records",
    () => new SortingStore(),
    "stores records byte for byte: key order, NUL, lone surrogates and line breaks survive",
  ],
  [
    "ignores the position",
    () => spoil({ append: (store, id, record) => store.append(id, record) }),
    "refuses a writer that does not know the last record, and its later records",
  ],
  [
    "ignores the fence",
    () =>
      spoil({
        append: (store, id, record, by) => {
          store.claims.delete(id);
          return store.append(id, record, by && { writer: by.writer, position: by.position });
        },
      }),
    "refuses records with the fence of an earlier claim",
  ],
  [
    "lets anybody claim",
    () =>
      spoil({
        claim: (store, id) => {
          store.claims.delete(id);
          return store.claim(id);
        },
      }),
    "refuses a second claim while the first is held, and names its owner and time",
  ],
  [
    "keeps the checkpoint of a deleted session",
    () => spoil({ delete: async (store, id) => void store.lines.delete(id) }),
    "deletes the checkpoint with its session",
  ],
  [
    "has no claims",
    () => new PlainStore(),
    "claims a session with a fence, an owner and the time, and does not create it",
  ],
  ["has no checkpoints", () => new PlainStore(), "has no checkpoint until one is written"],
  [
    "reads checkpoints and writes none",
    () => createPlainStore("writeCheckpoint"),
    "replaces the checkpoint, byte for byte, and keeps it apart from the records",
  ],
  [
    "does not name the holder in its message",
    () =>
      spoil({
        delete: async (store, id) => {
          const { owner = "", since = "" } = store.claims.get(id) ?? {};
          throw new SessionStoreError("It is held.", { sessionId: id, owner, since });
        },
      }),
    "refuses to delete a claimed session",
  ],
];

describe("a store that does not count the records of a claim", () => {
  const make = () =>
    spoil({
      claim: async (store, ...all) => {
        const { records: _unknown, ...claim } = await store.claim(...all);
        return claim;
      },
    });
  for (const { name, run } of sessionStoreContract(make)) test(name, run);
});

test.each(broken)("the contract finds a store that %s", async (_fault, make, name) => {
  const [found] = sessionStoreContract(make).filter((one) => one.name === name);
  await expect(found?.run()).rejects.toThrow();
});

test("skips the tests of methods that a store does not have", async () => {
  const options = { claims: false, checkpoints: false };
  const all = sessionStoreContract(() => new MemorySessionStore());
  const some = sessionStoreContract(() => new PlainStore(), options);
  expect(some.length).toBeLessThan(all.length);
  for (const { run } of some) await run();
});

test("opens another store for each test that needs it, and closes all of them", async () => {
  let [opened, closed] = [0, 0];
  const createStore = () => Object.assign(new MemorySessionStore(), { close: () => closed++ });
  const another = (store: SessionStore) => {
    opened += 1;
    return store;
  };
  for (const { run } of sessionStoreContract(createStore, { another })) await run();
  expect(opened).toBeGreaterThan(3);
  expect(closed).toBe(sessionStoreContract(createStore).length);
});

test("refuses unknown options", () => {
  const options = { claim: true } as object;
  expect(() => sessionStoreContract(() => new MemorySessionStore(), options)).toThrow("claim");
});

class SortingStore extends MemorySessionStore {
  override append(id: string, record: object, by?: RecordWriter): Promise<void> {
    return super.append(id, Object.fromEntries(Object.entries(record).sort()), by);
  }
}

/** A store with neither claims nor checkpoints. */
class PlainStore implements SessionStore {
  readonly #store = new MemorySessionStore();
  append = (id: string, record: object, by?: RecordWriter) => this.#store.append(id, record, by);
  read = (id: string) => this.#store.read(id);
  list = () => this.#store.list();
  delete = (id: string) => this.#store.delete(id);
}

type Faults = {
  readonly [Name in "append" | "claim" | "delete"]?: (
    store: MemorySessionStore,
    ...all: Parameters<MemorySessionStore[Name]>
  ) => ReturnType<MemorySessionStore[Name]>;
};

/** Returns a store in memory whose methods are replaced. */
function spoil(faults: Faults): SessionStore {
  const store = new MemorySessionStore();
  const replaced = Object.entries(faults).map(([name, fault]) => [
    name,
    (...all: never) => (fault as (...all: unknown[]) => unknown)(store, ...(all as unknown[])),
  ]);
  const rest = {
    append: store.append.bind(store),
    read: store.read.bind(store),
    list: store.list.bind(store),
    delete: store.delete.bind(store),
    claim: store.claim.bind(store),
    readCheckpoint: store.readCheckpoint.bind(store),
    writeCheckpoint: store.writeCheckpoint.bind(store),
  };
  return { ...rest, ...Object.fromEntries(replaced) };
}
