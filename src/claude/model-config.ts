import { InvalidOptionError } from "../base/errors.ts";
import { checkKeys, checkText, oneOf, optional } from "../tools/config-checks.ts";
import type { Given } from "./given.ts";

/** How the model is to work. */
export interface ClaudeModelConfig {
  /** How much it thinks before it answers. @default the model's own */
  readonly effort?: "low" | "medium" | "high" | "xhigh" | "max" | undefined;
  /** Tokens of one answer. @default the SDK's own */
  readonly maxOutputTokens?: number | undefined;
  /** Another model for when the first is overloaded. @default none */
  readonly fallbackModel?: string | undefined;
  /** The SDK ends an evaluation that has cost more, by its own estimate. @default no limit */
  readonly maxBudgetUsd?: number | undefined;
}

/** Refuses what cannot be. */
export function checkModelConfig(config: ClaudeModelConfig): ClaudeModelConfig {
  checkKeys<ClaudeModelConfig>(config, "ClaudeAgentSDKAdapter.modelConfig", {
    effort: optional(oneOf(["low", "medium", "high", "xhigh", "max"])),
    maxOutputTokens: optional(checkWhole),
    fallbackModel: optional(checkText),
    maxBudgetUsd: optional(checkPositive),
  });
  return config;
}

/** As the SDK's options have it. */
export function modelOptions(model: string | null, config: ClaudeModelConfig): Given {
  const { effort, fallbackModel, maxBudgetUsd } = config;
  return Object.fromEntries(
    Object.entries({ model: model ?? undefined, effort, fallbackModel, maxBudgetUsd }).filter(
      ([, value]) => value !== undefined,
    ),
  );
}

/** What is not an option of the SDK, but a variable of its process. */
export function modelVariables({ maxOutputTokens }: ClaudeModelConfig): Record<string, string> {
  return maxOutputTokens === undefined
    ? {}
    : { CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(maxOutputTokens) };
}

function checkWhole(value: unknown, field: string): void {
  if (Number.isSafeInteger(value) && Number(value) > 0) return;
  const remedy = "leave it out for no limit of your own";
  throw new InvalidOptionError({ field, value, rule: "must be a positive whole number", remedy });
}

function checkPositive(value: unknown, field: string): void {
  if (typeof value === "number" && Number.isFinite(value) && value > 0) return;
  const remedy = "leave it out for no limit of your own";
  throw new InvalidOptionError({ field, value, rule: "must be a positive number", remedy });
}
