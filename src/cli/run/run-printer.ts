import { styleText } from "node:util";
import type { ToolInvoked, TurnCompleted, TurnProgressed } from "../../adapter/events.ts";
import type { TokenUsage } from "../../base/usage.ts";
import type { BusEvent } from "../../session/event-map.ts";
import type { Session } from "../../session/session.ts";
import { formatDuration } from "../format-duration.ts";
import { formatNumber, pluralize } from "../pluralize.ts";
import { ProgressLine } from "../progress-line.ts";
import { toJsonLine, toLine } from "../to-line.ts";
import type { RunOutput } from "./run-host.ts";

/** Prints on standard error: notes always, and the progress of a run if a person reads it. */
export class RunPrinter {
  readonly #output: RunOutput;
  readonly #json: boolean;
  readonly #progress: ProgressLine;

  constructor(output: RunOutput, { json }: { readonly json: boolean }) {
    this.#output = output;
    this.#json = json;
    this.#progress = new ProgressLine(json ? { write: () => {} } : output);
  }

  /** Whether the progress of the run is shown. */
  get isShown(): boolean {
    return !this.#json && this.#output.isTTY === true;
  }

  /** Prints a note for the user: one or several lines, or `{ "note" }` with `--json`. */
  note(text: string): void {
    this.print({ note: text }, text);
  }

  /** Prints an object as a line of JSON with `--json`, and otherwise a text. */
  print(line: object, text: string): void {
    this.clear();
    this.#output.write(`${this.#json ? JSON.stringify(line) : text}\n`);
  }

  /** Shows what the command waits for until the next output. */
  show(text: string): void {
    this.#progress.show(text);
  }

  /** Removes what {@link RunPrinter.show} has shown. */
  clear(): void {
    this.#progress.clear();
  }

  /** Prints a session's turns and calls from now on, if a person reads the output. */
  watch({ bus }: Session): Disposable {
    if (!this.isShown) return { [Symbol.dispose]() {} };
    const watching = [
      bus.subscribe("*", (event) => this.#printEvent(event)),
      bus.subscribe("TurnProgressed", (event) => this.show(describeProgress(event))),
    ];
    return {
      [Symbol.dispose]: () => {
        for (const one of watching) one[Symbol.dispose]();
        this.clear();
      },
    };
  }

  #printEvent(event: BusEvent): void {
    if (event.type === "TurnStarted") this.show(`turn ${event.turn} …`);
    const line = describeEvent(event);
    if (line !== null) this.note(line);
  }
}

function describeProgress({ turn, elapsedMs, receivedBytes, last }: TurnProgressed): string {
  const received = receivedBytes === 0 ? "" : `, ${formatNumber(receivedBytes)} bytes`;
  return `turn ${turn} … ${formatDuration(elapsedMs)}${received} ${toLine(last, MAX_NAME)}`.trimEnd();
}

function describeEvent(event: BusEvent): string | null {
  switch (event.type) {
    case "TurnCompleted":
      return describeTurn(event);
    case "ToolInvoked":
      return describeCall(event);
    case "ContainerReplaced":
      return `  ${red("✗")} container lost and replaced: ${toLine(event.reason, MAX_TEXT)}`;
    case "ContextCompacted":
      return `  compacted from ${formatNumber(event.tokensBefore)} tokens`;
    case "HostedToolOmitted":
      return `  ${red("✗")} ${toLine(event.name)} omitted: ${toLine(event.reason, MAX_TEXT)}`;
    default:
      return null;
  }
}

function describeTurn({ turn, toolCalls, hostedCalls, usage, durationMs, nested }: TurnCompleted) {
  const names = [...hostedCalls, ...toolCalls].map(({ name }) => name);
  const calls = names.length === 0 ? "" : ` calls ${toLine(names.join(", "), MAX_TEXT)}`;
  const cost = dim(`${formatUsage(usage)}, ${formatDuration(durationMs)}`);
  return `${nested ? "  nested " : ""}${bold(`turn ${turn}`)}${calls} ${cost}`;
}

function describeCall({ name, params, result, renderedOutput, durationMs, origin }: ToolInvoked) {
  const mark = result.success ? green("✓") : red("✗");
  const text = result.message === "OK" ? renderedOutput : result.message;
  const took = durationMs === null ? "" : ` ${formatDuration(durationMs)}`;
  const place = dim(`${origin ? "at the provider" : "here"}${took}`);
  return `  ${mark} ${toLine(name, MAX_NAME)} ${toJsonLine(params, MAX_PARAMS)} ${place} ${toLine(text, MAX_TEXT)}`.trimEnd();
}

/** Formats a usage as `1,200 + 34 tokens`. */
export function formatUsage({ inputTokens, outputTokens }: TokenUsage): string {
  return `${formatNumber(inputTokens)} + ${pluralize(outputTokens, "token")}`;
}

const MAX_NAME = 64;
const MAX_PARAMS = 60;
const MAX_TEXT = 100;

// `styleText` omits colors if the stream is not a terminal or NO_COLOR is set.
const bold = (text: string) => styleText("bold", text, { stream: process.stderr });
const dim = (text: string) => styleText("dim", text, { stream: process.stderr });
const green = (text: string) => styleText("green", text, { stream: process.stderr });
const red = (text: string) => styleText("red", text, { stream: process.stderr });
