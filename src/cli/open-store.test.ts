import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  createLoop,
  fleetDatabases,
  openTestFleet,
} from "../../tests/support/fleet/fleet-fixture.ts";
import { temporaryTree } from "../../tests/support/temporary-tree.ts";
import { JsonlSessionStore } from "../stores/jsonl-session-store.ts";
import { SqliteSessionStore } from "../stores/sqlite/sqlite-session-store.ts";
import { openStore } from "./open-store.ts";

test("opens a folder and a SQLite file, whatever its name", async () => {
  const folder = temporaryTree({ sessions: null });
  const path = join(folder, "sessions.data");
  await using sqlite = new SqliteSessionStore(path);
  await sqlite.append("one", { n: 0 });
  await using files = await openStore(join(folder, "sessions"));
  await using database = await openStore(path);
  expect(files).toBeInstanceOf(JsonlSessionStore);
  expect(await files.list()).toEqual([]);
  expect(await database.list()).toEqual(["one"]);
});

test.each([
  ["a folder", "new/sessions"],
  ["a SQLite file", "new/sessions.sqlite"],
  ["a SQLite file", "new/sessions.db"],
])(
  "reading %s that is missing creates nothing, and writing creates it: %s",
  async (_kind, name) => {
    const folder = temporaryTree();
    const path = join(folder, name);
    await using store = await openStore(path);
    expect(await store.list()).toEqual([]);
    for await (const _record of store.read("one")) expect.unreachable();
    await store.delete("one");
    expect(existsSync(join(folder, "new"))).toBe(false);
    await store.append("one", { n: 0 });
    expect(existsSync(path)).toBe(true);
    await using again = await openStore(path);
    expect(await again.list()).toEqual(["one"]);
  },
);

test.each([
  ["a file that is no store", "a.jsonl", "--store must be a store of sessions, not a single file"],
  ["a path through a file", "a.jsonl/b", "--store must be a place that can be opened (ENOTDIR"],
  ["no place", "", "--store must be a path or a URL"],
])("refuses %s", async (_what, name, message) => {
  const folder = temporaryTree({ "a.jsonl": '{"kind":"session"}\n' });
  await expect(openStore(name && join(folder, name))).rejects.toThrow(message);
});

test("refuses the folder of a fleet for writing", async () => {
  const folder = temporaryTree({ "fleet/database/data/PG_VERSION": "17" });
  await expect(openStore(join(folder, "fleet"), { create: true })).rejects.toThrow(
    /^--store must not be the folder of a fleet, got .* Use wink fleet, or another folder/,
  );
});

const postgres = process.env["WINK_POSTGRES"];

test.skipIf(!postgres)("creates the tables of PostgreSQL for writing, once", async () => {
  const options = { schema: "open_store", create: true };
  for (const id of ["one", "two"]) {
    await using store = await openStore(postgres ?? "", options);
    await store.append(id, { n: 0 });
  }
  await using store = await openStore(postgres ?? "", { schema: "open_store" });
  expect((await store.list()).toSorted()).toEqual(["one", "two"]);
});

test("refuses a schema that is no name, and a URL without printing it", async () => {
  await expect(openStore(".", { schema: 'a"b' })).rejects.toThrow("--schema must be 1-63 letters");
  const error = await openStore("postgres://me:secret%zz@h/db").catch((one: Error) => one);
  expect(String(error)).toContain("--store must be a URL that starts with postgres://");
  expect(String(error)).not.toContain("secret%zz");
});

describe.each(fleetDatabases)("the sessions of a fleet in %s", (_name, kind, isAvailable) => {
  test.skipIf(!isAvailable)("can be deleted only after their runs have ended", async () => {
    await using opened = await openTestFleet(kind);
    const { fleet, options } = opened;
    const loop = createLoop({ model: { text: "Done." } });
    const worker = opened.work([loop]);
    const { id: done } = await fleet.enqueue(loop, { n: 1 });
    await fleet.result(done);
    await worker.stop();
    const { id: waiting } = await fleet.enqueue(loop, { n: 2 });
    const { schema, folder, postgres } = options;
    if (folder !== undefined) await fleet.close(); // one process, and one database object, at a time
    {
      await using store = await openStore(String(folder ?? postgres), { schema });
      await store.append(waiting, { n: 0 });
      await expect(store.delete(waiting)).rejects.toMatchObject({
        name: "SessionStoreError",
        sessionId: waiting,
        message: expect.stringContaining(
          `that is waiting. Cancel it first: wink fleet cancel ${waiting}.`,
        ),
      });
      await store.append("not-a-run", { n: 0 });
      for (const id of [done, "not-a-run"]) await store.delete(id);
      expect(await store.list()).toEqual([waiting]);
    }
    await expect(openStore(String(folder ?? postgres), { schema: "nowhere" })).rejects.toThrow(
      "has no sessions: there is no table nowhere.record",
    );
  });
});
