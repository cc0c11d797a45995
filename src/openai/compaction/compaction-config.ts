import { PromptValidationError } from "../../base/errors.ts";
import {
  checkBoolean,
  checkKeys,
  enumCheck,
  integerCheck,
  optional,
} from "../../tools/config-checks.ts";

/** Configures when and how a long conversation is compacted. */
export interface CompactionConfig {
  /** Whether to compact conversations. @default true */
  readonly enabled?: boolean | undefined;
  /** Compacts a conversation with more tokens than this. At least 1,000 for `"server"`. @default 100_000 */
  readonly thresholdTokens?: number | undefined;
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
export type CompactionSettings = {
  readonly [Key in keyof CompactionConfig]-?: Exclude<CompactionConfig[Key], undefined>;
};

/** The lowest threshold that OpenAI accepts. */
const MIN_SERVER_THRESHOLD_TOKENS = 1_000;

/** Validates a config and fills in the defaults. An omitted or `null` config disables compaction. */
export function resolveCompactionSettings(
  config: CompactionConfig | null | undefined,
  field: string,
): CompactionSettings {
  if (config === null || config === undefined)
    return resolveCompactionSettings({ enabled: false }, field);
  checkKeys<CompactionConfig>(config, field, {
    enabled: optional(checkBoolean),
    thresholdTokens: optional(integerCheck(1)),
    zdrMode: optional(checkBoolean),
    strategy: optional(enumCheck(["endpoint", "server"])),
    allowStoredFiles: optional(checkBoolean),
  });
  const settings: CompactionSettings = {
    enabled: config.enabled ?? true,
    thresholdTokens: config.thresholdTokens ?? 100_000,
    zdrMode: config.zdrMode ?? false,
    strategy: config.strategy ?? "endpoint",
    allowStoredFiles: config.allowStoredFiles ?? false,
  };
  if (settings.strategy === "server" && settings.thresholdTokens < MIN_SERVER_THRESHOLD_TOKENS) {
    throw new PromptValidationError({
      field: `${field}.thresholdTokens`,
      value: settings.thresholdTokens,
      rule: `must be at least ${MIN_SERVER_THRESHOLD_TOKENS} with the strategy "server"`,
      remedy: 'raise it, or use the strategy "endpoint"',
    });
  }
  return Object.freeze(settings);
}
