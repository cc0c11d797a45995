import { InvalidOptionError } from "../../base/errors.ts";
import { quoteNames } from "../../base/quote-value.ts";
import type { StreamEvent } from "../evaluation-stream.ts";
import type { PromptResponse } from "../prompt-response.ts";
import type { LogCursor } from "./event-log.ts";
import type { ReaderSource } from "./log-reader.ts";

/** Characters after which a chunk ends. */
const CHUNK_CHARS = 64 * 1024;

const EVENT_TYPES: readonly StreamEvent["type"][] = [
  ...(["text", "reasoning", "toolCall", "hostedCall", "restart", "bus"] as const),
];

/** Writes the events of a log as server-sent events, several in one chunk if they are ready. */
export class EventFormat implements ReaderSource<string, unknown> {
  readonly #included: ReadonlySet<string>;
  readonly #includesCode: boolean;
  /** The last status of each hosted call, if calls are sent without their code. */
  readonly #statuses = new Map<string, string>();

  constructor(include: readonly StreamEvent["type"][] | undefined) {
    this.#includesCode = include !== undefined;
    const included = new Set(checkInclude(include ?? ["text", "hostedCall"]));
    this.#included = included.has("text") ? included.add("restart") : included;
  }

  read(cursor: LogCursor): string | undefined {
    let chunk = "";
    while (chunk.length < CHUNK_CHARS) {
      const event = cursor.take();
      if (!event) break;
      if (this.#included.has(event.type)) chunk += this.#format(event);
    }
    return chunk === "" ? undefined : chunk;
  }

  finish({ text, output, citations, usage, finishReason }: PromptResponse<unknown>): string {
    const known = { text, citations, usage, finishReason };
    return `event: response\n${toData(toJson({ ...known, output }, known))}`;
  }

  #format(event: StreamEvent): string {
    if (event.type === "bus")
      return toData(toJson(event, { type: "bus", event: { type: event.event.type } }));
    if (event.type !== "hostedCall" || this.#includesCode) return toData(JSON.stringify(event));
    const { type, turn, callId, kind, status } = event;
    if (this.#statuses.get(callId) === status) return "";
    this.#statuses.set(callId, status);
    return toData(JSON.stringify({ type, turn, callId, kind, status }));
  }
}

/** Writes the last event of an evaluation that failed: the class of the error, and no details. */
export function formatError(error: unknown): string {
  const name = error instanceof Error ? error.name : "Error";
  return `event: error\n${toData(JSON.stringify({ name, message: "The evaluation failed." }))}`;
}

/** Characters besides line breaks at which some clients split lines. JSON has them only in strings. */
const SEPARATORS = /[\u0085\u2028\u2029]/g;

function toData(json: string): string {
  return `data: ${json.replace(SEPARATORS, escapeCharacter)}\n\n`;
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Returns JSON. A value that is not JSON, such as an event with a `bigint`, is replaced. */
function toJson(value: object, replacement: object): string {
  try {
    return JSON.stringify(value);
  } catch {
    return JSON.stringify(replacement);
  }
}

function checkInclude(include: readonly StreamEvent["type"][]): readonly StreamEvent["type"][] {
  const refuse = InvalidOptionError.at("toResponse(init).include");
  const remedy = `use some of ${quoteNames(EVENT_TYPES)}`;
  if (!Array.isArray(include)) throw refuse("", include, "must be an array", remedy);
  const wrong = include.find((type) => !EVENT_TYPES.includes(type));
  if (wrong === undefined) return include;
  throw refuse("", wrong, "must contain types of events", remedy);
}
