import { isPlainObject } from "../../base/freeze.ts";
import { readNumber, readRecord, readString } from "../../base/json.ts";

/** One request that a `LocalProvider` has answered, or one turn over a WebSocket. */
export interface RequestEntry {
  /** The HTTP method; `"WS"` for a turn over a WebSocket. */
  readonly method: string;
  /** The path without the query, at most 200 characters. */
  readonly path: string;
  /** The HTTP status; `null` if the connection ended before there was one. */
  readonly status: number | null;
  /** The time until the response was ready or, if it was a stream, sent, in milliseconds. */
  readonly elapsedMs: number;
  /** Whether the response was a stream. */
  readonly isStream: boolean;
  /**
   * How the response ended: `"complete"`; `"aborted"` if the client disconnected first; `"dropped"` if the
   * provider ended the connection, as a scripted `drop` does.
   */
  readonly outcome: "complete" | "aborted" | "dropped";
  /** The tokens of a turn; `null` for all other requests. */
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number } | null;
  /** The first line of the error message, at most 300 characters; `null` if there was no error. */
  readonly error: string | null;
}

/** Reads the parts of an entry from what a route sends: a response, a message, an error, or the event with it. */
export function readAnswer(answer: object): Partial<Pick<RequestEntry, "usage" | "error">> {
  const sent: Readonly<Record<string, unknown>> = { ...answer };
  const { response } = sent;
  if (isPlainObject(response)) return readAnswer(response);
  const usage = readUsage(readRecord(sent, "usage"));
  const error = readString(readRecord(sent, "error"), "message");
  return { ...(usage && { usage }), ...(error !== "" && { error: toFirstLine(error) }) };
}

/** Returns the path of a URL without its query, which may contain secrets. */
export function toEntryPath(url: string): string {
  const [path = ""] = url.replace(/^https?:\/\/[^/?#]*/, "").split(/[?#]/, 1);
  return truncate(path, MAX_PATH_LENGTH);
}

function readUsage(usage: Readonly<Record<string, unknown>>): RequestEntry["usage"] {
  const input = readNumber(usage, "input_tokens") ?? readNumber(usage, "prompt_tokens");
  const output = readNumber(usage, "output_tokens") ?? readNumber(usage, "completion_tokens");
  if (input === null || output === null) return null;
  // Unlike OpenAI, Anthropic does not count cached tokens as input tokens.
  const cached = readNumber(usage, "cache_read_input_tokens") ?? 0;
  return { inputTokens: input + cached, outputTokens: output };
}

const MAX_PATH_LENGTH = 200;
const MAX_ERROR_LENGTH = 300;

function toFirstLine(message: string): string {
  const [line = ""] = message.trimStart().split(/[\r\n\u2028\u2029]/, 1);
  return truncate(line, MAX_ERROR_LENGTH);
}

function truncate(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
