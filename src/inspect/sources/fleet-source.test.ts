import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  createLoop,
  fleetDatabases,
  openTestFleet,
} from "../../../tests/support/fleet/fleet-fixture.ts";
import { FollowedSession } from "../followed-session.ts";
import { openSource } from "./open-source.ts";

describe.each(fleetDatabases)("the sessions of a fleet in %s", (_name, kind, isAvailable) => {
  test.skipIf(!isAvailable)(
    "are listed with the states of their runs, and opened by their ids",
    async () => {
      await using opened = await openTestFleet(kind);
      const { fleet, options } = opened;
      const loop = createLoop({ model: { text: "Done." } });
      const worker = opened.work([loop]);
      const done = await fleet.enqueue(loop, { n: 1 });
      await fleet.result(done.id);
      await worker.stop();
      const waiting = await fleet.enqueue(loop, { n: 2 });
      const { schema, folder, postgres } = options;
      if (folder !== undefined) await fleet.close(); // one process, and one database object, at a time

      const target = String(folder ?? postgres);
      const bytes = Buffer.from("kept");
      const digest = createHash("sha256").update(bytes).digest("hex");
      const files = await mkdtemp(join(tmpdir(), "wink-files-"));
      onTestFinished(() => rm(files, { recursive: true, force: true }));
      await mkdir(join(files, "blobs"));
      await writeFile(join(files, "blobs", digest), bytes);
      const source = await openSource({ target, schema, files });
      onTestFinished(() => source[Symbol.asyncDispose]());
      const { sessions } = await source.list();
      expect(sessions).toHaveLength(2);
      expect(sessions).toEqual(
        expect.arrayContaining([
          expect.objectContaining({
            id: done.id,
            run: expect.objectContaining({ state: "done", loop: loop.name, attempt: 1 }),
          }),
          expect.objectContaining({
            id: waiting.id,
            run: expect.objectContaining({ state: "waiting", attempt: 0, error: null }),
          }),
        ]),
      );
      const feed = await source.open(done.id);
      expect(await (feed && new FollowedSession(done.id, feed).load())).toMatchObject({
        state: "done",
        turns: 1,
        answer: { text: "Done." },
      });
      expect(await feed?.readBytes?.("0".repeat(64), 1)).toBeNull();
      // The database does not have this file: --files does.
      expect(Buffer.from((await feed?.readBytes?.(digest, 4)) ?? []).toString()).toBe("kept");
      expect(await source.open(waiting.id)).toBeNull();
      await source[Symbol.asyncDispose]();

      await expect(openSource({ target, schema: "nowhere" })).rejects.toThrow(
        /has no sessions: there is no table nowhere\.record\. Pass the URL/,
      );
    },
  );
});

test("a failed run is listed with its error, and a session of no run without one", async () => {
  await using opened = await openTestFleet("folder");
  const { fleet, options, query } = opened;
  const loop = createLoop({ model: new Error("The oven is cold") });
  const worker = opened.work([loop]);
  const { id } = await fleet.enqueue(loop, { n: 1 });
  await opened.reach(id, "failed");
  await worker.stop();
  await query("insert into wink.session (id, next) values ('of-a-program', 1)");
  await query(
    "insert into wink.record select key, 0, '{}' from wink.session where id = 'of-a-program'",
  );
  await fleet.close(); // one process, and one database object, at a time
  const source = await openSource({ target: String(options.folder), schema: options.schema });
  onTestFinished(() => source[Symbol.asyncDispose]());
  const { sessions } = await source.list();
  expect(sessions).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        id,
        run: expect.objectContaining({
          state: "failed",
          error: expect.stringMatching(/^PromptEvaluationError: .*The oven is cold/),
        }),
      }),
      { id: "of-a-program", createdAt: null, run: null },
    ]),
  );
});
