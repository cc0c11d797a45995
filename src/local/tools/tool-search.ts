import {
  anyObject,
  anyValue,
  array,
  nullable,
  object,
  oneOf,
  string,
} from "../validators/validator.ts";
import { callId, created_by, itemId, status, type } from "./item-fields.ts";
import type { ToolRecord } from "./tool-record.ts";

const execution = oneOf("server", "client");
const options = { id: itemId, call_id: nullable(callId), execution, status, created_by };

/** Finds tools whose loading is deferred. Local models never call it, but its items are accepted. */
export const toolSearch: ToolRecord = {
  kind: "tool_search",
  choiceTypes: [],
  check: object(
    { type },
    { execution, description: nullable(string()), parameters: nullable(anyObject) },
  ),
  items: {
    tool_search_call: { check: object({ type, arguments: anyValue }, options) },
    tool_search_output: {
      check: object({ type, tools: array(anyValue) }, options),
      listsTools: true,
    },
  },
};
