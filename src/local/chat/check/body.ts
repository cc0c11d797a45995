import { ApiProblem } from "../../api-problem.ts";
import { commonFields, effort, verbosity } from "../../responses/check/common-fields.ts";
import { requireStrictSchema } from "../../responses/check/strict-schema.ts";
import { type } from "../../tools/item-fields.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import {
  anyObject,
  array,
  boolean,
  either,
  integer,
  nullable,
  number,
  object,
  oneOf,
  recordOf,
  string,
  unionByTag,
  type Validator,
} from "../../validators/validator.ts";
import { chatMessage, refuse } from "./messages.ts";
import { chatToolChoice, createChatToolValidator } from "./tools.ts";

/** Validates the body of `POST /v1/chat/completions`. */
export function createChatBodyValidator(catalog: ToolCatalog): Validator {
  return object(
    { model: string({ min: 1 }), messages: array(chatMessage, { min: 1 }) },
    {
      ...commonFields,
      ...otherFields,
      tools: nullable(array(createChatToolValidator(catalog), { min: 1, max: 128 })),
    },
  );
}

const jsonSchema = requireStrictSchema(
  object(
    { name: string({ min: 1, max: 64, pattern: /^[a-zA-Z0-9_-]+$/ }) },
    { description: nullable(string()), schema: anyObject, strict: nullable(boolean) },
  ),
  { key: "schema", of: "response_format", code: "invalid_json_schema" },
);

const responseFormat = unionByTag({
  text: object({ type }),
  json_object: object({ type }),
  json_schema: object({ type, json_schema: jsonSchema }),
});

/** Accepts one answer: the model is called once for a request. */
const oneChoice: Validator = (value, path) => {
  const problem = integer({ min: 1, max: 128 })(value, path);
  if (problem || value === 1) return problem;
  const message = `Unsupported value: '${path}' does not support ${String(value)} with this server. Only the default (1) value is supported. Send one request for each answer.`;
  return new ApiProblem(400, message, { param: path, code: "unsupported_value" });
};

/** Accepts `false`. */
const noLogprobs: Validator = (value, path) =>
  boolean(value, path) ?? (value === true ? refuse(OMIT_LOGPROBS)(value, path) : null);

const OMIT_LOGPROBS = "Omit it: no model here reports the probabilities of its tokens.";

const penalty = nullable(number({ min: -2, max: 2 }));
const tokens = nullable(integer({ min: 1 }));
const stop = string({ min: 1 });
const USE_TOOLS = "Use 'tools' and 'tool_choice'.";

const otherFields = {
  tool_choice: nullable(chatToolChoice),
  response_format: nullable(responseFormat),
  n: nullable(oneChoice),
  stop: nullable(either({ string: stop, array: array(stop, { min: 1, max: 4 }) })),
  max_tokens: tokens,
  max_completion_tokens: tokens,
  stream_options: nullable(object({}, { include_usage: boolean, include_obfuscation: boolean })),
  reasoning_effort: effort,
  verbosity,
  seed: nullable(integer()),
  frequency_penalty: penalty,
  presence_penalty: penalty,
  logit_bias: nullable(recordOf(number({ min: -100, max: 100 }))),
  prediction: nullable(anyObject),
  modalities: nullable(array(oneOf("text"), { min: 1 })),
  logprobs: nullable(noLogprobs),
  top_logprobs: nullable(refuse(OMIT_LOGPROBS)),
  audio: nullable(refuse("Omit it: answers are text.")),
  web_search_options: nullable(refuse("Use POST /v1/responses with the tool 'web_search'.")),
  functions: nullable(refuse(USE_TOOLS)),
  function_call: nullable(refuse(USE_TOOLS)),
};
