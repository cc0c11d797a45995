import {
  anyObject,
  boolean,
  nullable,
  number,
  object,
  oneOf,
  recordOf,
  string,
  type Validator,
} from "../../validators/validator.ts";

/** Validates how much a model reasons. */
export const effort: Validator = nullable(
  oneOf("none", "minimal", "low", "medium", "high", "xhigh", "max"),
);

/** Validates how long answers are. */
export const verbosity: Validator = nullable(oneOf("low", "medium", "high"));

/** Validates the key-value pairs that clients attach to objects. */
export const metadata: Validator = nullable(
  recordOf(string({ max: 512 }), { keys: 16, keyLength: 64 }),
);

/** The fields of `prompt_cache_options`. The local provider has no cache, so they have no effect. */
export const cacheFields: Readonly<Record<string, Validator>> = {
  mode: oneOf("implicit", "explicit"),
  ttl: oneOf("30m", "12h"),
};

/** Validates the optional fields that requests for responses and for chat completions share. */
export const commonFields: Readonly<Record<string, Validator>> = {
  parallel_tool_calls: nullable(boolean),
  store: nullable(boolean),
  stream: nullable(boolean),
  temperature: nullable(number({ min: 0, max: 2 })),
  top_p: nullable(number({ min: 0, max: 1 })),
  metadata,
  user: nullable(string()),
  safety_identifier: nullable(string({ max: 64 })),
  prompt_cache_key: nullable(string({ max: 64 })),
  prompt_cache_options: nullable(object({}, cacheFields)),
  prompt_cache_retention: nullable(oneOf("in_memory", "24h")),
  service_tier: nullable(
    oneOf("auto", "default", "flex", "scale", "priority", "fast", "ultrafast"),
  ),
  moderation: nullable(anyObject),
};
