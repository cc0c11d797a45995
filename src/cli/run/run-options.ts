import type { Terminal } from "../progress-line.ts";
import type { ProviderChoice } from "../provider-choice.ts";

/** The two actions of `wink run`. Both resolve with the exit code. */
export interface RunActions {
  readonly program: (options: ProgramRunOptions) => Promise<number>;
  readonly agent: (options: AgentRunOptions) => Promise<number>;
}

/** Options of `wink run` for a program. */
export interface ProgramRunOptions {
  /** A file for Node.js, or any other command. */
  readonly program: string;
  readonly args: readonly string[];
  readonly provider: ProviderChoice;
  /** Whether to print the server and its requests as JSON on standard error. */
  readonly json: boolean;
  /** Whether to print a line per request on standard error. */
  readonly requests: boolean;
  /** Where the running model is shown if it is a terminal. @default standard error */
  readonly terminal?: Terminal | undefined;
}

/** Options of `wink run` for an agent. */
export interface AgentRunOptions {
  /** The module with the agent. */
  readonly file: string;
  /** Params as `name=value`. */
  readonly params: readonly string[];
  /** A file with params as JSON; `-` for standard input. @default standard input, if it sends anything */
  readonly paramsFile?: string | undefined;
  /** The user's input. */
  readonly input?: string | undefined;
  /** Name of a model at the provider of the environment. */
  readonly model?: string | undefined;
  /** The local provider, if it is used. */
  readonly provider: ProviderChoice;
  /** Whether to use the local provider, also if the environment has another one. */
  readonly isLocal: boolean;
  /** Whether to print a line per request of the local provider. */
  readonly requests: boolean;
  /** Where the session is stored: a folder, a SQLite file or a PostgreSQL URL. @default it is not stored */
  readonly store?: string | undefined;
  /** Schema of a PostgreSQL database's tables. @default "wink" */
  readonly schema?: string | undefined;
  /** Id of the stored session. @default a new one */
  readonly session?: string | undefined;
  /** Decisions about parked calls, by their keys. */
  readonly approvals: Readonly<Record<string, "approve" | "deny">>;
  /** Whether to show the run in the inspector. */
  readonly inspect: boolean;
  /** Port of the inspector; 0 for any free one. */
  readonly port: number;
  /** Whether to open the inspector in a browser, if a person runs the command. */
  readonly open: boolean;
  /** Whether to print one JSON document on standard output, and lines of JSON on standard error. */
  readonly json: boolean;
  /** Whether to print errors with their class, cause and stack. */
  readonly debug: boolean;
}
