import { PromptValidationError } from "../../base/errors.ts";
import {
  checkBoolean,
  checkKeys,
  integerFrom,
  oneOf,
  optional,
} from "../../tools/config-checks.ts";

/** When a conversation is made shorter, and by whom. */
export interface CompactionConfig {
  /** @default true */
  readonly enabled?: boolean | undefined;
  /** A conversation of more tokens than this is compacted. @default 100_000 */
  readonly thresholdTokens?: number | undefined;
  /** The provider keeps nothing of what is said: see the guide for what that takes. @default false */
  readonly zdrMode?: boolean | undefined;
  /** By a request of its own, or by the provider within a turn. @default "endpoint" */
  readonly strategy?: CompactionStrategy | undefined;
  /** Lets `zdrMode` use file search, whose files the provider does keep. @default false */
  readonly allowStoredFiles?: boolean | undefined;
}

/** Who compacts: `"endpoint"`, a request of ours; `"server"`, the provider when it sees fit. */
export type CompactionStrategy = "endpoint" | "server";

/** The same with its defaults. */
export type CompactionSettings = {
  readonly [Key in keyof CompactionConfig]-?: Exclude<CompactionConfig[Key], undefined>;
};

/** The server's own least. */
const LEAST_ON_SERVER = 1_000;

/** Refuses what cannot be; what is left out, or `null`, is switched off. */
export function compactionSettings(
  config: CompactionConfig | null | undefined,
  field: string,
): CompactionSettings {
  if (config === null || config === undefined) return compactionSettings({ enabled: false }, field);
  checkKeys<CompactionConfig>(config, field, {
    enabled: optional(checkBoolean),
    thresholdTokens: optional(integerFrom(1)),
    zdrMode: optional(checkBoolean),
    strategy: optional(oneOf(["endpoint", "server"])),
    allowStoredFiles: optional(checkBoolean),
  });
  const settings: CompactionSettings = {
    enabled: config.enabled ?? true,
    thresholdTokens: config.thresholdTokens ?? 100_000,
    zdrMode: config.zdrMode ?? false,
    strategy: config.strategy ?? "endpoint",
    allowStoredFiles: config.allowStoredFiles ?? false,
  };
  if (settings.strategy === "server" && settings.thresholdTokens < LEAST_ON_SERVER) {
    throw new PromptValidationError({
      field: `${field}.thresholdTokens`,
      value: settings.thresholdTokens,
      rule: `must be at least ${LEAST_ON_SERVER} with the strategy "server"`,
      remedy: 'raise it, or take the strategy "endpoint"',
    });
  }
  return Object.freeze(settings);
}
