import { statSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  catchError,
  createPath,
  openFile,
  openStore,
  readAll,
} from "../../../tests/support/stores/sqlite-stores.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import { sessionStoreContract } from "../../testing/session-store-contract.ts";
import { identifyHolder } from "../sql/identify-holder.ts";
import { SqliteSessionStore } from "./sqlite-session-store.ts";

afterEach(() => void vi.restoreAllMocks());

describe("SqliteSessionStore passes the contract:", () => {
  const paths = new WeakMap<object, string>();
  const make = (path: string) => {
    const store = new SqliteSessionStore(path);
    paths.set(store, path);
    return store;
  };
  const another = (store: object) => make(paths.get(store) ?? "");
  for (const { name, run } of sessionStoreContract(() => make(createPath()), { another })) {
    test(name, run);
  }
});

describe("a SqliteSessionStore", () => {
  test.each(["", "a\0b", ":memory:", 7 as unknown as string])("refuses the path %j", (path) => {
    expect(() => new SqliteSessionStore(path)).toThrow(InvalidOptionError);
    expect(() => new SqliteSessionStore(path)).toThrow("must be the path of a file");
  });

  test.each([0, 99, 1.5, Number.NaN, 1e9])("refuses a lease of %d ms", (leaseMs) => {
    const create = () => new SqliteSessionStore("x.sqlite", { leaseMs });
    expect(create).toThrow("SqliteSessionStore.leaseMs must be a whole number of milliseconds");
  });

  test("names the remedy on a runtime without node:sqlite", async () => {
    vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined as never);
    const { message } = await catchError(openStore(createPath()).append("s", { n: 0 }));
    expect(message).toBe(
      "This runtime has no node:sqlite. Use Node 22.19 or later, or a JsonlSessionStore.",
    );
  });

  test("stores the pending records and releases its claims when it is closed", async () => {
    const path = createPath();
    const store = new SqliteSessionStore(path);
    const claim = await store.claim("s");
    const by = { writer: {}, position: 0, fence: claim.fence };
    const appended = store.append("s", { n: 0 }, by);
    await store[Symbol.asyncDispose]();
    await appended;
    await claim.release();
    await store.close();
    const closed = await catchError(store.append("s", { n: 1 }));
    expect(closed.message).toContain("is closed. Create a new SqliteSessionStore.");
    const next = openStore(path);
    await (await next.claim("s")).release();
    expect(await readAll(next)).toEqual([{ n: 0 }]);
  });

  test("refuses records after a failed one of the same writer, though others continue", async () => {
    const store = openStore(createPath());
    const writer = {};
    const [first, second, other] = await Promise.allSettled([
      store.append("s", { n: 5 }, { writer, position: 5 }),
      store.append("s", { n: 0 }, { writer, position: 0 }),
      store.append("t", { n: 0 }),
    ]);
    expect([first.status, second.status, other.status]).toEqual([
      "rejected",
      "rejected",
      "fulfilled",
    ]);
    await catchError(store.append("s", { n: 0 }, { writer, position: 0 }));
    await catchError(store.writeCheckpoint("s", {}, { writer, position: 1 }));
    await catchError(store.writeCheckpoint("s", {}, { writer: {}, position: 9 }));
    await catchError(store.writeCheckpoint("none", {}));
  });

  test.each([
    ["empty", ""],
    ["129 bytes long", "x".repeat(129)],
    ["10 MB long", "x".repeat(10_000_000)],
    ["a lone surrogate", "\ud800"],
    ["a number", 7],
    ["an object with toString", { toString: () => "s" }],
    ["a text with NUL", "a\0b"],
  ])("refuses an id that is %s, with every method", async (_name, value) => {
    const path = createPath();
    const store = openStore(path);
    const id = value as string;
    const works = [
      store.append(id, {}),
      store.read(id)[Symbol.asyncIterator]().next(),
      store.delete(id),
      store.claim(id),
      store.readCheckpoint(id),
      store.writeCheckpoint(id, {}),
    ];
    for (const work of works) {
      const { message } = await catchError(work);
      expect(message).toMatch(
        /^The id of a .* must .*, got .{1,200}\. Use a different session id\.$/,
      );
    }
    expect(() => statSync(path)).toThrow("ENOENT");
  });

  test("keeps sessions with the names of files and SQL apart", async () => {
    const store = openStore(createPath());
    const ids = [
      "../s",
      "/etc/passwd",
      "'; DROP TABLE session; --",
      "s",
      "S",
      "é",
      "e\u0301",
      "%",
      "_",
    ];
    for (const id of ids) await store.append(id, { id });
    for (const id of ids) {
      expect(await store.read(id)[Symbol.asyncIterator]().next()).toMatchObject({ value: { id } });
    }
    expect(await store.list()).toHaveLength(ids.length);
  });

  test("stores 60 MB of one tick in several transactions", async () => {
    const store = openStore(createPath());
    const writer = {};
    const records = [0, 1, 2].map((n) => ({ n, text: "x".repeat(20_000_000) }));
    await Promise.all(
      records.map((record) => store.append("s", record, { writer, position: record.n })),
    );
    expect(await readAll(store)).toEqual(records);
  });

  test("stores 150,000 records of one tick", async () => {
    const store = openStore(createPath());
    const text = "x".repeat(200);
    await Promise.all(Array.from({ length: 150_000 }, (_, n) => store.append("s", { n, text })));
    const claim = await store.claim("s");
    expect(claim.records).toBe(150_000);
  });

  test("refuses records that are not JSON or larger than 128 MiB", async () => {
    const store = openStore(createPath());
    const wrong = await catchError(store.append("s", { toJSON: () => 7 }));
    expect(wrong.message).toContain('A record of session "s" is not JSON: it is 7');
    const large = await catchError(store.append("s", { text: "é".repeat(70 * 1024 ** 2) }));
    expect(large.message).toContain("is larger than 134,217,728 bytes");
    expect(await store.list()).toEqual([]);
  });

  test("reads each record once from a negative number on", async () => {
    const store = openStore(createPath());
    for (const n of [0, 1]) await store.append("s", { n });
    const records: object[] = [];
    for await (const record of store.read("s", { from: -1 })) records.push(record);
    expect(records).toEqual([{ n: 0 }, { n: 1 }]);
  });

  test("reports a session that is deleted while it is read in pages", async () => {
    const store = openStore(createPath());
    for (const n of [0, 1, 2]) await store.append("s", { n, text: "x".repeat(2 ** 20) });
    const records = store.read("s")[Symbol.asyncIterator]();
    await records.next();
    await store.delete("s");
    await store.append("s", { n: 0 });
    const { message } = await catchError(records.next());
    expect(message).toBe(
      'Session "s" was deleted while it was read. Open it again, or create it again.',
    );
  });
});

describe("the claim of a SqliteSessionStore", () => {
  const takeOver = (path: string, sql: string) => openFile(path).exec(sql);

  test("of a process that has ended is replaced at once, and the fence refuses it", async () => {
    const path = createPath();
    const [old, next] = [openStore(path), openStore(path)];
    const lost = await old.claim("s", { owner: "old" });
    const ended = identifyHolder().replace(/"pid":\d+/, '"pid":999999999');
    takeOver(path, `UPDATE session SET holder = '${ended}'`);
    const claim = await next.claim("s", { owner: "new" });
    expect(claim.fence).toBeGreaterThan(lost.fence);
    const by = { writer: {}, position: 0, fence: lost.fence };
    const error = await catchError(old.append("s", { n: 0 }, by));
    expect(error).toMatchObject({ owner: "new", since: claim.since, sessionId: "s" });
    expect(error.message).toContain("was claimed by new at");
    takeOver(path, `UPDATE session SET holder = '${ended}'`);
    await old.delete("s");
  });

  test("of another machine lasts until its lease has run out", async () => {
    const path = createPath();
    const [old, next] = [openStore(path), openStore(path)];
    await old.claim("s");
    for (const holder of ['{"pid":1,"started":"1","host":"other"}', "7", "{}"]) {
      takeOver(path, `UPDATE session SET holder = '${holder}'`);
      await catchError(next.claim("s"));
    }
    takeOver(path, "UPDATE session SET lease_until = 1");
    await (await next.claim("s")).release();
  });

  test("is extended while it is held, and only by its own fence", async () => {
    const path = createPath();
    const [old, next] = [openStore(path, { leaseMs: 100 }), openStore(path)];
    const claim = await old.claim("s");
    const read = () =>
      Number(openFile(path).prepare("SELECT lease_until FROM session").get()?.["lease_until"]);
    const first = read();
    await expect.poll(read).toBeGreaterThan(first);
    takeOver(path, "UPDATE session SET fence = 99, lease_until = 1");
    const taken = await next.claim("s");
    await claim.release();
    await catchError(old.claim("s"));
    await taken.release();
  });

  test("ends although its lease is far in the future, because the clock was set back", async () => {
    const path = createPath();
    const [old, next] = [openStore(path), openStore(path)];
    const lost = await old.claim("s");
    const later = Date.now() + 2 * 86_400_000;
    takeOver(path, `UPDATE session SET holder = '{}', lease_until = ${later}`);
    const claim = await next.claim("s");
    const by = { writer: {}, position: 0, fence: lost.fence };
    await catchError(old.append("s", { n: 0 }, by));
    await claim.release();
  });

  test("ends early if the clock jumps ahead, and the fence keeps the old holder out", async () => {
    const path = createPath();
    const [old, next] = [openStore(path), openStore(path)];
    const lost = await old.claim("s");
    const now = Date.now();
    vi.spyOn(Date, "now").mockReturnValue(now + 3_600_000);
    const claim = await next.claim("s");
    vi.restoreAllMocks();
    const by = { writer: {}, position: 0, fence: lost.fence };
    expect((await catchError(old.append("s", { n: 0 }, by))).message).toContain("was claimed by");
    await claim.release();
  });
});
