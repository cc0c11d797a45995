import { recordsAt } from "../../base/reading.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ToolCatalog } from "../tools/tool-catalog.ts";
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
  /** The container that the response's tools ran in. */
  readonly containerId?: string | null;
}

/** A response as it is on the wire: every field, always. */
export function responseObject(parts: ResponseParts, catalog: ToolCatalog): WireItem {
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
    tools: echo.tools.map((tool) => toolEcho(tool, parts.containerId ?? null, catalog)),
    output,
    usage: parts.usage ?? null,
  };
}

/** A tool as a response repeats it: with OpenAI's defaults, and without secrets. */
function toolEcho(tool: WireItem, containerId: string | null, catalog: ToolCatalog): WireItem {
  switch (tool["type"]) {
    case "function":
      return { description: null, parameters: null, strict: true, ...withoutNull(tool, "strict") };
    case "custom":
      return { format: { type: "text" }, ...tool };
    case "namespace":
      return {
        ...tool,
        tools: recordsAt(tool, "tools").map((each) => toolEcho(each, null, catalog)),
      };
    default:
      return catalog.byType.get(tool["type"])?.echo?.(tool, containerId) ?? tool;
  }
}

function withoutNull(record: WireItem, key: string): WireItem {
  const { [key]: value, ...rest } = record;
  return value === null ? rest : record;
}
