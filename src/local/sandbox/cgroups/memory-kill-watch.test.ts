import { expect, test } from "vitest";
import { fakeClock } from "../../../testing/fake-clock.ts";
import { MemoryKillWatch } from "./memory-kill-watch.ts";
import type { ResourceGroup } from "./resource-control.ts";

function createWatch(countMemoryKills: () => number) {
  const clock = fakeClock();
  const killed = Promise.withResolvers<void>();
  const group: ResourceGroup = {
    wrap: (command) => ({ command, environment: {} }),
    onStart: () => {},
    freeze: () => {},
    thaw: () => {},
    countMemoryKills,
    kill: () => killed.resolve(),
    remove: async () => {},
  };
  return { clock, killed: killed.promise, watch: new MemoryKillWatch(group, clock) };
}

test("A memory kill during a run ends the whole group, and is reported once", async () => {
  let kills = 0;
  const { clock, killed, watch } = createWatch(() => kills);
  const run = watch.runWatched(() => killed);
  await clock.advance(20);
  kills = 1;
  await clock.advance(20);
  await run;
  expect(watch.ranOutOfMemory()).toBe(true);
  expect(watch.ranOutOfMemory()).toBe(false);
});

test("The watch ends with the group", async () => {
  const { clock, watch } = createWatch(() => {
    throw new Error("ENOENT");
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  const run = watch.runWatched(() => promise);
  await clock.advance(20);
  resolve();
  await run;
  expect(() => watch.ranOutOfMemory()).toThrow("ENOENT");
});
