import { isPlainObject } from "../../../base/freeze.ts";
import { createMissingParameterProblem, createUnsupportedProblem } from "../../api-problem.ts";
import { prompt_cache_breakpoint } from "../../responses/check/content.ts";
import { callId, longText, type } from "../../tools/item-fields.ts";
import {
  anyValue,
  array,
  either,
  joinPath,
  nullable,
  object,
  oneOf,
  string,
  unionByTag,
  type Validator,
} from "../../validators/validator.ts";

/** Rejects every value of a field that the local provider does not support, with the remedy. */
export function refuse(remedy: string): Validator {
  return (_value, path) => createUnsupportedProblem(path, remedy);
}

const text = object({ type, text: longText }, { prompt_cache_breakpoint });

const image = object(
  {
    url: string({ min: 1, max: 20_971_520 }),
  },
  { detail: nullable(oneOf("auto", "low", "high", "original")) },
);

const file: Validator = (value, path) => {
  const problem = fileFields(value, path);
  if (problem || !isPlainObject(value)) return problem;
  const isThere = typeof value["file_data"] === "string" || typeof value["file_id"] === "string";
  return isThere ? null : createMissingParameterProblem(joinPath(path, "file_data"));
};

const fileFields = object(
  {},
  {
    file_data: nullable(string({ max: 73_400_320 })),
    file_id: nullable(string()),
    filename: nullable(string()),
  },
);

const userParts = unionByTag({
  text,
  image_url: object({ type, image_url: image }, { prompt_cache_breakpoint }),
  file: object({ type, file }, { prompt_cache_breakpoint }),
  input_audio: refuse("Send the text of the recording."),
});

/** Validates content that can only be text. */
const texts = either({ string: longText, array: array(unionByTag({ text }), { min: 1 }) });

const assistantContent = either({
  string: longText,
  array: array(unionByTag({ text, refusal: object({ type, refusal: longText }) }), { min: 1 }),
});

const name = nullable(string({ max: 64 }));
const calledName = string({ min: 1 });

const toolCall = unionByTag({
  function: object({
    id: callId,
    type,
    function: object({ name: calledName, arguments: longText }, { parsed_arguments: anyValue }),
  }),
  custom: object({ id: callId, type, custom: object({ name: calledName, input: longText }) }),
});

const assistant = object(
  { role: type },
  {
    content: nullable(assistantContent),
    refusal: nullable(longText),
    tool_calls: nullable(array(toolCall, { min: 1, max: 128 })),
    name,
    // Clients send messages back with these fields. They say nothing new to the model.
    annotations: anyValue,
    parsed: anyValue,
    audio: nullable(refuse("Send the text of the answer.")),
    function_call: nullable(refuse("Use 'tool_calls'.")),
  },
);

const USE_TOOL_MESSAGES = "Use 'tools', and send results in messages with the role 'tool'.";

/** Validates one entry of `messages`. */
export const chatMessage: Validator = unionByTag(
  {
    system: object({ role: type, content: texts }, { name }),
    developer: object({ role: type, content: texts }, { name }),
    user: object(
      { role: type, content: either({ string: longText, array: array(userParts, { min: 1 }) }) },
      { name },
    ),
    assistant,
    tool: object({ role: type, content: texts, tool_call_id: callId }, { name }),
    function: refuse(USE_TOOL_MESSAGES),
  },
  "role",
);
