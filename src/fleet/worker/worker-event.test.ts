import { expect, test } from "vitest";
import { collectWarnings } from "../../../tests/support/fleet/fleet-fixture.ts";
import { notifyListener, type WorkerEvent } from "./worker-event.ts";

const event: WorkerEvent = {
  ...{ type: "WorkerDraining", running: 0, worker: 1 },
  createdAt: "2026-01-01T00:00:00.000Z",
};

test("a listener that throws or rejects is a warning", async () => {
  const warnings = collectWarnings();
  notifyListener(() => {
    throw new Error("The log is full.");
  }, event);
  notifyListener(async () => {
    throw new Error("The log is closed.");
  }, event);
  notifyListener(undefined, event);
  const failed = "onEvent of a fleet's worker failed";
  const expected = [`${failed}: The log is full.`, `${failed}: The log is closed.`];
  await expect.poll(() => warnings).toEqual(expect.arrayContaining(expected));
});
