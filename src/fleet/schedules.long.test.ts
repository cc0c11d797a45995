import { describe, expect, test } from "vitest";
import { createLoop, listRuns, openTestFleet } from "../../tests/support/fleet/fleet-fixture.ts";
import { Fleet } from "./fleet.ts";

const MINUTE_MS = 60_000;

describe.runIf(process.env["WINK_POSTGRES"] !== undefined)("a schedule on PostgreSQL", () => {
  test("creates exactly one run per minute with two workers, each for its own minute", {
    timeout: 6 * MINUTE_MS,
  }, async () => {
    await using scene = await openTestFleet("postgres");
    await using other = await Fleet.open(scene.options);
    const loop = createLoop();
    await scene.fleet.schedule(loop, "* * * * *", { n: 1 });
    scene.work([loop]);
    const stop = new AbortController();
    const working = other.worker([loop], { graceMs: 5_000 }).run({ signal: stop.signal });
    const list = () => listRuns(scene.fleet, { loop: loop.name });
    await expect.poll(list, { timeout: 5 * MINUTE_MS, interval: 1_000 }).toHaveLength(4);
    const runs = (await list()).toReversed();
    const minutes = runs.map(({ key }) => Date.parse(key?.replace(/^schedule .* at /, "") ?? ""));
    const [first = Number.NaN] = minutes;
    expect(minutes).toEqual([0, 1, 2, 3].map((minute) => first + minute * MINUTE_MS));
    for (const [index, { id, createdAt }] of runs.entries()) {
      expect(await other.result(id)).toBe("done");
      const delay = Date.parse(createdAt) - (minutes[index] ?? 0);
      expect(delay).toBeLessThan(MINUTE_MS);
    }
    stop.abort();
    await working;
  });
});
