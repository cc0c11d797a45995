import { InvalidOptionError } from "../base/errors.ts";
import type { UnknownRecord } from "../base/reading.ts";
import { checkKeys, checkText, oneOf, optional } from "../tools/config-checks.ts";

/** How the model works. */
export interface ClaudeModelConfig {
  /** How much the model thinks before it answers. @default the model's own */
  readonly effort?: "low" | "medium" | "high" | "xhigh" | "max" | undefined;
  /** The most tokens of one answer. @default the SDK's own */
  readonly maxOutputTokens?: number | undefined;
  /** The model to use when the first one is overloaded. @default none */
  readonly fallbackModel?: string | undefined;
  /** The most that an evaluation may cost, by the SDK's estimate. The SDK ends it above that. @default no limit */
  readonly maxBudgetUsd?: number | undefined;
}

/** Throws if a model config is invalid. */
export function checkModelConfig(config: ClaudeModelConfig): ClaudeModelConfig {
  checkKeys<ClaudeModelConfig>(config, "ClaudeAgentSDKAdapter.modelConfig", {
    effort: optional(oneOf(["low", "medium", "high", "xhigh", "max"])),
    maxOutputTokens: optional(checkWhole),
    fallbackModel: optional(checkText),
    maxBudgetUsd: optional(checkPositive),
  });
  return config;
}

/** Converts a model config to the SDK's options. */
export function modelOptions(model: string | null, config: ClaudeModelConfig): UnknownRecord {
  const { effort, fallbackModel, maxBudgetUsd } = config;
  return Object.fromEntries(
    Object.entries({ model: model ?? undefined, effort, fallbackModel, maxBudgetUsd }).filter(
      ([, value]) => value !== undefined,
    ),
  );
}

/** Converts the settings that the SDK reads from environment variables. */
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
