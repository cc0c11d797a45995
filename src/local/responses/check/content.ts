import { isPlainObject } from "../../../base/freeze.ts";
import { createMissingParameterProblem } from "../../api-problem.ts";
import { longText, type } from "../../tools/item-fields.ts";
import {
  anyObject,
  array,
  either,
  integer,
  joinPath,
  nullable,
  object,
  oneOf,
  string,
  unionByTag,
  type Validator,
} from "../../validators/validator.ts";

/** Validates the mark of a content part after which the prompt may be cached. */
export const prompt_cache_breakpoint: Validator = nullable(
  object({ mode: oneOf("explicit") }, { ttl: oneOf("30m", "12h") }),
);

/** Also requires a string in at least one key of `keys`. Otherwise the error names the first key. */
function requireOneOf(shape: Validator, ...keys: readonly [string, ...string[]]): Validator {
  return (value, path) => {
    const problem = shape(value, path);
    if (problem || !isPlainObject(value)) return problem;
    const isThere = keys.some((key) => typeof value[key] === "string");
    return isThere ? null : createMissingParameterProblem(joinPath(path, keys[0]));
  };
}

const inputText = object({ type, text: longText }, { prompt_cache_breakpoint });

const inputImage = requireOneOf(
  object(
    { type },
    {
      image_url: nullable(string({ max: 20_971_520 })),
      file_id: nullable(string()),
      detail: nullable(oneOf("low", "high", "auto", "original")),
      prompt_cache_breakpoint,
    },
  ),
  "image_url",
  "file_id",
);

const inputFile = requireOneOf(
  object(
    { type },
    {
      file_id: nullable(string()),
      filename: nullable(string()),
      file_data: nullable(string({ max: 73_400_320 })),
      file_url: nullable(string()),
      detail: nullable(oneOf("low", "high", "auto")),
      prompt_cache_breakpoint,
    },
  ),
  "file_id",
  "file_data",
  "file_url",
);

const inputParts = {
  input_text: inputText,
  input_image: inputImage,
  input_file: inputFile,
};

/** Validates the content of a message to the model. */
export const inputContent: Validator = either({
  string: longText,
  array: array(unionByTag(inputParts)),
});

const index = nullable(integer());
const span = { start_index: integer(), end_index: integer() };

const annotation = unionByTag({
  url_citation: object({ type, url: string(), title: nullable(string()), ...span }, { index }),
  file_citation: object({ type, file_id: string(), index: integer() }, { filename: string() }),
  container_file_citation: object(
    { type, container_id: string(), file_id: string(), ...span },
    { filename: string(), index },
  ),
  file_path: object({ type, file_id: string(), index: integer() }),
});

/** Validates the content of a message from the model. */
export const outputContent: Validator = either({
  string: longText,
  array: array(
    unionByTag({
      output_text: object(
        { type, text: longText },
        { annotations: nullable(array(annotation)), logprobs: nullable(array(anyObject)) },
      ),
      refusal: object({ type, refusal: longText }),
    }),
  ),
});

/** Validates the output of a function or custom tool. */
export const callOutput: Validator = inputContent;
