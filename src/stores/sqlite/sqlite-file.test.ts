import {
  chownSync,
  linkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  catchError,
  createPath,
  openFile,
  openStore,
  readAll,
} from "../../../tests/support/stores/sqlite-stores.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { toSqliteError } from "./sqlite-errors.ts";
import { SqliteSessionStore } from "./sqlite-session-store.ts";

const isRoot = process.getuid?.() === 0;

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
    expect(message).toContain(
      "it is damaged, or the database of another program. Restore a backup of it",
    );
  });

  test("is refused if it was truncated", async () => {
    const path = createPath();
    const store = new SqliteSessionStore(path);
    for (const n of [0, 1, 2]) await store.append("s", { n, text: "x".repeat(100_000) });
    await store.close();
    for (const size of [200_000, 5_000, 50]) {
      truncateSync(path, size);
      const { message } = await catchError(readAll(openStore(path)));
      expect(message).toContain(`The database ${path} cannot be used: `);
      expect(message).toMatch(/Restore a backup of it, or use another path\.$/);
    }
  });

  test("is refused if another program has removed a table", async () => {
    const path = createPath();
    const store = openStore(path);
    await store.append("s", { n: 0 });
    openFile(path).exec("DROP TABLE record");
    const { message } = await catchError(openStore(path).append("s", { n: 1 }));
    expect(message).toContain("no such table: record. Restore a backup of it");
    openFile(path).exec("DROP TABLE session; PRAGMA user_version = 0");
    const again = await catchError(openStore(path).append("s", { n: 1 }));
    expect(again.message).toContain("already exists. Restore a backup of it");
  });

  test("is refused if a newer release has written it", async () => {
    const path = createPath();
    await openStore(path).append("s", { n: 0 });
    openFile(path).exec("PRAGMA user_version = 2");
    const { message } = await catchError(openStore(path).list());
    expect(message).toContain("a newer release has written it (version 2). Update weakincentives");
  });

  test("names the folder to fix if it is below a file", async () => {
    const path = createPath();
    writeFileSync(path, "");
    const { message } = await catchError(openStore(join(path, "s.sqlite")).append("s", {}));
    expect(message).toMatch(/Use a path in a folder that the store can write to\.$/);
  });

  test.each([
    ["ENOSPC", "Free space on that disk, then reopen the session with Session.open."],
    ["EROFS", "That disk is read-only: use a directory on another one."],
  ])("is reported with the remedy for %s", (code, remedy) => {
    const cause = Object.assign(new Error("open failed"), { code });
    const { message } = toSqliteError(cause, "/data/s.sqlite");
    expect(message).toBe(`The database /data/s.sqlite cannot be used: open failed. ${remedy}`);
  });

  test("is refused to two callers at once, and to one that waits while the store is closed", async () => {
    const path = createPath();
    writeFileSync(path, "no database, but long enough to have the header of one".repeat(100));
    const damaged = openStore(path);
    await Promise.all([catchError(damaged.list()), catchError(damaged.list())]);
    const other = createPath();
    await openStore(other).append("s", { n: 0 });
    const closed = openStore(other);
    const listing = catchError(closed.list());
    await closed.close();
    expect((await listing).message).toContain("is closed. Create a new SqliteSessionStore.");
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
    await expect.poll(() => ticks).toBeGreaterThan(2); // waiting does not block the process
    sqlite.exec("ROLLBACK");
    await appended;
    clearInterval(timer);
    expect(await readAll(store)).toEqual([{ n: 0 }, { n: 1 }]);
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
