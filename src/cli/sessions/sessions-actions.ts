import type { Screen } from "../style.ts";
import type { StoreChoice } from "./add-store-options.ts";

/** The functions that run the commands of `wink sessions`, by the name of the command. */
export interface SessionsActions {
  ls(choice: StoreChoice, options: ListSessionsOptions): Promise<void>;
  show(choice: StoreChoice, options: ShowSessionOptions): Promise<void>;
  export(choice: StoreChoice, options: ExportOptions): Promise<void>;
  /** Resolves with the exit code. */
  rm(choice: StoreChoice, options: RemoveOptions): Promise<number>;
}

/** Options of `wink sessions ls`. */
export interface ListSessionsOptions {
  /** How many sessions to print. @default 20, and all with `json` */
  readonly limit?: number | undefined;
  /** Whether to print one JSON array. */
  readonly json: boolean;
  /** Where the table is printed. @default standard output */
  readonly screen?: Screen | undefined;
}

/** Options of `wink sessions show`. */
export interface ShowSessionOptions {
  readonly id: string;
  /** Whether to print one JSON document. */
  readonly json: boolean;
}

/** Options of `wink sessions export`. */
export interface ExportOptions {
  readonly id: string;
  /** Path of the file. @default standard output */
  readonly out?: string | undefined;
  /** Whether to replace an existing file. */
  readonly force: boolean;
}

/** Options of `wink sessions rm`. */
export interface RemoveOptions {
  readonly ids: readonly string[];
  /** Whether to delete without a question. */
  readonly yes: boolean;
  /** Whether to print one JSON document. */
  readonly json: boolean;
  /** Asks a question, and returns whether the answer is yes. @default asks on the terminal */
  readonly ask?: ((question: string) => Promise<boolean>) | undefined;
}
