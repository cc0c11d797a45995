import { errorOrders } from "../../tools/index.ts";
import { longText, type } from "../../tools/item-fields.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import {
  anyObject,
  anyValue,
  array,
  boolean,
  either,
  integer,
  nullable,
  object,
  oneOf,
  recordOf,
  string,
  unionByTag,
  type Validator,
} from "../../validators/validator.ts";
import { cacheFields, commonFields, effort, verbosity } from "./common-fields.ts";
import { createItemsValidator } from "./items.ts";
import { orderKeys } from "./order-keys.ts";
import { requireStrictSchema } from "./strict-schema.ts";
import { createToolValidator } from "./tools.ts";

/** Validates the body of `POST /v1/responses`, except for `tool_choice`, which depends on the tools. */
export function createBodyValidator(catalog: ToolCatalog): Validator {
  const tool = createToolValidator(catalog);
  return object(
    { model: string({ min: 1 }) },
    {
      ...otherFields,
      input: either({ string: longText, array: createItemsValidator(catalog, tool) }),
      tools: nullable(array(tool, { max: 128 })),
      include: nullable(createIncludeValidator(catalog)),
    },
  );
}

const summary = nullable(oneOf("auto", "concise", "detailed"));

const reasoning: Validator = nullable(
  object(
    {},
    {
      effort,
      summary,
      generate_summary: summary,
      context: nullable(oneOf("auto", "current_turn", "all_turns")),
      mode: string(),
    },
  ),
);

const jsonSchema = object(
  { type, name: string({ min: 1, max: 64, pattern: /^[a-zA-Z0-9_-]+$/ }), schema: anyObject },
  { description: nullable(string()), strict: nullable(boolean) },
);

const format = unionByTag({
  text: object({ type }),
  json_object: object({ type }),
  json_schema: requireStrictSchema(jsonSchema, {
    key: "schema",
    of: "response_format",
    code: "invalid_json_schema",
  }),
});

const textOptions: Validator = nullable(object({}, { format: nullable(format), verbosity }));

const contextManagement = nullable(
  array(
    unionByTag({
      compaction: object({ type }, { compact_threshold: nullable(integer({ min: 1000 })) }),
    }),
    { min: 1 },
  ),
);

/** Values of `include` that belong to no hosted tool. */
const otherIncludes = [
  "message.input_image.image_url",
  "reasoning.encrypted_content",
  "message.output_text.logprobs",
];

/** Validates the values of `include`. */
export function createIncludeValidator(catalog: ToolCatalog): Validator {
  return array(oneOf(...listIncludes(catalog)));
}

function listIncludes({ byItem }: ToolCatalog): readonly string[] {
  const hosted = [...byItem.values()].flatMap(({ includes = {} }) => Object.keys(includes));
  const all = Object.fromEntries([...otherIncludes, ...hosted].map((value) => [value, true]));
  return Object.keys(orderKeys(all, errorOrders.includes));
}

const otherFields = {
  ...commonFields,
  prompt_cache_options: nullable(
    object({}, { ...cacheFields, prewarm: boolean, comparison_response_id: nullable(string()) }),
  ),
  instructions: nullable(longText),
  tool_choice: anyValue,
  max_tool_calls: nullable(integer({ min: 1 })),
  max_output_tokens: nullable(integer({ min: 16 })),
  previous_response_id: nullable(string({ min: 1 })),
  conversation: nullable(either({ string: string({ min: 1 }), object: object({ id: string() }) })),
  context_management: contextManagement,
  background: nullable(boolean),
  stream_options: nullable(object({}, { include_obfuscation: boolean })),
  truncation: nullable(oneOf("auto", "disabled")),
  reasoning,
  text: textOptions,
  top_logprobs: nullable(integer({ min: 0, max: 20 })),
  // Not documented, but accepted by the API: Codex sends its ids with it. Nothing reads it.
  client_metadata: nullable(recordOf(string())),
  prompt: nullable(
    object({ id: string() }, { version: nullable(string()), variables: nullable(anyObject) }),
  ),
  access_programs: anyValue,
  image: nullable(anyObject),
};
