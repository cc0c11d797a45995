import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "../errors.ts";
import { isPlainObject } from "../freeze.ts";
import type { TokenUsage } from "../usage.ts";
import { defaultPrices } from "./default-prices.ts";
import { checkPriceTable, type ModelPrice, type PriceTable } from "./price-table.ts";

/** The part of a hosted call that decides its price. Every `HostedCall` has it. */
export interface PricedCall {
  /** Kind of the tool, such as `"web_search"`. */
  readonly kind: string;
  /** Container in which the call ran. @default none */
  readonly containerId?: string | undefined;
  /** The provider's item. @default unknown */
  readonly raw?: object | undefined;
}

/** Options of {@link estimateCost}. */
export interface EstimateCostOptions {
  /** The model that was used, as the adapter or the provider names it. */
  readonly model: string;
  /** The prices. @default defaultPrices */
  readonly prices?: PriceTable | undefined;
  /**
   * Time that containers ran.
   * @default 5 minutes, the least that OpenAI bills, in the first tier of the table for each container of the calls
   */
  readonly containers?: readonly ContainerTime[] | undefined;
}

/** How long a container ran. */
export interface ContainerTime {
  /** Memory tier, such as `"1g"`. @default the first of the price table */
  readonly tier?: string | undefined;
  /** Minutes. Started minutes count as whole ones, and OpenAI bills at least 5. */
  readonly minutes: number;
}

/** The cost of a run, according to a price table. */
export interface CostEstimate {
  /** The sum of `parts` in US dollars, or `null` if the price table does not have the model. */
  readonly usd: number | null;
  /**
   * The summands: `"input"`, `"cachedInput"` and `"output"` tokens, each kind of hosted call that has a price, and
   * `"containers"`. Parts that cost nothing are omitted. For a model that the table does not have, the parts without
   * tokens.
   */
  readonly parts: readonly CostPart[];
}

/** One part of a {@link CostEstimate}. */
export interface CostPart {
  /** Name of the part. */
  readonly name: string;
  /** Its cost in US dollars. */
  readonly usd: number;
}

const optionKeys: KnownKeys<EstimateCostOptions> = { containers: true, model: true, prices: true };
const containerKeys: KnownKeys<ContainerTime> = { minutes: true, tier: true };

/**
 * Estimates what tokens, hosted calls and containers cost, from a price table. Cached input tokens have their own
 * price; reasoning tokens are output tokens. `usd` is `null` if the table does not have the model.
 *
 * @example
 * ```ts
 * import { definePrompt, estimateCost } from "weakincentives";
 * import { OpenAIAdapter } from "weakincentives/openai";
 *
 * const adapter = new OpenAIAdapter({ model: "gpt-5.2" });
 * const prompt = definePrompt({ name: "demo:haiku", instructions: "Write a haiku about owls." });
 * const { usage, hostedCalls } = await adapter.evaluate(prompt);
 * const { usd, parts } = estimateCost(usage, hostedCalls, { model: adapter.model });
 * console.log(usd, parts);
 * ```
 */
export function estimateCost(
  usage: TokenUsage,
  hostedCalls: readonly PricedCall[],
  options: EstimateCostOptions,
): CostEstimate {
  const { model, prices, containers } = resolveOptions(options);
  const price = findModelPrice(model, prices);
  const tokens = price ? priceTokens(usage, price) : [];
  const times = containers ?? countContainers(hostedCalls);
  const parts = [...tokens, ...priceCalls(hostedCalls, prices), ...priceContainers(times, prices)];
  const paid = parts.filter(({ usd }) => usd > 0).map((part) => Object.freeze(part));
  return Object.freeze({ usd: price ? sumParts(paid) : null, parts: Object.freeze(paid) });
}

/** Returns the price of a model: that of the longest prefix of its name. `null` if there is none. */
export function findModelPrice(model: string, prices: PriceTable): ModelPrice | null {
  const table = foundPrices.get(prices) ?? new Map<string, ModelPrice | null>();
  foundPrices.set(prices, table);
  const found = table.get(model);
  if (found !== undefined) return found;
  const [prefix] = Object.keys(prices.models)
    .filter((name) => model.startsWith(name))
    .sort((one, other) => other.length - one.length);
  const price = prefix === undefined ? null : (prices.models[prefix] ?? null);
  if (table.size >= MAX_FOUND_PRICES) table.clear(); // providers choose the names
  table.set(model, price);
  return price;
}

const MAX_FOUND_PRICES = 64;
/** Prices by table and model. Tables are frozen. */
const foundPrices = new WeakMap<PriceTable, Map<string, ModelPrice | null>>();

/** The least time for which OpenAI bills a container, in minutes. */
export const MIN_CONTAINER_MINUTES = 5;

/** Returns the cost of tokens. The usage may be of several requests, if they used the same model. */
export function priceTokens(
  { inputTokens, cachedTokens, outputTokens }: TokenUsage,
  price: ModelPrice,
): readonly CostPart[] {
  const cached = Math.min(cachedTokens, inputTokens);
  return [
    { name: "input", usd: ((inputTokens - cached) * price.input) / 1e6 },
    { name: "cachedInput", usd: (cached * price.cachedInput) / 1e6 },
    { name: "output", usd: (outputTokens * price.output) / 1e6 },
  ];
}

/** Returns the cost of hosted calls by kind, without the containers in which they ran. */
export function priceCalls(
  calls: readonly PricedCall[],
  { hosted }: PriceTable,
): readonly CostPart[] {
  const prices = new Map(Object.entries(hosted));
  const sums = new Map<string, number>();
  for (const call of calls) {
    const usd = prices.get(call.kind) ?? 0;
    if (usd > 0 && isBilled(call)) sums.set(call.kind, (sums.get(call.kind) ?? 0) + usd);
  }
  return [...sums].map(([name, usd]) => ({ name, usd }));
}

/** Returns the cost of containers, together. */
export function priceContainers(
  times: readonly ContainerTime[],
  { containerMinute = {} }: PriceTable,
): readonly CostPart[] {
  const [first = ""] = Object.keys(containerMinute);
  const usd = times.reduce((sum, { tier, minutes }) => {
    const name = tier !== undefined && Object.hasOwn(containerMinute, tier) ? tier : first;
    return sum + Math.ceil(minutes) * (containerMinute[name] ?? 0);
  }, 0);
  return [{ name: "containers", usd }];
}

/** Adds up the parts of a cost. */
export function sumParts(parts: readonly CostPart[]): number {
  return parts.reduce((sum, { usd }) => sum + usd, 0);
}

/** Whether the provider bills a call: OpenAI bills searches of the web, and not the pages that are opened then. */
function isBilled({ kind, raw }: PricedCall): boolean {
  if (kind !== "web_search" || !raw || !("action" in raw)) return true;
  const { action } = raw;
  return !isPlainObject(action) || action["type"] === undefined || action["type"] === "search";
}

function countContainers(calls: readonly PricedCall[]): readonly ContainerTime[] {
  const ids = new Set(calls.map(({ containerId }) => containerId).filter((id) => id !== undefined));
  return Array.from(ids, () => ({ minutes: MIN_CONTAINER_MINUTES }));
}

function resolveOptions(
  options: EstimateCostOptions,
): Omit<EstimateCostOptions, "prices"> & { readonly prices: PriceTable } {
  checkKnownKeys(options, "estimateCost(options)", optionKeys);
  const { model, containers } = options;
  const field = "estimateCost(options)";
  if (typeof model !== "string" || model === "") {
    const [rule, remedy] = ["must be a model's name", "pass the adapter's model"];
    throw new InvalidOptionError({ field: `${field}.model`, value: model, rule, remedy });
  }
  for (const [index, time] of (containers ?? []).entries())
    checkTime(time, `${field}.containers[${index}]`);
  const prices =
    options.prices === undefined || options.prices === defaultPrices
      ? defaultPrices
      : checkPriceTable(options.prices, `${field}.prices`);
  return { model, containers, prices };
}

function checkTime(time: ContainerTime, field: string): void {
  checkKnownKeys(time, field, containerKeys);
  if (Number.isFinite(time.minutes) && time.minutes >= 0) return;
  throw new InvalidOptionError({
    field: `${field}.minutes`,
    value: time.minutes,
    rule: "must be a number of minutes, 0 or more",
    remedy: "omit containers to count the containers of the calls",
  });
}
