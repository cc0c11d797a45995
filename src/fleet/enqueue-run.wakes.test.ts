import { expect, test } from "vitest";
import { createLoop, openTestFleet } from "../../tests/support/fleet/fleet-fixture.ts";
import { enqueueRun } from "./enqueue-run.ts";
import { closeFleet, openFleet } from "./open-fleet.ts";

test("enqueueing wakes the workers after the commit, and with a transaction when it commits", async () => {
  await using test = await openTestFleet("folder");
  const { folder, schema } = test.options;
  await test.fleet.close();
  const parts = await openFleet({ folder, schema });
  const messages: unknown[] = [];
  using _subscription = parts.notifications.subscribe((message) => {
    if (message) messages.push(message);
  });
  const { name: loop, version } = createLoop();
  const request = { loop, version, deadlineMs: undefined, request: { n: 1 } };
  const enqueueParts = { ...parts, maxWaiting: undefined };
  await enqueueRun(enqueueParts, request, { key: "first" });
  await expect.poll(() => messages).toEqual([{ type: "wake" }]);
  await enqueueRun(enqueueParts, request, { key: "first" });
  await parts.database.transact(async (sql) => {
    await enqueueRun(enqueueParts, request, { in: sql });
  });
  await expect.poll(() => messages).toEqual([{ type: "wake" }, { type: "wake" }]);
  await closeFleet(parts);
});
