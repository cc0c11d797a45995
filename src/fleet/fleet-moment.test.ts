import { expect, test } from "vitest";
import { createLoop, openTestFleet } from "../../tests/support/fleet/fleet-fixture.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import { FLEET_MOMENTS, onFleetMoment } from "./fleet-moment.ts";
import type { WatchedFleetOptions } from "./open-fleet.ts";

test("a test learns every moment and barrier of an attempt, in order", async () => {
  const moments: string[] = [];
  const options: Partial<WatchedFleetOptions> = {
    [onFleetMoment]: (moment, runId) => void moments.push(`${moment} ${runId}`),
  };
  await using test = await openTestFleet("folder", options);
  const tool = new Tool({
    name: "charge",
    description: "Charges.",
    params: null,
    handler: () => ToolResult.ok("charged"),
  });
  const loop = createLoop({
    tools: [tool],
    model: ({ turn }) => (turn === 1 ? { toolCalls: [{ name: "charge" }] } : { text: "done" }),
  });
  const { id } = await test.fleet.enqueue(loop, { n: 1 });
  test.work([loop]);
  await test.fleet.result(id);
  await expect.poll(() => moments.at(-1)).toBe(`run-settled ${id}`);
  const evaluation = ["claimed", "turn-completed", "calls-started", "turn-completed", "executed"];
  const [fetched, claimed, ...end] = FLEET_MOMENTS;
  const expected = [fetched, claimed, ...evaluation, ...end];
  expect(moments).toEqual(expected.map((moment) => `${moment} ${id}`));
});
