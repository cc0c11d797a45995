import { InvalidOptionError } from "../base/errors.ts";
import type { UnknownRecord } from "../base/json.ts";
import { checkKeys, checkSingleLine, enumCheck, optional } from "../tools/config-checks.ts";

/** Settings of the model. */
export interface ClaudeModelConfig {
  /** How much the model thinks before it answers. @default the model's default */
  readonly effort?: "low" | "medium" | "high" | "xhigh" | "max" | undefined;
  /** The maximum number of tokens in one response. @default the SDK's limit */
  readonly maxOutputTokens?: number | undefined;
  /** The model to use when the main model has no capacity. @default none */
  readonly fallbackModel?: string | undefined;
  /** The cost, by the SDK's estimate, above which the SDK ends an evaluation. @default no limit */
  readonly maxBudgetUsd?: number | undefined;
}

/** Throws if a model config is invalid. Otherwise returns it. */
export function checkModelConfig(config: ClaudeModelConfig): ClaudeModelConfig {
  checkKeys<ClaudeModelConfig>(config, "ClaudeAgentSDKAdapter.modelConfig", {
    effort: optional(enumCheck(["low", "medium", "high", "xhigh", "max"])),
    maxOutputTokens: optional(checkPositiveInteger),
    fallbackModel: optional(checkSingleLine),
    maxBudgetUsd: optional(checkPositiveNumber),
  });
  return config;
}

/** Converts a model config to the SDK's options. */
export function toModelOptions(model: string | null, config: ClaudeModelConfig): UnknownRecord {
  const { effort, fallbackModel, maxBudgetUsd } = config;
  return Object.fromEntries(
    Object.entries({ model: model ?? undefined, effort, fallbackModel, maxBudgetUsd }).filter(
      ([, value]) => value !== undefined,
    ),
  );
}

/** Converts model settings to the environment variables that the SDK reads. */
export function toModelVariables({ maxOutputTokens }: ClaudeModelConfig): Record<string, string> {
  return maxOutputTokens === undefined
    ? {}
    : { CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(maxOutputTokens) };
}

function checkPositiveInteger(value: unknown, field: string): void {
  if (Number.isSafeInteger(value) && Number(value) > 0) return;
  const remedy = "omit it for the SDK's limit";
  throw new InvalidOptionError({ field, value, rule: "must be a positive integer", remedy });
}

function checkPositiveNumber(value: unknown, field: string): void {
  if (typeof value === "number" && Number.isFinite(value) && value > 0) return;
  const remedy = "omit it for no limit";
  throw new InvalidOptionError({ field, value, rule: "must be a positive number", remedy });
}
