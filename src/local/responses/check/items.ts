import { isPlainObject } from "../../../base/freeze.ts";
import { ApiProblem, createMissingParameterProblem } from "../../api-problem.ts";
import {
  callFields,
  callOptions,
  created_by,
  itemId,
  longText,
  status,
  type,
} from "../../tools/item-fields.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import {
  anyObject,
  anyValue,
  array,
  type Bounds,
  idWithPrefix,
  joinPath,
  nullable,
  object,
  oneOf,
  string,
  unionByTag,
  type Validator,
} from "../../validators/validator.ts";
import { callOutput, inputContent, outputContent } from "./content.ts";
import { omitItemMetadata } from "./omit-item-metadata.ts";

/** Validates an array of items. `tool` validates the entries of `tools` that some items contain. */
export function createItemsValidator(
  catalog: ToolCatalog,
  tool: Validator,
  bounds: Bounds = {},
): Validator {
  const everyItem = array(createItemValidator(catalog, tool), bounds);
  return (value, path) => {
    const problem = everyItem(value, path);
    if (problem || !Array.isArray(value)) return problem;
    const trigger = value.findIndex(
      (one) => isPlainObject(one) && one["type"] === "compaction_trigger",
    );
    if (trigger < 0 || trigger === value.length - 1) return null;
    const message = `Invalid '${path}[${trigger}]': an item of type 'compaction_trigger' must be the last one.`;
    return new ApiProblem(400, message, { param: `${path}[${trigger}]`, code: "invalid_value" });
  };
}

/** Validates an entry of `input`. Messages and references by id may omit `type`. */
function createItemValidator({ byItem }: ToolCatalog, tool: Validator): Validator {
  const tools = array(tool);
  const checkTools =
    (shape: Validator): Validator =>
    (value, path) =>
      shape(value, path) ?? tools(Object(value)["tools"], joinPath(path, "tools"));
  const hosted = [...byItem.values()].map((item) => {
    const { check = anyObject } = item;
    return [item.type, item.listsTools ? checkTools(check) : check] as const;
  });
  const typed = unionByTag({
    message: messages,
    reasoning,
    ...functionItems,
    ...Object.fromEntries(hosted),
    additional_tools: checkTools(additionalTools),
    ...otherItems,
  });
  return (given, path) => {
    const value = isPlainObject(given) ? omitItemMetadata(given) : given;
    if (!isPlainObject(value) || typeof value["type"] === "string") return typed(value, path);
    if ("role" in value) return messages(value, path);
    return "id" in value && Object.keys(value).every((key) => key === "id" || key === "type")
      ? untypedReference(value, path)
      : createMissingParameterProblem(joinPath(path, "type"));
  };
}

const message = {
  type,
  id: nullable(idWithPrefix("msg")),
  status,
  phase: nullable(oneOf("commentary", "final_answer")),
};
const inputMessage = object({ role: type, content: inputContent }, message);

const messages = unionByTag(
  {
    user: inputMessage,
    assistant: object({ role: type, content: outputContent }, message),
    system: inputMessage,
    developer: inputMessage,
  },
  "role",
);

const reasoning = object(
  { type, summary: array(object({ type: oneOf("summary_text"), text: longText })) },
  {
    id: idWithPrefix("rs"),
    encrypted_content: nullable(string({ max: 20_971_520 })),
    content: nullable(array(object({ type: oneOf("reasoning_text"), text: longText }))),
    status,
  },
);

/** Calls to the client's functions and custom tools, and their outputs. */
const functionItems = {
  function_call: object(
    { ...callFields, name: string({ min: 1 }), arguments: longText },
    { ...callOptions, id: nullable(idWithPrefix("fc")), namespace: nullable(string()) },
  ),
  function_call_output: object(
    { ...callFields, output: callOutput },
    { ...callOptions, name: nullable(string()), namespace: nullable(string()) },
  ),
  custom_tool_call: object(
    { ...callFields, name: string({ min: 1 }), input: longText },
    { ...callOptions, id: nullable(idWithPrefix("ctc")), namespace: nullable(string()) },
  ),
  custom_tool_call_output: object({ ...callFields, output: callOutput }, callOptions),
};

const additionalTools = object(
  { type, role: oneOf("developer"), tools: array(anyValue) },
  { id: itemId },
);

const otherItems = {
  configuration_update: anyObject,
  compaction: object(
    { type, encrypted_content: string({ max: 20_971_520 }) },
    { id: itemId, created_by },
  ),
  compaction_trigger: object({ type }, { id: itemId }),
  item_reference: object({ type, id: string({ min: 1 }) }),
};

const untypedReference = object({ id: string({ min: 1 }) }, { type });
