import { isPlainObject } from "../../../base/freeze.ts";
import { ApiProblem } from "../../api-problem.ts";
import { requireStrictSchema } from "../../responses/check/strict-schema.ts";
import { toolName } from "../../responses/check/tools.ts";
import { type } from "../../tools/item-fields.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import {
  anyObject,
  array,
  boolean,
  either,
  joinPath,
  nullable,
  object,
  oneOf,
  string,
  unionByTag,
  type Validator,
} from "../../validators/validator.ts";

/** Validates an entry of `tools`. Hosted tools are rejected: they run only in a response. */
export function createChatToolValidator({ byType }: ToolCatalog): Validator {
  return (value, path) => {
    const kind = isPlainObject(value) ? value["type"] : undefined;
    return byType.has(kind) ? createHostedToolProblem(path, String(kind)) : tool(value, path);
  };
}

function createHostedToolProblem(path: string, kind: string): ApiProblem {
  const param = joinPath(path, "type");
  const message = `Unsupported value: '${param}' does not support '${kind}' with this endpoint. Use POST /v1/responses for hosted tools.`;
  return new ApiProblem(400, message, { param, code: "unsupported_value" });
}

const functionTool = requireStrictSchema(
  object(
    { name: toolName },
    {
      description: nullable(string()),
      parameters: nullable(anyObject),
      strict: nullable(boolean),
    },
  ),
  { key: "parameters", of: "function", code: "invalid_function_parameters" },
);

const grammar = object({ syntax: oneOf("lark", "regex"), definition: string() });

const customTool = object(
  { name: toolName },
  {
    description: nullable(string()),
    format: unionByTag({ text: object({ type }), grammar: object({ type, grammar }) }),
  },
);

const tool = unionByTag({
  function: object({ type, function: functionTool }),
  custom: object({ type, custom: customTool }),
});

const named = object({ name: toolName });

const oneTool = {
  function: object({ type, function: named }),
  custom: object({ type, custom: named }),
};

/** Validates the form of a `tool_choice`. Whether the request has the tool is checked later. */
export const chatToolChoice: Validator = either({
  string: oneOf("none", "auto", "required"),
  object: unionByTag({
    ...oneTool,
    allowed_tools: object({
      type,
      allowed_tools: object({
        mode: oneOf("auto", "required"),
        tools: array(unionByTag(oneTool), { min: 1 }),
      }),
    }),
  }),
});
