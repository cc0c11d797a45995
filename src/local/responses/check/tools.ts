import { errorOrders } from "../../tools/index.ts";
import { allowed_callers, type } from "../../tools/item-fields.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import {
  anyObject,
  array,
  boolean,
  nullable,
  object,
  oneOf,
  string,
  unionByTag,
  type Validator,
} from "../../validators/validator.ts";
import { orderKeys } from "./order-keys.ts";
import { requireStrictSchema } from "./strict-schema.ts";

/** Validates a function or custom tool name. */
export const toolName = string({ min: 1, max: 64, pattern: /^[a-zA-Z0-9_-]+$/ });

/** Validates an entry of `tools`: a tool of the client or any hosted tool, whether or not it can run here. */
export function createToolValidator({ byType: hosted }: ToolCatalog): Validator {
  const shapes = [...hosted].map(([name, { check = anyObject }]) => [String(name), check]);
  return unionByTag(
    orderKeys({ ...clientTools, ...Object.fromEntries(shapes) }, errorOrders.tools),
  );
}

const functionFields = object(
  { type, name: toolName },
  {
    parameters: nullable(anyObject),
    strict: nullable(boolean),
    description: nullable(string()),
    defer_loading: boolean,
    async: boolean,
    output_schema: nullable(anyObject),
    allowed_callers,
  },
);

const functionTool = requireStrictSchema(functionFields, {
  key: "parameters",
  of: "function",
  code: "invalid_function_parameters",
});

const customTool = object(
  { type, name: toolName },
  {
    description: string(),
    format: unionByTag({
      text: object({ type }),
      grammar: object({ type, syntax: oneOf("lark", "regex"), definition: string() }),
    }),
    defer_loading: boolean,
    async: boolean,
    allowed_callers,
  },
);

/** Tools that the client runs. */
const clientTools = {
  function: functionTool,
  custom: customTool,
  namespace: object({
    type,
    name: toolName,
    description: string(),
    tools: array(unionByTag({ function: functionTool, custom: customTool }), { min: 1 }),
  }),
};
