import { isPlainObject } from "../../base/freeze.ts";
import { readRecord, readString } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import { createMissingParameterProblem } from "../api-problem.ts";
import {
  anyValue,
  array,
  boolean,
  either,
  joinPath,
  nullable,
  object,
  oneOf,
  recordOf,
  string,
  type Validator,
} from "../validators/validator.ts";
import { createDeltas, createStages, toInProgress } from "./item-events.ts";
import { allowed_callers, itemId, longText, type } from "./item-fields.ts";
import type { LocalToolEvents } from "./local-tool.ts";
import type { ToolRecord } from "./tool-record.ts";

const filter = object({}, { tool_names: array(string()), read_only: nullable(boolean) });

const fields = object(
  { type, server_label: string({ min: 1 }) },
  {
    server_url: string({ min: 1 }),
    connector_id: string({ min: 1 }),
    tunnel_id: string({ pattern: /^tunnel_[a-z0-9]{32}$/ }),
    authorization: string(),
    headers: nullable(recordOf(string())),
    server_description: nullable(string()),
    allowed_tools: nullable(either({ array: array(string()), object: filter })),
    require_approval: nullable(
      either({
        string: oneOf("always", "never"),
        object: object({}, { always: nullable(filter), never: nullable(filter) }),
      }),
    ),
    defer_loading: boolean,
    allowed_callers,
  },
);

/** Requires a server's URL, connector or tunnel. */
const check: Validator = (value, path) => {
  const problem = fields(value, path);
  const places = ["server_url", "connector_id", "tunnel_id"];
  if (problem || (isPlainObject(value) && places.some((key) => key in value))) return problem;
  return createMissingParameterProblem(joinPath(path, "server_url"));
};

const serverItem = { type, id: string({ min: 1 }), server_label: string() };

/** Calls tools of MCP servers. The local provider does not support it and rejects requests that offer it. https://platform.openai.com/docs/guides/tools-connectors-mcp */
export const mcp: ToolRecord = {
  kind: "mcp",
  isRefused: true,
  check,
  checkChoice: object({ type, server_label: string({ min: 1 }) }, { name: nullable(string()) }),
  label: "server_label",
  echo,
  items: {
    mcp_list_tools: {
      check: object(
        {
          ...serverItem,
          tools: array(
            object(
              { name: string(), input_schema: anyValue },
              { description: nullable(string()), annotations: anyValue },
            ),
          ),
        },
        { error: anyValue },
      ),
      events(item) {
        const { error } = item;
        const hasFailed = typeof error === "string" || isPlainObject(error);
        return {
          added: { ...item, tools: [] },
          running: createStages(item, "in_progress"),
          finished: createStages(item, hasFailed ? "failed" : "completed"),
        };
      },
    },
    mcp_approval_request: {
      check: object({ ...serverItem, name: string(), arguments: longText }),
    },
    mcp_approval_response: {
      check: object(
        { type, approval_request_id: string({ min: 1 }), approve: boolean },
        { id: itemId, reason: nullable(string()), request_id: nullable(string()) },
      ),
    },
    mcp_call: {
      check: object(
        { ...serverItem, name: string(), arguments: longText },
        {
          output: nullable(longText),
          error: anyValue,
          status: nullable(oneOf("in_progress", "completed", "incomplete", "calling", "failed")),
          approval_request_id: nullable(string()),
        },
      ),
      events: createCallEvents,
    },
  },
};

const REDACTED = "<redacted>";

/** Redacts the URL path, headers and authorization: responses do not repeat them. */
function echo(entry: WireItem): WireItem {
  const { authorization, server_url: url } = entry;
  const names = Object.keys(readRecord(entry, "headers"));
  const hidden = Object.fromEntries(names.map((name) => [name, REDACTED]));
  return {
    allowed_tools: null,
    require_approval: null,
    server_description: null,
    ...entry,
    headers: names.length === 0 ? null : hidden,
    ...(authorization === undefined ? {} : { authorization: REDACTED }),
    ...(typeof url === "string" ? { server_url: hidePath(url) } : {}),
  };
}

function hidePath(url: string): string {
  const { origin, pathname, search } = URL.parse(url) ?? {};
  if (origin === undefined || origin === "null") return REDACTED;
  return pathname === "/" && search === "" ? origin : `${origin}/${REDACTED}`;
}

function createCallEvents(item: WireItem): LocalToolEvents {
  const args = readString(item, "arguments");
  return {
    added: { ...toInProgress(item), arguments: "", output: null, error: null },
    running: [
      ...createStages(item, "in_progress"),
      ...createDeltas("response.mcp_call_arguments", item, args, { arguments: args }),
    ],
    finished: createStages(item, item["status"] === "failed" ? "failed" : "completed"),
  };
}
