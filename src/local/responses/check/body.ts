import { errorOrders } from "../../tools/index.ts";
import { longText, type } from "../../tools/item-fields.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
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
import { createItemsShape } from "./items.ts";
import { orderKeys } from "./order-keys.ts";
import { requireStrictSchema } from "./strict.ts";
import { createToolShape } from "./tools.ts";

/** Validates the body of `POST /v1/responses`, except for `tool_choice`, which depends on the tools. */
export function createBodyValidator(catalog: ToolCatalog): Shape {
  const tool = createToolShape(catalog);
  return object(
    { model: text({ min: 1 }) },
    {
      ...otherFields,
      input: either({ string: longText, array: createItemsShape(catalog, tool) }),
      tools: maybe(list(tool, { max: 128 })),
      include: maybe(list(oneOf(...listIncludes(catalog)))),
    },
  );
}

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
const summary = maybe(oneOf("auto", "concise", "detailed"));

const reasoning: Shape = maybe(
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
  json_schema: requireStrictSchema(jsonSchema, {
    key: "schema",
    of: "response_format",
    code: "invalid_json_schema",
  }),
});

const textOptions: Shape = maybe(
  object({}, { format: maybe(format), verbosity: maybe(oneOf("low", "medium", "high")) }),
);

const contextManagement = maybe(
  list(
    byType({ compaction: object({ type }, { compact_threshold: maybe(integer({ min: 1000 })) }) }),
    { min: 1 },
  ),
);

/** Values of `include` that belong to no hosted tool. */
const otherIncludes = [
  "message.input_image.image_url",
  "reasoning.encrypted_content",
  "message.output_text.logprobs",
];

function listIncludes({ byItem }: ToolCatalog): readonly string[] {
  const hosted = [...byItem.values()].flatMap(({ includes = {} }) => Object.keys(includes));
  const all = Object.fromEntries([...otherIncludes, ...hosted].map((value) => [value, true]));
  return Object.keys(orderKeys(all, errorOrders.includes));
}

const cacheOptions = maybe(
  object({}, { mode: oneOf("implicit", "explicit"), ttl: oneOf("30m", "12h") }),
);

const otherFields = {
  instructions: maybe(longText),
  tool_choice: anything,
  parallel_tool_calls: maybe(flag),
  max_tool_calls: maybe(integer({ min: 1 })),
  max_output_tokens: maybe(integer({ min: 16 })),
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
};
