import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { holdFolder } from "../../../tests/support/fleet/hold-folder.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { openFolderDatabase } from "./folder-database.ts";

/** Starts a process that holds the folder, and waits until it has it. */
async function holdOpen(folder: string) {
  const holder = holdFolder(folder);
  onTestFinished(() => void holder.child.kill("SIGKILL"));
  await expect.poll(() => holder.read()).toMatch(/^open \d+\n/);
  return holder;
}

test("refuses a folder that another process has open, and takes it over with all rows when that is killed", async () => {
  const folder = temporaryTree();
  const holder = await holdOpen(folder);
  await expect(openFolderDatabase(folder)).rejects.toThrow(
    new RegExp(`is open in process ${holder.child.pid} on .*use PostgreSQL for several processes`),
  );
  await expect.poll(() => holder.read()).toContain("\n20\n");
  holder.child.kill("SIGKILL");
  await holder.ended;
  const printed = Number(/(\d+)\n(?:\d*)$/.exec(holder.read())?.[1]);
  await using database = await openFolderDatabase(folder);
  const { rows } = await database.query("select count(*) as n from entry where n <= $1", [printed]);
  expect(rows).toEqual([{ n: String(printed) }]);
});

test("opens a folder whose creation was interrupted", async () => {
  const folder = temporaryTree();
  const holder = holdFolder(folder);
  await expect.poll(() => readdirSync(folder)).toContain("new-data");
  holder.child.kill("SIGKILL");
  await holder.ended;
  writeFileSync(join(folder, "new-data", "PG_VERSION"), "18\n");
  await using database = await openFolderDatabase(folder);
  expect((await database.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  expect(readdirSync(folder)).not.toContain("new-data");
});

test("lets the process exit by itself once it is closed, with no output of PGlite", async () => {
  const holder = holdFolder(temporaryTree(), "--close");
  expect(await holder.ended).toBe(0);
  expect(holder.read()).toBe("open 0\n");
});

test("releases the folder when the process exits without closing it", async () => {
  const folder = temporaryTree();
  const holder = holdFolder(folder, "--exit");
  expect(await holder.ended).toBe(0);
  expect(readdirSync(folder)).toEqual(["data"]);
});
