import { chownSync, linkSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import { SessionStoreError } from "../../session/session-store.ts";
import { sessionStoreContract } from "../../testing/session-store-contract.ts";
import { identifyHolder } from "../sql/identify-holder.ts";
import { SqliteSessionStore, type SqliteSessionStoreOptions } from "./sqlite-session-store.ts";

afterEach(() => void vi.restoreAllMocks());

const isRoot = process.getuid?.() === 0;

function openStore(path: string, options?: SqliteSessionStoreOptions): SqliteSessionStore {
  const store = new SqliteSessionStore(path, options);
  onTestFinished(() => store.close());
  return store;
}

function createPath(): string {
  return join(temporaryTree(), "sessions.sqlite");
}

/** Opens the file with another program. */
function openFile(path: string): DatabaseSync {
  const sqlite = new DatabaseSync(path);
  onTestFinished(() => sqlite.close());
  return sqlite;
}

async function catchError(work: Promise<unknown>): Promise<SessionStoreError> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof SessionStoreError) return error;
  throw new Error("there was no SessionStoreError", { cause: error });
}

async function readAll(store: SqliteSessionStore): Promise<object[]> {
  const records: object[] = [];
  for await (const record of store.read("s")) records.push(record);
  return records;
}

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

describe("the file of a SqliteSessionStore", () => {
  test("is created with its folder by the first write, private to its owner", async () => {
    const folder = join(temporaryTree(), "a/b");
    const store = openStore(join(folder, "s.sqlite"));
    expect([await store.list(), await store.readCheckpoint("s")]).toEqual([[], null]);
    await store.delete("s");
    expect(() => statSync(folder)).toThrow("ENOENT");
    await store.append("s", { n: 0 });
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const suffix of ["", "-wal", "-shm"]) {
      expect(statSync(join(folder, `s.sqlite${suffix}`)).mode & 0o777).toBe(0o600);
    }
  });

  test("becomes private if others could read it, and commits reach the disk", async () => {
    const path = createPath();
    writeFileSync(path, "", { mode: 0o644 });
    await openStore(path).append("s", { n: 0 });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const sqlite = openFile(path);
    expect(sqlite.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  });

  test.each(["", "-wal", "-shm", "-journal"])("is refused if %j is a symlink", async (suffix) => {
    const path = createPath();
    writeFileSync(`${path}.other`, "");
    symlinkSync(`${path}.other`, `${path}${suffix}`);
    const { message } = await catchError(openStore(path).append("s", { n: 0 }));
    expect(message).toContain("is a symlink, not a file. Remove it");
    expect(statSync(`${path}.other`).size).toBe(0);
  });

  test("is refused if it is a folder or has several names", async () => {
    const path = createPath();
    writeFileSync(path, "");
    linkSync(path, `${path}.other`);
    expect((await catchError(openStore(path).list())).message).toContain(
      "has 2 names (hard links)",
    );
    const folder = temporaryTree();
    expect((await catchError(openStore(folder).list())).message).toContain("it is not a file");
  });

  test.runIf(isRoot)("is refused if it belongs to another user", async () => {
    const path = createPath();
    writeFileSync(path, "");
    chownSync(path, 12345, 12345);
    const { message } = await catchError(openStore(path).list());
    expect(message).toContain("it belongs to another user (uid 12345)");
  });

  test("is refused if it is no database, or that of another program", async () => {
    const path = createPath();
    writeFileSync(path, "no database, but long enough to have the header of one".repeat(100));
    const damaged = await catchError(openStore(path).list());
    expect(damaged.message).toContain("file is not a database. Restore a backup of it");
    const other = createPath();
    openFile(other).exec("CREATE TABLE session (id)");
    const { message } = await catchError(openStore(other).append("s", { n: 0 }));
    expect(message).toContain("it is the database of another program. Use another path.");
  });

  test("is refused if a newer release has written it", async () => {
    const path = createPath();
    await openStore(path).append("s", { n: 0 });
    openFile(path).exec("PRAGMA user_version = 2");
    const { message } = await catchError(openStore(path).list());
    expect(message).toContain("a newer release has written it (version 2). Update weakincentives");
  });

  test("can be opened after a failure has been fixed", async () => {
    const path = createPath();
    writeFileSync(path, "no database, but long enough to have the header of one".repeat(100));
    const store = openStore(path);
    await catchError(store.list());
    rmSync(path);
    await store.append("s", { n: 0 });
    expect(await store.list()).toEqual(["s"]);
  });

  test("rejects writes after it was deleted, instead of losing them", async () => {
    const path = createPath();
    const store = openStore(path);
    await store.append("s", { n: 0 });
    rmSync(path);
    const { message } = await catchError(store.append("s", { n: 1 }));
    expect(message).toContain("was deleted or replaced while it was open");
  });

  test("is waited for while another connection has locked it", async () => {
    const path = createPath();
    const store = openStore(path);
    await store.append("s", { n: 0 });
    const sqlite = openFile(path);
    sqlite.exec("BEGIN IMMEDIATE");
    const appended = store.append("s", { n: 1 });
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    sqlite.exec("ROLLBACK");
    await appended;
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(2); // waiting does not block the process
  });

  test("is opened by ten stores at once", async () => {
    const path = createPath();
    const stores = Array.from({ length: 10 }, () => openStore(path));
    await Promise.all(stores.map((store, index) => store.append(`s${index}`, { n: 0 })));
    expect(await stores[0]?.list()).toHaveLength(10);
  });

  test("that was damaged is reported with the record's number", async () => {
    const path = createPath();
    const store = openStore(path);
    await store.append("s", { n: 0 });
    await store.writeCheckpoint("s", { n: 0 });
    openFile(path).exec("UPDATE record SET record = '{'; UPDATE checkpoint SET checkpoint = '[]'");
    const { message } = await catchError(readAll(store));
    expect(message).toMatch(/^Record 0 of session "s" is damaged: .*; restore a backup of it\.$/);
    const checkpoint = await catchError(store.readCheckpoint("s"));
    expect(checkpoint.message).toContain('The checkpoint of session "s" is damaged: it is [');
  });
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

  test("refuses records that are not JSON or larger than 128 MiB", async () => {
    const store = openStore(createPath());
    const wrong = await catchError(store.append("s", { toJSON: () => 7 }));
    expect(wrong.message).toContain('A record of session "s" is not JSON: it is 7');
    const large = await catchError(store.append("s", { text: "é".repeat(70 * 1024 ** 2) }));
    expect(large.message).toContain("is larger than 134,217,728 bytes");
    expect(await store.list()).toEqual([]);
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

  test("is extended by a timer, and the timer stops when the claim is lost", async () => {
    const path = createPath();
    const [old, next] = [openStore(path, { leaseMs: 300 }), openStore(path)];
    const claim = await old.claim("s");
    await new Promise((resolve) => setTimeout(resolve, 700));
    await catchError(next.claim("s"));
    takeOver(path, "UPDATE session SET fence = 99, lease_until = 1");
    await new Promise((resolve) => setTimeout(resolve, 250));
    const taken = await next.claim("s");
    await claim.release();
    await catchError(old.claim("s"));
    await taken.release();
  });
});
