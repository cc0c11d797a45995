import { describe, expect, test } from "vitest";
import { noUsage, toUsage } from "../usage.ts";
import { defaultPrices } from "./default-prices.ts";
import { estimateCost, findModelPrice } from "./estimate-cost.ts";
import type { PriceTable } from "./price-table.ts";

const prices: PriceTable = {
  date: "2026-01-01",
  models: {
    gpt: { input: 1, cachedInput: 0.1, output: 10 },
    "gpt-mini": { input: 0.5, cachedInput: 0.25, output: 2 },
  },
  hosted: { web_search: 0.01, file_search: 0.002 },
  containerMinute: { "1g": 0.001, "4g": 0.004 },
};
const million = 1_000_000;

describe("estimateCost", () => {
  test("prices cached input apart from other input, and reasoning as output", () => {
    const usage = toUsage({
      ...{ inputTokens: 3 * million, cachedTokens: 2 * million },
      ...{ outputTokens: million, reasoningTokens: million / 2 },
    });
    expect(estimateCost(usage, [], { model: "gpt-large", prices })).toEqual({
      usd: 1 + 0.2 + 10,
      parts: [
        { name: "input", usd: 1 },
        { name: "cachedInput", usd: 0.2 },
        { name: "output", usd: 10 },
      ],
    });
  });

  test("uses the longest prefix of the model's name", () => {
    const usage = toUsage({ inputTokens: million });
    expect(estimateCost(usage, [], { model: "gpt-mini-2026", prices }).usd).toBe(0.5);
    expect(estimateCost(usage, [], { model: "gpt-nano", prices }).usd).toBe(1);
    const any = { ...prices, models: { "": { input: 7, cachedInput: 7, output: 7 } } };
    expect(estimateCost(usage, [], { model: "anything", prices: any }).usd).toBe(7);
  });

  test("returns null for a model that the table does not have, with the parts that are known", () => {
    const usage = toUsage({ inputTokens: million });
    const calls = [{ kind: "web_search" }];
    expect(estimateCost(usage, calls, { model: "llama", prices })).toEqual({
      usd: null,
      parts: [{ name: "web_search", usd: 0.01 }],
    });
  });

  test("prices each hosted call by its kind, and takes kinds without a price as free", () => {
    const calls = ["web_search", "file_search", "web_search", "mcp", "toString"];
    const hosted = calls.map((kind) => ({ kind }));
    expect(estimateCost(noUsage, hosted, { model: "gpt", prices }).parts).toEqual([
      { name: "web_search", usd: 0.02 },
      { name: "file_search", usd: 0.002 },
    ]);
  });

  test("bills searches of the web, and not the pages that are opened then", () => {
    const toCall = (action: unknown) => ({ kind: "web_search", raw: { action } });
    const actions = [{ type: "search" }, { type: "open_page" }, { type: "find_in_page" }, null, {}];
    const { usd } = estimateCost(noUsage, actions.map(toCall), { model: "gpt", prices });
    expect(usd).toBeCloseTo(0.03);
  });

  test("counts five minutes of the first tier for each container of the calls", () => {
    const calls = ["a", "b", "a", undefined].map((containerId) => ({ kind: "shell", containerId }));
    const { parts } = estimateCost(noUsage, calls, { model: "gpt", prices });
    expect(parts).toEqual([{ name: "containers", usd: 0.01 }]);
  });

  test("prices container time by tier in whole minutes, and unknown tiers as the first", () => {
    const containers = [
      { tier: "4g", minutes: 1.5 },
      { tier: "2g", minutes: 3 },
    ];
    const { usd } = estimateCost(noUsage, [], { model: "gpt", prices, containers });
    expect(usd).toBeCloseTo(2 * 0.004 + 3 * 0.001);
    const { containerMinute: _, ...without } = prices;
    expect(estimateCost(noUsage, [], { model: "gpt", prices: without, containers }).usd).toBe(0);
  });

  test("returns frozen data", () => {
    const estimate = estimateCost(toUsage({ inputTokens: 1 }), [], { model: "gpt-5.2" });
    expect([estimate, estimate.parts, estimate.parts[0]].every(Object.isFrozen)).toBe(true);
  });

  test.each([
    [{ model: "" }, 'estimateCost(options).model must be a model\'s name, got "".'],
    [{ model: "m", price: 1 }, 'estimateCost(options) key must be a known option, got "price".'],
    [{ model: "m", prices: 5 }, "estimateCost(options).prices must be an object, got 5."],
    [{ model: "m", containers: [{ minutes: -1 }] }, "containers[0].minutes must be a number of"],
    [{ model: "m", prices: { ...prices, date: "" } }, "prices.date must be a date"],
    [{ model: "m", prices: { ...prices, models: [] } }, "prices.models must be an object, got []."],
    [{ model: "m", prices: { ...prices, models: { a: 1 } } }, 'models["a"] must be an object'],
    [
      { model: "m", prices: { ...prices, models: { a: { input: 1, output: 1 } } } },
      'models["a"].cachedInput must be a number of US dollars, 0 or more, got undefined.',
    ],
    [
      { model: "m", prices: { ...prices, containerMinute: { "1g": "0" } } },
      'prices.containerMinute["1g"] must be a number of US dollars, 0 or more',
    ],
  ])("rejects %j", (options, message) => {
    expect(() => estimateCost(noUsage, [], options as never)).toThrow(message);
  });
});

describe("defaultPrices", () => {
  test("has valid prices, which are cheaper for cached input or the same", () => {
    const usage = toUsage({ inputTokens: 1 });
    expect(estimateCost(usage, [], { model: "o3", prices: { ...defaultPrices } }).usd).toBe(2e-6);
    for (const { input, cachedInput, output } of Object.values(defaultPrices.models)) {
      expect(cachedInput).toBeLessThanOrEqual(input);
      expect(output).toBeGreaterThan(input);
    }
  });

  test.each([
    ["gpt-5", 1.25],
    ["gpt-5-2025-08-07", 1.25],
    ["gpt-5.2-2025-12-11", 1.75],
    ["gpt-5.9", 5],
    ["claude-opus-4-20250514", 15],
    ["claude-opus-4-5-20251101", 5],
    ["claude-sonnet-5-5", 2],
  ])("has a price for %s", (model, input) => {
    expect(findModelPrice(model, defaultPrices)?.input).toBe(input);
  });

  test.each(["gpt-7", "llama-3", "my-deployment", ""])("has no price for %j", (model) => {
    expect(findModelPrice(model, defaultPrices)).toBeNull();
  });
});
