import { isPlainObject } from "../../base/freeze.ts";
import { readRecord, readRecords, readStrings } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import {
  anyObject,
  anyValue,
  array,
  nullable,
  object,
  oneOf,
  string,
} from "../validators/validator.ts";
import { createNoEvents } from "./item-events.ts";
import { callId, created_by, itemId, status, type } from "./item-fields.ts";
import { createStringsSchema, isString } from "./object-schema.ts";
import type { ToolRecord } from "./tool-record.ts";

const execution = oneOf("server", "client");
const options = { id: itemId, call_id: nullable(callId), execution, status, created_by };

/**
 * Finds tools whose loading is deferred: passes the search to the client, or returns the request's deferred tools
 * that the model names. https://platform.openai.com/docs/guides/tools-tool-search
 */
export const toolSearch: ToolRecord = {
  kind: "tool_search",
  choiceTypes: [],
  check: object(
    { type },
    { execution, description: nullable(string()), parameters: nullable(anyObject) },
  ),

  run({ entry, args }, { newId, tools }) {
    const call = { id: newId("tsc_"), type: "tool_search_call", status: "completed" };
    if (entry["execution"] === "client")
      return [{ ...call, arguments: args, call_id: newId("call_"), execution: "client" }];
    const paths = readStrings(args, "paths");
    const shared = { call_id: null, execution: "server" };
    return [
      { ...call, arguments: { paths }, ...shared },
      {
        id: newId("tso_"),
        type: "tool_search_output",
        status: "completed",
        tools: tools.filter((tool) => isDeferred(tool) && paths.includes(String(tool["name"]))),
        ...shared,
      },
    ];
  },

  // Deferred tools are offered to upstream models directly, so they need no search of the server.
  toFunctions({ execution: place, description, parameters }) {
    if (place !== "client") return [];
    return [
      {
        name: "tool_search",
        description: isString(description) ? description : "Finds tools and makes them available.",
        parameters: isPlainObject(parameters) ? parameters : QUERY,
        read: (args) => args,
      },
    ];
  },

  items: {
    tool_search_call: {
      check: object({ type, arguments: anyValue }, options),
      events(item) {
        const { added, ...rest } = createNoEvents(item);
        return { added: { ...added, arguments: {} }, ...rest };
      },
      answer: "tool_search_output",
      needsAnswer: (item) => item["execution"] === "client",
      toCall: (item) => ({ args: readRecord(item, "arguments") }),
    },
    tool_search_output: {
      check: object({ type, tools: array(anyValue) }, options),
      events: createNoEvents,
      listsTools: true,
      toResult(item) {
        const names = readRecords(item, "tools").map(({ name }) => String(name));
        return names.length === 0 ? "No tools found." : `Available now: ${names.join(", ")}`;
      },
    },
  },
};

const QUERY = createStringsSchema({ query: "The purpose of the tools." });

/** Whether a tool is loaded only on demand. A namespace is deferred if any of its tools is. */
function isDeferred(tool: WireItem): boolean {
  return [tool, ...readRecords(tool, "tools")].some((one) => one["defer_loading"] === true);
}
