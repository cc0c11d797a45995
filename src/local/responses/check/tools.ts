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
import { strictly } from "./strict.ts";

/** Validates the name of a function or a custom tool. */
export const toolName = text({ min: 1, max: 64, pattern: /^[a-zA-Z0-9_-]+$/ });

/** Validates an entry of `tools`: the client's own, or of any hosted kind, whether it runs here or not. */
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

const functionTool = strictly(functionFields, {
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

/** The client's own tools. */
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
