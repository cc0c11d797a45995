import { expect, test } from "vitest";
import { storeRun } from "../../../tests/support/cli/stored-run.ts";
import { createLoop, openTestFleet } from "../../../tests/support/fleet/fleet-fixture.ts";
import { SessionStoreError } from "../../session/session-store.ts";
import { DatabaseSessionStore } from "./database-session-store.ts";
import { openSessionDatabase } from "./open-session-database.ts";
import { openSource } from "./open-source.ts";

test("a run of a fleet keeps its session until it has ended", async () => {
  await using opened = await openTestFleet("folder");
  const { fleet, options } = opened;
  const { schema = "", folder = "" } = options;
  const loop = createLoop();
  const worker = opened.work([loop]);
  const done = await fleet.enqueue(loop, { n: 1 });
  await fleet.result(done.id);
  await worker.stop();
  const waiting = await fleet.enqueue(loop, { n: 2 });
  await fleet.close(); // one process, and one database object, at a time

  const { database } = await openSessionDatabase({ kind: "fleet", path: folder }, schema);
  await using store = new DatabaseSessionStore({ database, schema });
  const failure = await store.delete(waiting.id).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(SessionStoreError);
  expect(failure).toMatchObject({
    sessionId: waiting.id,
    message: `Session ${waiting.id} belongs to a run of the loop "${loop.name}" that is waiting. Cancel it first: wink fleet cancel ${waiting.id}.`,
  });
  expect(await store.list()).toEqual([done.id]);
  await store.delete(done.id);
  expect(await store.list()).toEqual([]);
});

test("sessions in a schema without a fleet are stored, listed and deleted", async () => {
  await using opened = await openTestFleet("folder");
  const { folder = "" } = opened.options;
  await opened.fleet.close();
  const place = { kind: "fleet", path: folder } as const;
  await expect(openSessionDatabase(place, "own")).rejects.toThrow(
    /has no sessions: there is no table own\.record\./,
  );
  const { database, label } = await openSessionDatabase(place, "own", { create: true });
  expect(label).toBe(folder);
  const id = crypto.randomUUID();
  {
    await using store = new DatabaseSessionStore({ database, schema: "own" });
    for (const one of ["nightly", id]) await storeRun(store, one);
  }
  {
    await using source = await openSource({ target: folder, schema: "own" });
    const { sessions } = await source.list();
    expect(sessions.map((session) => session.id).sort()).toEqual([id, "nightly"].sort());
    expect(sessions).toMatchObject([{ run: null }, { run: null }]);
  }
  const again = await openSessionDatabase(place, "own");
  await using store = new DatabaseSessionStore({ database: again.database, schema: "own" });
  for (const one of ["nightly", id]) await store.delete(one);
  expect(await store.list()).toEqual([]);
});
