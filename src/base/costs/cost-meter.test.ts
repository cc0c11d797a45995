import { expect, test } from "vitest";
import { completeTurn, type ScriptedTurn } from "../../testing/scripted-turn.ts";
import { noUsage, toUsage } from "../usage.ts";
import { CostMeter } from "./cost-meter.ts";
import type { PriceTable } from "./price-table.ts";

const prices: PriceTable = {
  date: "2026-01-01",
  models: { gpt: { input: 1, cachedInput: 1, output: 1 } },
  hosted: { web_search: 0.5 },
  containerMinute: { "1g": 0.01, "4g": 0.1 },
};
const minute = 60_000;
const usage = { inputTokens: 1_000_000 };
const createTurn = (turn: ScriptedTurn) => completeTurn({ model: "gpt-x", ...turn }, 1);
const at = (startedAt: number, endedAt = startedAt) => ({ startedAt, endedAt });

test("estimates turns without a figure from the price table", () => {
  const costs = new CostMeter({ prices });
  expect(costs.total).toBeNull();
  const hostedCalls = [{ name: "search", kind: "web_search" }];
  expect(costs.add(createTurn({ usage, hostedCalls }), at(0))).toBe(1.5);
  expect(costs.add(createTurn({ usage }), at(0))).toBe(1);
  expect([costs.total, costs.date]).toEqual([2.5, "2026-01-01"]);
});

test("takes the provider's figure for the turns before it that have none", () => {
  const costs = new CostMeter({ prices });
  expect(costs.add(createTurn({ usage }), at(0))).toBe(1);
  expect(costs.add(createTurn({ usage, costUsd: 3 }), at(0))).toBe(2);
  expect(costs.total).toBe(3);
});

test("never attributes less than nothing to a turn, and reports the provider's figure as the total", () => {
  const costs = new CostMeter({ prices });
  costs.add(createTurn({ usage }), at(0));
  expect(costs.add(createTurn({ costUsd: 0.25 }), at(0))).toBe(0);
  expect(costs.total).toBe(0.25);
});

test("prefers the caller's name for the model to the provider's, and uses either", () => {
  const known = new CostMeter({ prices, model: "gpt" });
  expect(known.add(createTurn({ usage, model: "unknown" }), at(0))).toBe(1);
  const reported = new CostMeter({ prices, model: "my-deployment" });
  expect(reported.add(createTurn({ usage }), at(0))).toBe(1);
  expect(reported.add(createTurn({ usage, model: null }), at(0))).toBe(1); // as before
  expect(reported.addUsage(toUsage(usage))).toBe(1);
  expect(reported.total).toBe(3);
});

test("does not know the cost of a model without a price", () => {
  const costs = new CostMeter({ prices });
  expect(costs.add(createTurn({ usage, model: "llama" }), at(0))).toBeNull();
  expect(costs.addUsage(toUsage(usage))).toBeNull();
  expect(costs.addUsage(noUsage)).toBe(0);
  expect(costs.total).toBeNull();
});

test("charges each container for five minutes, then for each further minute", () => {
  const costs = new CostMeter({ prices });
  const run = (id: string, containerTier?: string) =>
    createTurn({ containerTier, hostedCalls: [{ name: "python", containerId: id }] });
  expect(costs.add(run("a"), at(0, minute))).toBeCloseTo(0.05);
  expect(costs.add(run("a"), at(2 * minute, 3 * minute))).toBe(0);
  expect(costs.add(run("a"), at(3 * minute, 7 * minute))).toBeCloseTo(0.02);
  expect(costs.add(run("b", "4g"), at(7 * minute, 8 * minute))).toBeCloseTo(0.5);
});

test("charges containers without hosted calls once, also after the last turn", () => {
  const costs = new CostMeter({ prices });
  const containerIds = ["a"];
  expect(costs.add(createTurn({ containerIds, containerTier: "4g" }), at(0, minute))).toBeCloseTo(
    0.5,
  );
  const hostedCalls = [{ name: "python", containerId: "a" }];
  expect(costs.add(createTurn({ containerIds, hostedCalls }), at(minute, 2 * minute))).toBe(0);
  const used = { containerIds: ["a", "b"], containerTier: "4g" };
  expect(costs.addUsage(noUsage, used, 3 * minute)).toBeCloseTo(0.5); // only "b" is new
  expect(costs.addUsage(noUsage, used, 7 * minute)).toBeCloseTo(0.2); // two more minutes of "a"
  expect(costs.total).toBeCloseTo(1.2);
});

test("adds turns of an earlier process with their stored cost, or an estimate", () => {
  const costs = new CostMeter({ prices });
  costs.addEarlier(createTurn({ usage, costUsd: 0.1 }));
  costs.addEarlier(createTurn({ usage }));
  costs.addEarlier(createTurn({ usage, model: "llama" }));
  expect(costs.total).toBeCloseTo(1.1); // the last turn has no price
  costs.raise(5);
  costs.raise(1);
  expect(costs.add(createTurn({ usage }), at(0))).toBe(1);
  expect(costs.total).toBe(6);
});
