import { isPlainObject } from "../../../base/freeze.ts";
import { missingParameter } from "../../api-problem.ts";
import { longText, type } from "../../tools/item-fields.ts";
import {
  anyObject,
  byType,
  either,
  integer,
  joinPath,
  list,
  maybe,
  object,
  oneOf,
  type Shape,
  text,
} from "../../validators/shapes.ts";

const prompt_cache_breakpoint = maybe(
  object({ mode: oneOf("explicit") }, { ttl: oneOf("30m", "12h") }),
);

/** Also requires a string in at least one key of `keys`. Otherwise the error names the first key. */
function requireOneOf(shape: Shape, ...keys: readonly [string, ...string[]]): Shape {
  return (value, path) => {
    const problem = shape(value, path);
    if (problem || !isPlainObject(value)) return problem;
    const isThere = keys.some((key) => typeof value[key] === "string");
    return isThere ? null : missingParameter(joinPath(path, keys[0]));
  };
}

const inputText = object({ type, text: longText }, { prompt_cache_breakpoint });

const inputImage = requireOneOf(
  object(
    { type },
    {
      image_url: maybe(text({ max: 20_971_520 })),
      file_id: maybe(text()),
      detail: maybe(oneOf("low", "high", "auto", "original")),
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
      file_id: maybe(text()),
      filename: maybe(text()),
      file_data: maybe(text({ max: 73_400_320 })),
      file_url: maybe(text()),
      detail: maybe(oneOf("low", "high", "auto")),
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
export const inputContent: Shape = either({
  string: longText,
  array: list(byType(inputParts)),
});

const index = maybe(integer());
const span = { start_index: integer(), end_index: integer() };

const annotation = byType({
  url_citation: object({ type, url: text(), title: maybe(text()), ...span }, { index }),
  file_citation: object({ type, file_id: text(), index: integer() }, { filename: text() }),
  container_file_citation: object(
    { type, container_id: text(), file_id: text(), ...span },
    { filename: text(), index },
  ),
  file_path: object({ type, file_id: text(), index: integer() }),
});

/** Validates the content of a message from the model. */
export const outputContent: Shape = either({
  string: longText,
  array: list(
    byType({
      output_text: object(
        { type, text: longText },
        { annotations: maybe(list(annotation)), logprobs: maybe(list(anyObject)) },
      ),
      refusal: object({ type, refusal: longText }),
    }),
  ),
});

/** Validates the output of a function or custom tool. */
export const callOutput: Shape = inputContent;
