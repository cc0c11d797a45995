import { PromptValidationError } from "../../base/errors.ts";
import {
  checkBoolean,
  checkKeys,
  enumCheck,
  integerCheck,
  optional,
} from "../../tools/config-checks.ts";
import { findContextWindow } from "./context-windows.ts";

/** Configures when and how a long conversation is compacted. */
export interface CompactionConfig {
  /** Whether to compact conversations. @default true */
  readonly enabled?: boolean | undefined;
  /**
   * Compacts a conversation with more tokens than this. At least 1,000 for `"server"`. Set either this
   * or `thresholdRatio`. @default 100_000
   */
  readonly thresholdTokens?: number | undefined;
  /**
   * Compacts a conversation that fills more than this part of the model's context window: more than 0
   * and at most 1, such as 0.7. @default `thresholdTokens` is used
   */
  readonly thresholdRatio?: number | undefined;
  /**
   * The model's context window in tokens, for `thresholdRatio`. Required there if the model is not
   * one of OpenAI's. @default from a table by the model's name
   */
  readonly contextWindow?: number | undefined;
  /** Zero data retention: the provider stores no responses. The guide lists the limits. @default false */
  readonly zdrMode?: boolean | undefined;
  /** Whether the adapter or the provider compacts. @default "endpoint" */
  readonly strategy?: CompactionStrategy | undefined;
  /** Allows file search and uploaded files in `zdrMode`. The provider stores those files. @default false */
  readonly allowStoredFiles?: boolean | undefined;
}

/** Where compaction happens: `"endpoint"`, a separate request; `"server"`, by the provider within a turn. */
export type CompactionStrategy = "endpoint" | "server";

/** A `CompactionConfig` with its defaults filled in. */
export interface CompactionSettings {
  readonly enabled: boolean;
  /** Compacts a conversation with more tokens than this, unless compaction has backed off. */
  readonly thresholdTokens: number;
  /** The model's context window in tokens, if it is known. */
  readonly contextWindow: number | null;
  readonly zdrMode: boolean;
  readonly strategy: CompactionStrategy;
  readonly allowStoredFiles: boolean;
}

/** The lowest threshold that OpenAI accepts. */
const MIN_SERVER_THRESHOLD_TOKENS = 1_000;

/** Validates a config and fills in the defaults. An omitted or `null` config disables compaction. */
export function resolveCompactionSettings(
  config: CompactionConfig | null | undefined,
  field: string,
  model: string,
): CompactionSettings {
  if (config === null || config === undefined)
    return resolveCompactionSettings({ enabled: false }, field, model);
  checkKeys<CompactionConfig>(config, field, {
    enabled: optional(checkBoolean),
    thresholdTokens: optional(integerCheck(1)),
    thresholdRatio: optional(checkRatio),
    contextWindow: optional(integerCheck(1)),
    zdrMode: optional(checkBoolean),
    strategy: optional(enumCheck(["endpoint", "server"])),
    allowStoredFiles: optional(checkBoolean),
  });
  const contextWindow = config.contextWindow ?? findContextWindow(model);
  const settings: CompactionSettings = {
    enabled: config.enabled ?? true,
    thresholdTokens: resolveThreshold(config, field, { model, contextWindow }),
    contextWindow,
    zdrMode: config.zdrMode ?? false,
    strategy: config.strategy ?? "endpoint",
    allowStoredFiles: config.allowStoredFiles ?? false,
  };
  checkServerThreshold(config, settings, field);
  return Object.freeze(settings);
}

function checkRatio(value: unknown, field: string): void {
  if (typeof value === "number" && value > 0 && value <= 1) return;
  const rule = "must be a number greater than 0 and at most 1";
  throw new PromptValidationError({ field, value, rule, remedy: "use a part such as 0.7" });
}

/** Returns the threshold in tokens, given as such or as a part of the context window. */
function resolveThreshold(
  { thresholdTokens, thresholdRatio }: CompactionConfig,
  field: string,
  { model, contextWindow }: { readonly model: string; readonly contextWindow: number | null },
): number {
  if (thresholdRatio === undefined) return thresholdTokens ?? 100_000;
  if (thresholdTokens !== undefined) {
    throw new PromptValidationError({
      field: `${field}.thresholdRatio`,
      value: thresholdRatio,
      rule: "must be omitted with thresholdTokens",
      remedy: "set one of the two",
    });
  }
  if (contextWindow === null) {
    throw new PromptValidationError({
      field: `${field}.contextWindow`,
      value: undefined,
      rule: `must be set for thresholdRatio with the model "${model}", whose context window is not known`,
      remedy: "set it to the model's context window in tokens, or use thresholdTokens",
    });
  }
  return Math.max(1, Math.floor(thresholdRatio * contextWindow));
}

function checkServerThreshold(
  { thresholdRatio }: CompactionConfig,
  { strategy, thresholdTokens }: CompactionSettings,
  field: string,
): void {
  if (strategy !== "server" || thresholdTokens >= MIN_SERVER_THRESHOLD_TOKENS) return;
  const [key, unit] =
    thresholdRatio === undefined ? ["thresholdTokens", ""] : ["thresholdRatio", " tokens"];
  throw new PromptValidationError({
    field: `${field}.${key}`,
    value: thresholdRatio ?? thresholdTokens,
    rule: `must be at least ${MIN_SERVER_THRESHOLD_TOKENS}${unit} with the strategy "server"`,
    remedy: 'raise it, or use the strategy "endpoint"',
  });
}
