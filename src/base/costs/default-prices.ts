import { deepFreeze } from "../freeze.ts";
import type { PriceTable } from "./price-table.ts";

/**
 * List prices of OpenAI and Anthropic on the table's `date`, for estimates. Prices change, and a contract may have
 * others: pass your own table where the figure matters.
 *
 * Sources: developers.openai.com/api/docs/pricing and platform.claude.com/docs/en/about-claude/pricing, and public
 * reports of both pages. Standard tier and short prompts: batch, flex, priority and fast tiers, the higher rates of
 * long prompts (OpenAI above 272,000 tokens, Claude Haiku 5.5 above 100,000), cache writes, audio and images are not
 * in the table. Models without a discount for cached input have the same price for it.
 *
 * @example
 * ```ts
 * import { Budget, defaultPrices } from "weakincentives";
 *
 * const own = { "my-deployment": { input: 1, cachedInput: 0.1, output: 8 } };
 * const prices = { ...defaultPrices, date: "2026-12-01", models: { ...defaultPrices.models, ...own } };
 * const budget = new Budget({ maxUsd: 2, prices });
 * ```
 */
export const defaultPrices: PriceTable = deepFreeze({
  date: "2026-10-27",
  models: {
    // OpenAI
    "gpt-6.1-sol": { input: 2, cachedInput: 0.1, output: 10 },
    "gpt-6.1-terra": { input: 1, cachedInput: 0.05, output: 5 },
    "gpt-6-astra": { input: 10, cachedInput: 1, output: 50 },
    "gpt-6-sol": { input: 2, cachedInput: 0.2, output: 10 },
    "gpt-6-luna": { input: 0.1, cachedInput: 0.01, output: 0.5 },
    "gpt-5.6-sol": { input: 4, cachedInput: 0.4, output: 20 }, // promised until 2026-11-21; 5, 0.5 and 30 before
    "gpt-5.6-terra": { input: 2, cachedInput: 0.2, output: 12 },
    "gpt-5.6-luna": { input: 0.2, cachedInput: 0.02, output: 1.2 },
    "gpt-5.5-pro": { input: 30, cachedInput: 30, output: 180 },
    "gpt-5.5": { input: 5, cachedInput: 0.5, output: 30 },
    "gpt-5.4-pro": { input: 30, cachedInput: 30, output: 180 },
    "gpt-5.4-mini": { input: 0.75, cachedInput: 0.075, output: 4.5 },
    "gpt-5.4-nano": { input: 0.2, cachedInput: 0.02, output: 1.25 },
    "gpt-5.4": { input: 2.5, cachedInput: 0.25, output: 15 },
    "gpt-5.3-codex": { input: 1.75, cachedInput: 0.175, output: 14 },
    "gpt-5.2-pro": { input: 21, cachedInput: 21, output: 168 },
    "gpt-5.2": { input: 1.75, cachedInput: 0.175, output: 14 },
    "gpt-5.1-codex-mini": { input: 0.25, cachedInput: 0.025, output: 2 },
    "gpt-5.1": { input: 1.25, cachedInput: 0.125, output: 10 },
    // The rest of the family at its highest price, so that a later model is not taken for gpt-5.
    "gpt-5.": { input: 5, cachedInput: 0.5, output: 30 },
    "gpt-5-pro": { input: 15, cachedInput: 15, output: 120 },
    "gpt-5-mini": { input: 0.25, cachedInput: 0.025, output: 2 },
    "gpt-5-nano": { input: 0.05, cachedInput: 0.005, output: 0.4 },
    "gpt-5": { input: 1.25, cachedInput: 0.125, output: 10 },
    "gpt-4.1-mini": { input: 0.4, cachedInput: 0.1, output: 1.6 },
    "gpt-4.1-nano": { input: 0.1, cachedInput: 0.025, output: 0.4 },
    "gpt-4.1": { input: 2, cachedInput: 0.5, output: 8 },
    "gpt-4o-mini": { input: 0.15, cachedInput: 0.075, output: 0.6 },
    "gpt-4o": { input: 2.5, cachedInput: 1.25, output: 10 },
    "o4-mini": { input: 1.1, cachedInput: 0.275, output: 4.4 },
    "o3-pro": { input: 20, cachedInput: 20, output: 80 },
    "o3-mini": { input: 1.1, cachedInput: 0.55, output: 4.4 },
    o3: { input: 2, cachedInput: 0.5, output: 8 },
    "o1-pro": { input: 150, cachedInput: 150, output: 600 },
    "o1-mini": { input: 1.1, cachedInput: 0.55, output: 4.4 },
    o1: { input: 15, cachedInput: 7.5, output: 60 },
    // Anthropic. The Claude adapter uses the SDK's own figure where there is one.
    "claude-fable-5-1": { input: 10, cachedInput: 0.25, output: 50 },
    "claude-fable-5": { input: 10, cachedInput: 1, output: 50 },
    "claude-mythos-5-1": { input: 10, cachedInput: 0.25, output: 50 },
    "claude-mythos-5": { input: 10, cachedInput: 1, output: 50 },
    "claude-opus-5-5": { input: 4, cachedInput: 0.2, output: 20 },
    "claude-opus-5": { input: 5, cachedInput: 0.5, output: 25 },
    "claude-opus-4-8": { input: 5, cachedInput: 0.5, output: 25 },
    "claude-opus-4-7": { input: 5, cachedInput: 0.5, output: 25 },
    "claude-opus-4-6": { input: 5, cachedInput: 0.5, output: 25 },
    "claude-opus-4-5": { input: 5, cachedInput: 0.5, output: 25 },
    "claude-opus-4": { input: 15, cachedInput: 1.5, output: 75 },
    "claude-sonnet-5-5": { input: 2, cachedInput: 0.1, output: 10 },
    "claude-sonnet-5": { input: 2, cachedInput: 0.2, output: 10 },
    "claude-sonnet-4": { input: 3, cachedInput: 0.3, output: 15 },
    "claude-haiku-5-5": { input: 0.1, cachedInput: 0.01, output: 0.5 },
    "claude-haiku-4-5": { input: 1, cachedInput: 0.1, output: 5 },
    "claude-3-5-haiku": { input: 0.8, cachedInput: 0.08, output: 4 },
  },
  // Kinds that are not listed cost only their tokens: image generation, remote MCP and computer use, for example.
  hosted: { web_search: 0.01, file_search: 0.0025 },
  // 0.03, 0.12, 0.48 and 1.92 USD for 20 minutes, billed by the minute.
  containerMinute: { "1g": 0.0015, "4g": 0.006, "16g": 0.024, "64g": 0.096 },
});
