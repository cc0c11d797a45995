import type { RunState } from "../../fleet/run.ts";
import type { RunFilter } from "../../fleet/tables/run-table.ts";
import type { Terminal } from "../progress-line.ts";
import type { Screen } from "../style.ts";
import type { FleetChoice } from "./add-fleet-options.ts";

/** What the commands of `wink fleet` run, by the name of the command. */
export interface FleetActions {
  ls(choice: FleetChoice, options: ListOptions): Promise<void>;
  show(choice: FleetChoice, options: ShowOptions): Promise<void>;
  cancel(choice: FleetChoice, options: CancelOptions): Promise<void>;
  retry(choice: FleetChoice, options: RetryOptions): Promise<void>;
  approve(choice: FleetChoice, options: ApproveOptions): Promise<void>;
  worker(choice: FleetChoice, options: WorkOptions): Promise<void>;
  drain(choice: FleetChoice, options: DrainOptions): Promise<void>;
}

/** Options of `wink fleet ls`. */
export interface ListOptions extends RunFilter {
  /** How many runs to print. @default 20, and all with `json` */
  readonly limit?: number | undefined;
  /** Whether to print one JSON document per run. */
  readonly json: boolean;
  /** Where the table is printed. @default standard output */
  readonly screen?: Screen | undefined;
}

/** Options of `wink fleet show`. */
export interface ShowOptions {
  /** The run's id, or its first characters. */
  readonly run: string;
  /** Whether to print lines of JSON: the run, each event, and with `follow` the run as it ended. */
  readonly json: boolean;
  /** Whether to print events until the run ends. */
  readonly follow: boolean;
  /** Where waiting is shown if it is a terminal. @default standard error */
  readonly terminal?: Terminal | undefined;
}

/** Options of `wink fleet cancel`. */
export interface CancelOptions {
  /** The run's id, or its first characters. */
  readonly run: string;
  readonly reason?: string | undefined;
  /** Whether to print the run as one line of JSON. @default false */
  readonly json?: boolean | undefined;
}

/** Options of `wink fleet retry`: one run, or all runs in a state. */
export type RetryOptions = (
  | { readonly run: string }
  | { readonly state: RetriedState; readonly loop?: string | undefined }
) & {
  /** Whether to print the ids as one line of JSON. @default false */
  readonly json?: boolean | undefined;
};

/** The states of runs that can be tried again: they have ended without a result. */
export const RETRIED_STATES = [
  "dead-lettered",
  "failed",
  "cancelled",
] as const satisfies readonly RunState[];

/** The state of a run that can be tried again. */
export type RetriedState = (typeof RETRIED_STATES)[number];

/** Options of `wink fleet approve`. */
export interface ApproveOptions {
  /** The run's id, or its first characters. */
  readonly run: string;
  /** The key of the call, with or without the run's id. @default the only call that waits */
  readonly key?: string | undefined;
  readonly deny: boolean;
  /** Whether to print the decision as one line of JSON. @default false */
  readonly json?: boolean | undefined;
}

/** Options of `wink fleet worker`. */
export interface WorkOptions {
  /** Modules that export the loops. */
  readonly files: readonly string[];
  readonly concurrency?: number | undefined;
  readonly perGroup?: number | undefined;
  readonly graceMs?: number | undefined;
  /** How many days runs that have ended are kept. @default the worker deletes none */
  readonly keepDoneDays?: number | undefined;
  /** Whether to print events as lines of JSON. */
  readonly json: boolean;
  /** Where the state of the worker is shown if it is a terminal. @default standard error */
  readonly terminal?: Terminal | undefined;
  /** Stops the worker. @default SIGTERM and SIGINT; the second signal ends the process at once */
  readonly signal?: AbortSignal | undefined;
}

/** Options of `wink fleet drain`. */
export interface DrainOptions {
  /** Number of the worker. @default all workers */
  readonly worker?: number | undefined;
  /** Whether to wait until the workers have ended. */
  readonly wait: boolean;
  /** Whether to print the workers as one line of JSON. @default false */
  readonly json?: boolean | undefined;
  /** Where waiting is shown if it is a terminal. @default standard error */
  readonly terminal?: Terminal | undefined;
  /** How long a worker may be silent until it counts as lost, in milliseconds. @default 30_000 */
  readonly maxSilenceMs?: number | undefined;
}
