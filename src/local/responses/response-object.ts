import { readRecords } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ApiProblem } from "../api-problem.ts";
import { StepFault } from "../step-fault.ts";
import type { ToolCatalog } from "../tools/tool-catalog.ts";
import type { Echo } from "./check/request.ts";

/** The status of a response. */
export type ResponseStatus =
  | "queued"
  | "in_progress"
  | "completed"
  | "incomplete"
  | "failed"
  | "cancelled";

/** Token usage of a response in wire format. */
export interface ResponseUsage {
  readonly input_tokens: number;
  readonly input_tokens_details: { readonly cached_tokens: number };
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly reasoning_tokens: number };
  readonly total_tokens: number;
}

/** The parts of a response that do not come from the request. */
export interface ResponseParts {
  readonly id: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
  /** Seconds since 1970, for completed responses only. */
  readonly completedAt?: number | null;
  readonly status: ResponseStatus;
  readonly output: readonly WireItem[];
  /** `null` until the response is finished. */
  readonly usage?: ResponseUsage | null;
  readonly error?: { readonly code: string; readonly message: string } | null;
  /** The reason why the response is incomplete: `"max_output_tokens"`, `"content_filter"`. */
  readonly incompleteReason?: string | null;
  /** The request fields that the response repeats. */
  readonly echo: Echo;
  /** The container that the response's tools ran in. */
  readonly containerId?: string | null;
}

/** Creates the wire format of a response. All fields are always present. */
export function createResponseObject(parts: ResponseParts, catalog: ToolCatalog): WireItem {
  const { id, createdAt, status, output, echo, incompleteReason: reason = null } = parts;
  const completedAt = status === "completed" ? (parts.completedAt ?? createdAt) : null;
  return {
    ...echo, // first: overwriting fields of a copy is much faster than adding them
    id,
    created_at: createdAt,
    status,
    completed_at: completedAt,
    error: parts.error ?? null,
    incomplete_details: reason === null ? null : { reason },
    tools: echo.tools.map((tool) => createToolEcho(tool, parts.containerId ?? null, catalog)),
    output,
    usage: parts.usage ?? null,
  };
}

/** A response that ends without a finished turn. */
export interface EndedResponse {
  readonly status: "failed" | "cancelled";
  readonly output: readonly WireItem[];
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** Creates the final form of a response whose turn was not finished. */
export function createEndedResponse(
  { request, response }: { readonly request: { readonly echo: Echo }; readonly response: WireItem },
  ended: EndedResponse,
  catalog: ToolCatalog,
): WireItem {
  const [id, createdAt] = [String(response["id"]), Number(response["created_at"])];
  return createResponseObject({ id, createdAt, echo: request.echo, ...ended }, catalog);
}

/** Returns the error of a failed response, where OpenAI allows only its own codes. */
export function toResponseError(problem: ApiProblem): { code: string; message: string } {
  const code = problem instanceof StepFault ? problem.responseCode : problem.code;
  const isForeign = code === null || code === "upstream_error";
  return { code: isForeign ? "server_error" : code, message: problem.message };
}

/** Returns a tool as a response repeats it: with OpenAI's defaults, and without secrets. */
function createToolEcho(
  tool: WireItem,
  containerId: string | null,
  catalog: ToolCatalog,
): WireItem {
  switch (tool["type"]) {
    case "function":
      return { description: null, parameters: null, strict: true, ...omitIfNull(tool, "strict") };
    case "custom":
      return { format: { type: "text" }, ...tool };
    case "namespace":
      return {
        ...tool,
        tools: readRecords(tool, "tools").map((each) => createToolEcho(each, null, catalog)),
      };
    default:
      return catalog.byType.get(tool["type"])?.echo?.(tool, containerId) ?? tool;
  }
}

function omitIfNull(record: WireItem, key: string): WireItem {
  const { [key]: value, ...rest } = record;
  return value === null ? rest : record;
}
