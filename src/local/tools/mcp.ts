import { isPlainObject } from "../../base/freeze.ts";
import { recordAt, textAt } from "../../base/reading.ts";
import type { WireItem } from "../../openai/wire.ts";
import { missingParameter } from "../api-problem.ts";
import {
  anything,
  either,
  flag,
  joinPath,
  list,
  map,
  maybe,
  object,
  oneOf,
  type Shape,
  text,
} from "../validators/shapes.ts";
import { createDeltas, createStages, toInProgress } from "./item-events.ts";
import { allowed_callers, itemId, longText, type } from "./item-fields.ts";
import type { LocalToolEvents } from "./local-tool.ts";
import type { ToolRecord } from "./tool-record.ts";

const filter = object({}, { tool_names: list(text()), read_only: maybe(flag) });

const fields = object(
  { type, server_label: text({ min: 1 }) },
  {
    server_url: text({ min: 1 }),
    connector_id: text({ min: 1 }),
    tunnel_id: text({ pattern: /^tunnel_[a-z0-9]{32}$/ }),
    authorization: text(),
    headers: maybe(map(text())),
    server_description: maybe(text()),
    allowed_tools: maybe(either({ array: list(text()), object: filter })),
    require_approval: maybe(
      either({
        string: oneOf("always", "never"),
        object: object({}, { always: maybe(filter), never: maybe(filter) }),
      }),
    ),
    defer_loading: flag,
    allowed_callers,
  },
);

/** Requires a server's URL, connector or tunnel. */
const check: Shape = (value, path) => {
  const problem = fields(value, path);
  const places = ["server_url", "connector_id", "tunnel_id"];
  if (problem || (isPlainObject(value) && places.some((key) => key in value))) return problem;
  return missingParameter(joinPath(path, "server_url"));
};

const serverItem = { type, id: text({ min: 1 }), server_label: text() };

/** Calls tools of MCP servers. The local provider does not support it and rejects requests that offer it. https://platform.openai.com/docs/guides/tools-connectors-mcp */
export const mcp: ToolRecord = {
  kind: "mcp",
  isRefused: true,
  check,
  checkChoice: object({ type, server_label: text({ min: 1 }) }, { name: maybe(text()) }),
  label: "server_label",
  echo,
  items: {
    mcp_list_tools: {
      check: object(
        {
          ...serverItem,
          tools: list(
            object(
              { name: text(), input_schema: anything },
              { description: maybe(text()), annotations: anything },
            ),
          ),
        },
        { error: anything },
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
      check: object({ ...serverItem, name: text(), arguments: longText }),
    },
    mcp_approval_response: {
      check: object(
        { type, approval_request_id: text({ min: 1 }), approve: flag },
        { id: itemId, reason: maybe(text()), request_id: maybe(text()) },
      ),
    },
    mcp_call: {
      check: object(
        { ...serverItem, name: text(), arguments: longText },
        {
          output: maybe(longText),
          error: anything,
          status: maybe(oneOf("in_progress", "completed", "incomplete", "calling", "failed")),
          approval_request_id: maybe(text()),
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
  const names = Object.keys(recordAt(entry, "headers"));
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
  const args = textAt(item, "arguments");
  return {
    added: { ...toInProgress(item), arguments: "", output: null, error: null },
    running: [
      ...createStages(item, "in_progress"),
      ...createDeltas("response.mcp_call_arguments", item, args, { arguments: args }),
    ],
    finished: createStages(item, item["status"] === "failed" ? "failed" : "completed"),
  };
}
