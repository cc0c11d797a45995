import type { RunEnded, WorkerEvent } from "../../fleet/worker/worker-event.ts";
import { formatDuration } from "../format-duration.ts";
import { formatNumber, pluralize } from "../pluralize.ts";
import { ProgressLine, type Terminal } from "../progress-line.ts";
import { style } from "../style.ts";
import { toLine } from "../to-line.ts";
import { shortenId } from "./format-run-table.ts";

/** The part of an output stream that a {@link WorkerPrinter} uses. */
export interface WorkerOutput {
  /** The number of characters that wait for the reader. */
  readonly writableLength: number;
  write(text: string): unknown;
}

/**
 * Prints one line per event of a worker, and on a terminal what it does now. If the output is not read, lines are
 * omitted, so that they do not fill the memory.
 */
export class WorkerPrinter {
  readonly #output: WorkerOutput;
  readonly #json: boolean;
  readonly #progress: ProgressLine;
  readonly #running = new Set<string>();
  readonly #counts = new Map<RunEnded["outcome"], number>();
  #state = "";
  #omitted = 0;

  constructor(
    output: WorkerOutput,
    { json, terminal }: { readonly json: boolean; readonly terminal: Terminal },
  ) {
    this.#output = output;
    this.#json = json;
    this.#progress = new ProgressLine(terminal);
  }

  /** Prints the line of an event. */
  print(event: WorkerEvent): void {
    this.#count(event);
    this.#write(this.#json ? JSON.stringify(event) : formatWorkerEvent(event));
    this.#progress.show(this.#describe());
  }

  /** Removes the line that shows what the worker does. */
  end(): void {
    this.#progress.clear();
  }

  #write(line: string): void {
    if (this.#output.writableLength > MAX_WAITING_LENGTH) {
      this.#omitted += 1;
      return;
    }
    this.#progress.clear();
    const omitted = this.#omitted;
    this.#omitted = 0;
    if (omitted > 0) {
      const text = `(${pluralize(omitted, "more line")}: this output was not read in time)`;
      this.#output.write(`${this.#json ? JSON.stringify({ omittedLines: omitted }) : text}\n`);
    }
    this.#output.write(`${line}\n`);
  }

  #count(event: WorkerEvent): void {
    if (event.type === "WorkerStarted") this.#state = "";
    else if (event.type === "WorkerDraining")
      this.#state = "draining (press Ctrl-C to end at once), ";
    else if (event.type === "RunStarted") this.#running.add(event.runId);
    else {
      this.#running.delete(event.runId);
      this.#counts.set(event.outcome, (this.#counts.get(event.outcome) ?? 0) + 1);
    }
  }

  #describe(): string {
    const ended = Array.from(
      this.#counts,
      ([outcome, count]) => `${formatNumber(count)} ${outcome}`,
    );
    return `${this.#state}${[`${this.#running.size} running`, ...ended].join(", ")}`;
  }
}

const MAX_WAITING_LENGTH = 1024 * 1024;

/** Formats an event as a line that starts with its time. */
export function formatWorkerEvent(event: WorkerEvent): string {
  const time = style.dim(`${event.createdAt.slice(0, 19)}Z`);
  switch (event.type) {
    case "WorkerStarted": {
      const loops = toLine(event.loops.join(", "));
      return `${time} worker ${event.worker} started: ${loops}, ${event.concurrency} at once`;
    }
    case "WorkerDraining": {
      const runs = event.running === 0 ? "" : `: ${pluralize(event.running, "run")} to give back`;
      return `${time} worker ${event.worker} drains${runs}`;
    }
    case "RunStarted": {
      const attempt = event.attempt === 1 ? "" : ` (attempt ${event.attempt})`;
      return `${time} ${formatName(event)} started${attempt}`;
    }
    case "RunEnded":
      return `${time} ${formatName(event)} ${formatOutcome(event)}`;
  }
}

function formatName({ runId, loop }: { readonly runId: string; readonly loop: string }): string {
  return `run ${shortenId(runId)} ${toLine(loop)}`;
}

function formatOutcome(event: RunEnded): string {
  const { outcome, durationMs, delayMs, approvals, error, usage } = event;
  const took = formatDuration(durationMs);
  const why = error === null ? "" : `: ${toLine(`${error.name}: ${error.message}`, MAX_MESSAGE)}`;
  const later = formatDuration(delayMs ?? 0);
  switch (outcome) {
    case "done":
      return `${style.green("done")} in ${took}${usage ? `, ${pluralize(usage.totalTokens, "token")}` : ""}`;
    case "failed":
    case "dead-lettered":
      return `${style.red(outcome)} after ${took}${why}`;
    case "retry":
      return `${style.yellow("stopped")} after ${took}, continues in ${later}${why}`;
    case "paused":
      return `${style.yellow("paused")} for ${later}${why}`;
    case "parked": {
      const names = toLine(approvals.map(({ name }) => name).join(", "), MAX_MESSAGE);
      return `${style.yellow("parked")}: waits for approval of ${names}`;
    }
    case "given-back":
      return `given back after ${took}`;
    case "cancelled":
      return `cancelled after ${took}`;
    case "lost":
      return `${style.red("lost")} after ${took}: another attempt continues it`;
  }
}

const MAX_MESSAGE = 200;
