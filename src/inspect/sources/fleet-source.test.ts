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
      const source = await openSource({ target, schema });
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
      expect(await source.open(waiting.id)).toBeNull();
      await source[Symbol.asyncDispose]();

      await expect(openSource({ target, schema: "nowhere" })).rejects.toThrow(
        /has no sessions: there is no table nowhere\.record\. Pass the URL/,
      );
    },
  );
});
