import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fleetDatabases } from "../../../tests/support/fleet/fleet-fixture.ts";
import type { FleetDatabase } from "../database/fleet-database.ts";
import { openFolderDatabase } from "../database/folder-database.ts";
import { openPostgresDatabase } from "../database/postgres-database.ts";
import { Notifications } from "./notifications.ts";

const postgres = process.env["WINK_POSTGRES"] ?? "";
const never = new AbortController().signal;

describe.each(fleetDatabases)("the messages of a fleet on %s", (_name, kind, isAvailable) => {
  describe.runIf(isAvailable)("while it is open", () => {
    let database: FleetDatabase;
    let folder = "";
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "wink-messages-"));
      database =
        kind === "folder"
          ? await openFolderDatabase(join(folder, "database"))
          : await openPostgresDatabase({ postgres });
    });
    afterAll(async () => {
      await database.close();
      await rm(folder, { recursive: true, force: true });
    });

    const send = async (channel: string, payload: string) => {
      await database.query("select pg_notify($1, $2)", [channel, payload]);
    };

    test("reach every listener until it is disposed, and damaged ones are empty", async () => {
      const notifications = new Notifications(database, "messages_a");
      const received: unknown[] = [];
      const subscription = notifications.subscribe((message) => received.push(message));
      await expect.poll(() => received).toEqual([null]); // messages may have been missed before
      for (const payload of ['{"type":"wake"}', "no JSON", "[1]"])
        await send("messages_a", payload);
      await send("messages_b", '{"type":"other"}');
      await expect.poll(() => received).toEqual([null, { type: "wake" }, {}, {}]);
      subscription[Symbol.dispose]();
      const last = Promise.withResolvers<void>();
      notifications.subscribe(() => last.resolve());
      await send("messages_a", '{"type":"wake"}');
      await last.promise;
      expect(received).toHaveLength(4);
      await notifications.close();
    });

    test("end a wait when one is awaited, when time is over, when the signal aborts, and at the end", async () => {
      const notifications = new Notifications(database, "messages_c");
      const isAwaited = (message: object | null) => message !== null && "id" in message;
      let isOver = false;
      const waiting = notifications.wait(60_000, { isAwaited, signal: never }).then(() => {
        isOver = true;
      });
      await send("messages_c", '{"type":"wake"}');
      expect(isOver).toBe(false);
      await expect
        .poll(async () => {
          await send("messages_c", '{"type":"run","id":"a"}'); // the connection may not listen yet
          return isOver;
        })
        .toBe(true);
      await waiting;
      await notifications.wait(1, { isAwaited, signal: never });
      await notifications.wait(60_000, { isAwaited, signal: AbortSignal.abort() });
      const stop = new AbortController();
      const stopped = notifications.wait(60_000, { isAwaited, signal: stop.signal });
      stop.abort();
      await stopped;
      const open = notifications.wait(60_000, { isAwaited: () => true, signal: never });
      await notifications.close();
      await open;
      expect(notifications.isClosed).toBe(true);
      await notifications.wait(60_000, { isAwaited, signal: never });
    });
  });
});

describe.runIf(postgres !== "")("the messages of a fleet on PostgreSQL", () => {
  test("are replaced by polling if there are no lasting connections", async () => {
    await using database = await openPostgresDatabase({ postgres, direct: false });
    const notifications = new Notifications(database, "messages_d");
    await notifications.wait(1, { isAwaited: () => true, signal: never });
    await notifications.close();
  });
});
