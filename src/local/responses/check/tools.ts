import { errorOrders } from "../../tools/index.ts";
import { allowed_callers, type } from "../../tools/item-fields.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import {
  anyObject,
  byType,
  flag,
  list,
  maybe,
  object,
  oneOf,
  type Shape,
  text,
} from "../../validators/shapes.ts";
import { orderKeys } from "./order-keys.ts";
import { requireStrictSchema } from "./strict.ts";

/** Validates a function or custom tool name. */
export const toolName = text({ min: 1, max: 64, pattern: /^[a-zA-Z0-9_-]+$/ });

/** Validates an entry of `tools`: a tool of the client or any hosted tool, whether or not it can run here. */
export function createToolShape({ byType: hosted }: ToolCatalog): Shape {
  const shapes = [...hosted].map(([name, { check = anyObject }]) => [String(name), check]);
  return byType(orderKeys({ ...clientTools, ...Object.fromEntries(shapes) }, errorOrders.tools));
}

const functionFields = object(
  { type, name: toolName },
  {
    parameters: maybe(anyObject),
    strict: maybe(flag),
    description: maybe(text()),
    defer_loading: flag,
    async: flag,
    output_schema: maybe(anyObject),
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
    description: text(),
    format: byType({
      text: object({ type }),
      grammar: object({ type, syntax: oneOf("lark", "regex"), definition: text() }),
    }),
    defer_loading: flag,
    async: flag,
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
    description: text(),
    tools: list(byType({ function: functionTool, custom: customTool }), { min: 1 }),
  }),
};
