import { describe, expect, test } from "vitest";
import { collectWarnings } from "../../../tests/support/fleet/fleet-fixture.ts";
import {
  findPostgresPrograms,
  startPostgres,
} from "../../../tests/support/fleet/postgres-server.ts";
import { openPostgresDatabase } from "../database/postgres-database.ts";
import { Notifications } from "./notifications.ts";

describe.runIf(findPostgresPrograms() !== null)("the messages of a fleet", () => {
  test("arrive again after PostgreSQL was down, with a warning, and listeners are told", async () => {
    const warnings = collectWarnings();
    await using server = await startPostgres();
    await using database = await openPostgresDatabase({ postgres: server.place.url });
    const notifications = new Notifications(database, "messages");
    const received: unknown[] = [];
    const subscription = notifications.subscribe((message) => received.push(message));
    await expect.poll(() => received).toEqual([null]);
    await server.crash();
    await expect.poll(() => warnings.length).toBeGreaterThan(0);
    expect(warnings[0]).toMatch(
      /^The fleet's notifications are interrupted; polling continues: PostgreSQL at .* cannot be used/,
    );
    await server.start();
    await expect.poll(() => received).toEqual([null, null]);
    await database.query("select pg_notify('messages', $1)", ['{"type":"drain"}']);
    await expect.poll(() => received.at(-1)).toEqual({ type: "drain" });
    subscription[Symbol.dispose]();
    await notifications.close();
  });
});
