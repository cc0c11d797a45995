import {
  anyObject,
  anything,
  byType,
  decimal,
  either,
  flag,
  integer,
  list,
  map,
  maybe,
  object,
  oneOf,
  type Shape,
  text,
} from "../../validators/shapes.ts";
import { longText } from "./content.ts";
import { items } from "./items.ts";
import { strictly } from "./strict.ts";
import { tool } from "./tools.ts";

const type = anything; // it chose the shape
const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
const summary = maybe(oneOf("auto", "concise", "detailed"));

/** `input`: a text, or items. */
export const input: Shape = either({ string: longText, array: items });

/** `tools`. */
export const tools: Shape = maybe(list(tool, { max: 128 }));

/** `reasoning`. */
export const reasoning: Shape = maybe(
  object(
    {},
    {
      effort: maybe(oneOf(...efforts)),
      summary,
      generate_summary: summary,
      context: maybe(oneOf("auto", "current_turn", "all_turns")),
      mode: text(),
    },
  ),
);

const jsonSchema = object(
  { type, name: text({ min: 1, max: 64, pattern: /^[a-zA-Z0-9_-]+$/ }), schema: anyObject },
  { description: maybe(text()), strict: maybe(flag) },
);

const format = byType({
  text: object({ type }),
  json_object: object({ type }),
  json_schema: strictly(jsonSchema, {
    key: "schema",
    of: "response_format",
    code: "invalid_json_schema",
  }),
});

/** `text`. */
export const textOptions: Shape = maybe(
  object({}, { format: maybe(format), verbosity: maybe(oneOf("low", "medium", "high")) }),
);

const contextManagement = maybe(
  list(
    byType({ compaction: object({ type }, { compact_threshold: maybe(integer({ min: 1000 })) }) }),
    { min: 1 },
  ),
);

const include = maybe(
  list(
    oneOf(
      "file_search_call.results",
      "web_search_call.results",
      "web_search_call.action.sources",
      "message.input_image.image_url",
      "computer_call_output.output.image_url",
      "code_interpreter_call.outputs",
      "reasoning.encrypted_content",
      "message.output_text.logprobs",
    ),
  ),
);

const cacheOptions = maybe(
  object({}, { mode: oneOf("implicit", "explicit"), ttl: oneOf("30m", "12h") }),
);

/** The body of `POST /v1/responses`; `tool_choice` is checked beside the tools it chooses from. */
export const body: Shape = object(
  { model: text({ min: 1 }) },
  {
    input,
    instructions: maybe(longText),
    tools,
    tool_choice: anything,
    parallel_tool_calls: maybe(flag),
    max_tool_calls: maybe(integer({ min: 1 })),
    max_output_tokens: maybe(integer({ min: 16 })),
    include,
    store: maybe(flag),
    previous_response_id: maybe(text({ min: 1 })),
    conversation: maybe(either({ string: text({ min: 1 }), object: object({ id: text() }) })),
    context_management: contextManagement,
    background: maybe(flag),
    stream: maybe(flag),
    stream_options: maybe(object({}, { include_obfuscation: flag })),
    truncation: maybe(oneOf("auto", "disabled")),
    reasoning,
    text: textOptions,
    temperature: maybe(decimal({ min: 0, max: 2 })),
    top_p: maybe(decimal({ min: 0, max: 1 })),
    top_logprobs: maybe(integer({ min: 0, max: 20 })),
    metadata: maybe(map(text({ max: 512 }), { keys: 16, keyLength: 64 })),
    user: maybe(text()),
    safety_identifier: maybe(text({ max: 64 })),
    prompt_cache_key: maybe(text({ max: 64 })),
    prompt_cache_options: cacheOptions,
    prompt_cache_retention: maybe(oneOf("in_memory", "24h")),
    service_tier: maybe(oneOf("auto", "default", "flex", "scale", "priority", "fast", "ultrafast")),
    moderation: maybe(anyObject),
    prompt: maybe(object({ id: text() }, { version: maybe(text()), variables: maybe(anyObject) })),
    access_programs: anything,
    image: maybe(anyObject),
  },
);
