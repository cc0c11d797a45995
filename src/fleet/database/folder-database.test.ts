import { chmodSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runAsPlainUser, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { FleetError } from "../fleet-error.ts";
import { openFolderDatabase } from "./folder-database.ts";

const REMEDY = "Close it there first, or use PostgreSQL for several processes.";

async function catchError(work: Promise<unknown>): Promise<Error> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof Error) return error;
  throw new Error("there was no error", { cause: error });
}

test("creates a private folder and keeps its data", async () => {
  const folder = join(temporaryTree(), "a/b");
  const listeners = process.listenerCount("exit");
  {
    await using database = await openFolderDatabase(folder);
    await database.runScript("create table t (n int); insert into t values (1)");
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, "data")).mode & 0o777).toBe(0o700);
    expect(readdirSync(folder).sort()).toEqual(["data", "lock"]);
    expect(process.listenerCount("exit")).toBe(listeners + 1);
  }
  expect(process.listenerCount("exit")).toBe(listeners);
  expect(readdirSync(folder)).toEqual(["data"]);
  await using database = await openFolderDatabase(folder);
  expect((await database.query("select n from t")).rows).toEqual([{ n: 1 }]);
});

test("refuses a folder that this process has open, until it is closed", async () => {
  const folder = temporaryTree();
  chmodSync(folder, 0o755);
  const database = await openFolderDatabase(folder);
  const error = await catchError(openFolderDatabase(folder));
  expect(error).toBeInstanceOf(FleetError);
  expect(error.message).toBe(
    `The fleet in ${folder} is open in this process (pid ${process.pid}). ${REMEDY}`,
  );
  expect(statSync(join(folder, "data")).mode & 0o777).toBe(0o700); // also where others may read the folder
  await database.close();
  await (await database.connect())?.ended;
  await (await openFolderDatabase(folder)).close();
});

test("lets one of several concurrent openers have a folder", async () => {
  const folder = temporaryTree();
  const opened = await Promise.allSettled([1, 2, 3].map(() => openFolderDatabase(folder)));
  const databases = opened.filter(({ status }) => status === "fulfilled");
  expect(databases.length).toBeLessThanOrEqual(1);
  for (const one of opened) if (one.status === "fulfilled") await one.value.close();
});

test("refuses a file and a symlink instead of a folder", async () => {
  const folder = temporaryTree({ file: "", real: null });
  symlinkSync(join(folder, "real"), join(folder, "link"));
  for (const name of ["file", "link"]) {
    const error = await catchError(openFolderDatabase(join(folder, name)));
    expect(error).toBeInstanceOf(FilesystemError);
    expect(error.message).toContain(join(folder, name));
    expect(error.message).toContain("Use a folder that only this user can write to.");
  }
});

test("refuses a folder that this user cannot write to", async () => {
  const folder = temporaryTree({ fleet: null });
  chmodSync(folder, 0o755);
  chmodSync(join(folder, "fleet"), 0o555);
  const { message } = await runAsPlainUser(() =>
    catchError(openFolderDatabase(join(folder, "fleet"))),
  );
  expect(message).toMatch(
    /^The folder .* cannot be locked: EACCES.*Use a folder that this user can write to\.$/,
  );
});

test("refuses a folder whose lock is not a folder", async () => {
  const folder = temporaryTree({ lock: "" });
  const { message } = await catchError(openFolderDatabase(folder));
  expect(message).toMatch(
    /^The folder .* cannot be locked: .*Use a folder that this user can write/,
  );
});

test.each(["", 7, undefined])("refuses %j as a folder", async (folder) => {
  const { message } = await catchError(openFolderDatabase(folder as string));
  expect(message).toMatch(
    /^Fleet\.open\(options\)\.folder must be the path of a folder, got .*Use/,
  );
});

test("says how to install PGlite if it is missing, and creates nothing", async () => {
  const folder = temporaryTree();
  const load = () => Promise.reject(new Error("Cannot find package '@electric-sql/pglite'"));
  const error = await catchError(openFolderDatabase(join(folder, "fleet"), load));
  expect(error).toBeInstanceOf(FleetError);
  expect(error.message).toBe("PGlite is not installed. Run npm install @electric-sql/pglite.");
  expect(readdirSync(folder)).toEqual([]);
});

test("names the version of files that PGlite cannot open, and releases the folder", async () => {
  const folder = temporaryTree({ "data/PG_VERSION": "99\n" });
  const error = await catchError(openFolderDatabase(folder));
  expect(error).toBeInstanceOf(FleetError);
  expect(error.message).toMatch(
    /^PGlite cannot open .*\. Its files are of PostgreSQL 99\. Install the version of @electric-sql\/pglite that wrote them, or use another folder\.$/,
  );
  expect(readdirSync(folder)).toEqual(["data"]);
});

test("reports that PGlite cannot create a database, and releases the folder", async () => {
  const folder = temporaryTree();
  const create = () => Promise.reject(new Error("out of memory"));
  const error = await catchError(openFolderDatabase(folder, async () => ({ PGlite: { create } })));
  expect(error.message).toMatch(/^PGlite cannot open .*: out of memory\. Install the version/);
  expect(readdirSync(folder)).toEqual(["new-data"]);
});
