import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { collectWarnings, createLoop } from "../../../tests/support/fleet/fleet-fixture.ts";
import { startPgbouncer } from "../../../tests/support/fleet/pgbouncer.ts";
import {
  findPostgresPrograms,
  startPostgres,
} from "../../../tests/support/fleet/postgres-server.ts";
import { Fleet } from "../fleet.ts";

test.skipIf(!findPostgresPrograms())(
  "workers fall back to heartbeats and polling if PostgreSQL is only reached through pgbouncer",
  async (context) => {
    await using server = await startPostgres();
    await using bouncer = await startPgbouncer(server.place.url);
    if (!bouncer) return context.skip("needs pgbouncer: apt-get install pgbouncer");
    const warnings = collectWarnings();
    const filesFolder = await mkdtemp(join(tmpdir(), "wink-pooled-"));
    onTestFinished(() => rm(filesFolder, { recursive: true, force: true }));
    await using fleet = await Fleet.open({ postgres: bouncer.url, filesFolder });
    const loop = createLoop();
    const worker = fleet.worker([loop]);
    const working = worker.run();
    const readPresence = () =>
      fleet.transact(async (sql) => (await sql.query("select has_presence from wink.worker")).rows);
    await expect.poll(readPresence, { timeout: 40_000 }).toEqual([{ has_presence: false }]);
    const { id } = await fleet.enqueue(loop, { n: 1 });
    expect(await fleet.result(id)).toBe("done");
    expect(warnings.filter((text) => text.includes("pooler in transaction mode"))).toHaveLength(1);
    await worker.stop();
    await working;
  },
);
