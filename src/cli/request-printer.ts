import { styleText } from "node:util";
import type { RequestEntry } from "../local/http/request-entry.ts";
import { escapeControls } from "./escape-controls.ts";

/** The part of an output stream that a {@link RequestPrinter} uses. */
export interface LogOutput {
  /** The number of characters that wait for the reader. */
  readonly writableLength: number;
  write(text: string): unknown;
}

/**
 * Prints one line per request. Health checks of Anthropic's clients are omitted. If the output is not read, lines
 * are omitted too, so that they do not fill the memory.
 */
export class RequestPrinter {
  readonly #output: LogOutput;
  readonly #json: boolean;
  #omitted = 0;

  constructor(output: LogOutput, { json }: { readonly json: boolean }) {
    this.#output = output;
    this.#json = json;
  }

  /** Prints the line of one request. */
  print(entry: RequestEntry): void {
    if (entry.path === HEALTH_CHECK) return;
    if (this.#output.writableLength > MAX_WAITING_LENGTH) {
      this.#omitted += 1;
      return;
    }
    if (this.#omitted > 0) this.#write({ omittedRequests: this.#omitted }, formatOmission);
    this.#omitted = 0;
    this.#write({ request: entry }, ({ request }) => formatRequest(request));
  }

  #write<Line extends object>(line: Line, format: (line: Line) => string): void {
    this.#output.write(`${this.#json ? JSON.stringify(line) : format(line)}\n`);
  }
}

const HEALTH_CHECK = "/api/hello";
const MAX_WAITING_LENGTH = 1024 * 1024;

/** Formats an entry as a line such as `POST /v1/responses 200 12ms stream 15+7 tokens`. */
function formatRequest(entry: RequestEntry): string {
  const { method, path, status, elapsedMs, isStream, outcome, usage, error } = entry;
  const parts = [
    method,
    path,
    String(status ?? "-"),
    `${elapsedMs}ms`,
    ...(isStream ? ["stream"] : []),
    ...(outcome === "complete" ? [] : [outcome]),
    ...(usage ? [`${usage.inputTokens}+${usage.outputTokens} tokens`] : []),
    ...(error === null ? [] : [error]),
  ];
  const line = escapeControls(parts.join(" "));
  const isFailed = error !== null || outcome !== "complete";
  // `styleText` omits colors if the stream is not a terminal or NO_COLOR is set.
  return isFailed ? styleText("red", line, { stream: process.stdout }) : line;
}

function formatOmission({ omittedRequests: count }: { readonly omittedRequests: number }): string {
  return `(${count} more request${count === 1 ? "" : "s"}: this output was not read in time)`;
}
