import { isPlainObject } from "../../base/freeze.ts";
import type { WireItem } from "../../openai/wire.ts";
import { ApiProblem, invalidType, invalidValue } from "../api-problem.ts";
import { parseBoundedJson } from "../parse-bounded-json.ts";

/** A `response.create` event: one request on a connection. */
export interface CreateEvent {
  /** The lane of the request; `null` is the default lane. */
  readonly streamId: string | null;
  /** The request, in the format of `POST /v1/responses`. */
  readonly body: WireItem;
  /** Whether the model answers. A request without an answer prepares the conversation for the next one. */
  readonly generate: boolean;
}

/** Parses the text of a message. Throws the error for a text that is not an event. */
export function parseClientEvent(text: string): WireItem {
  const json = parseBoundedJson(text);
  if (!json.ok) {
    const message = `We could not parse the JSON of your WebSocket message: ${json.problem}`;
    throw new ApiProblem(400, message, { code: "invalid_json" });
  }
  const { value: event } = json;
  if (!isPlainObject(event)) throw invalidType("event", "an object", event);
  const { type } = event;
  if (type === undefined)
    throw new ApiProblem(400, "Missing required parameter: 'type'.", {
      param: "type",
      code: "missing_required_parameter",
    });
  if (!EVENT_TYPES.includes(String(type))) throw invalidValue("type", type, EVENT_TYPES);
  return event;
}

const EVENT_TYPES = ["response.create", "response.steer"];

/** Reads the lane of an event. The default lane has no name. */
export function readStreamId({ stream_id: value }: WireItem): string | null {
  if (value === undefined) return null;
  if (typeof value === "string" && /^[\w.-]{1,256}$/.test(value)) return value;
  const message =
    "The 'stream_id' field must be a non-empty string with at most 256 characters and may only contain letters, numbers, underscores, hyphens, and periods.";
  throw new ApiProblem(400, message, { param: "stream_id", code: "invalid_stream_id" });
}

/** Reads a `response.create` event. The body is validated when the request runs. */
export function readCreateEvent(event: WireItem, streamId: string | null): CreateEvent {
  const { type: _, stream_id: __, generate, ...body } = event;
  if (body["background"] === true) {
    const message =
      "Unsupported parameter: 'background' is not supported over WebSocket. Omit it, or use POST /v1/responses.";
    const param = "background";
    throw new ApiProblem(400, message, { param, code: "unsupported_parameter" });
  }
  if (typeof (generate ?? true) !== "boolean") throw invalidType("generate", "a boolean", generate);
  return { streamId, body, generate: generate !== false };
}
