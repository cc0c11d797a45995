import { isPlainObject } from "../../base/freeze.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { Echo } from "./check/request.ts";

/** How far a response has come. */
export type ResponseStatus = "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";

/** What a response cost, on the wire. */
export interface ResponseUsage {
  readonly input_tokens: number;
  readonly input_tokens_details: { readonly cached_tokens: number };
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly reasoning_tokens: number };
  readonly total_tokens: number;
}

/** What a response is made of, besides what it repeats of the request. */
export interface ResponseParts {
  readonly id: string;
  /** In seconds. */
  readonly createdAt: number;
  /** In seconds; only a completed response has it. */
  readonly completedAt?: number | null;
  readonly status: ResponseStatus;
  readonly output: readonly WireItem[];
  /** `null` until it is finished. */
  readonly usage?: ResponseUsage | null;
  readonly error?: { readonly code: string; readonly message: string } | null;
  /** Why it is incomplete: `"max_output_tokens"`, `"content_filter"`. */
  readonly incompleteReason?: string | null;
  readonly echo: Echo;
  /** The container that was made for `shell`. */
  readonly shellContainerId?: string | null;
}

/** A response as it is on the wire: every field, always. */
export function responseObject(parts: ResponseParts): WireItem {
  const { id, createdAt, status, output, echo, incompleteReason: reason = null } = parts;
  const completedAt = status === "completed" ? (parts.completedAt ?? createdAt) : null;
  return {
    ...echo, // first: a copy that is changed costs a fraction of fields that are added
    id,
    created_at: createdAt,
    status,
    completed_at: completedAt,
    error: parts.error ?? null,
    incomplete_details: reason === null ? null : { reason },
    tools: echo.tools.map((tool) => toolEcho(tool, parts.shellContainerId ?? null)),
    output,
    usage: parts.usage ?? null,
  };
}

/** A tool as a response repeats it: with OpenAI's defaults, and without secrets. */
function toolEcho(tool: WireItem, shellContainerId: string | null): WireItem {
  switch (tool["type"]) {
    case "function":
      return { description: null, parameters: null, strict: true, ...withoutNull(tool, "strict") };
    case "custom":
      return { format: { type: "text" }, ...tool };
    case "namespace":
      return { ...tool, tools: recordsIn(tool, "tools").map((each) => toolEcho(each, null)) };
    case "file_search":
      return fileSearchEcho(tool);
    case "web_search":
    case "web_search_2025_08_26":
    case "web_search_preview":
    case "web_search_preview_2025_03_11":
      return webSearchEcho(tool);
    case "shell":
      return shellEcho(tool, shellContainerId);
    case "mcp":
      return mcpEcho(tool);
    default:
      return secretless(tool, "container");
  }
}

function fileSearchEcho(tool: WireItem): WireItem {
  const options = recordIn(tool, "ranking_options");
  return {
    filters: null,
    max_num_results: 20,
    ...tool,
    ranking_options: { ranker: "auto", score_threshold: 0, ...options },
  };
}

/** Nobody is nowhere: a search without a place is one from the United States. */
function webSearchEcho(tool: WireItem): WireItem {
  const { user_location: location } = tool;
  const nowhere = { type: "approximate", city: null, country: null, region: null, timezone: null };
  return {
    ...tool,
    search_context_size: tool["search_context_size"] ?? "medium",
    user_location: isPlainObject(location)
      ? { ...nowhere, ...location }
      : { ...nowhere, country: "US" },
  };
}

function shellEcho(tool: WireItem, containerId: string | null): WireItem {
  const { type } = recordIn(tool, "environment");
  if (type !== "container_auto" || containerId === null) return secretless(tool, "environment");
  return {
    ...tool,
    environment: { type: "container_reference", container_id: containerId },
  };
}

const redacted = "<redacted>";

function mcpEcho(tool: WireItem): WireItem {
  const { authorization, server_url: url } = tool;
  const headers = recordIn(tool, "headers");
  const hidden = Object.fromEntries(Object.keys(headers).map((name) => [name, redacted]));
  return {
    allowed_tools: null,
    require_approval: null,
    server_description: null,
    ...tool,
    headers: Object.keys(headers).length === 0 ? null : hidden,
    ...(authorization === undefined ? {} : { authorization: redacted }),
    ...(typeof url === "string" ? { server_url: withoutPath(url) } : {}),
  };
}

function withoutPath(url: string): string {
  const { origin, pathname, search } = URL.parse(url) ?? {};
  if (origin === undefined || origin === "null") return redacted;
  return pathname === "/" && search === "" ? origin : `${origin}/${redacted}`;
}

/** The secrets of a network policy stay with whoever sent them. */
function secretless(tool: WireItem, key: string): WireItem {
  const container = recordIn(tool, key);
  const { domain_secrets: secrets, ...policy } = recordIn(container, "network_policy");
  return secrets === undefined
    ? tool
    : { ...tool, [key]: { ...container, network_policy: policy } };
}

function withoutNull(record: WireItem, key: string): WireItem {
  const { [key]: value, ...rest } = record;
  return value === null ? rest : record;
}

function recordIn(record: WireItem, key: string): WireItem {
  const value = record[key];
  return isPlainObject(value) ? value : {};
}

function recordsIn(record: WireItem, key: string): readonly WireItem[] {
  const value = record[key];
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}
