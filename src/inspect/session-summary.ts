import type { TokenUsage } from "../base/usage.ts";
import type { FileChange } from "./file-change.ts";

/** The state of a session. `"open"`: its last evaluation has no end: it runs, or was interrupted. */
export type SessionState = "empty" | "open" | "done" | "failed" | "parked";

/** A tool and how often it was called. */
export interface ToolCount {
  readonly name: string;
  readonly calls: number;
  readonly failed: number;
  /** Duration of all local calls together, in milliseconds. */
  readonly ms: number;
  /** Where its last call ran. */
  readonly place: string;
}

/** One session in short, for the page's header and the list of sessions. */
export interface SessionSummary {
  readonly id: string;
  readonly state: SessionState;
  readonly createdAt: string | null;
  /** Times of the first and the last event, in milliseconds since 1970. */
  readonly firstAt: number | null;
  readonly lastAt: number | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly promptName: string | null;
  readonly adapter: string | null;
  readonly model: string | null;
  readonly evaluations: number;
  readonly turns: number;
  readonly calls: number;
  readonly failedCalls: number;
  readonly usage: TokenUsage;
  readonly usd: number | null;
  /** The first prompt: its entry, and the beginning of its text; `null` if it is not stored. */
  readonly prompt: { readonly key: string; readonly text: string } | null;
  /** The user's last input; `null` if there is none or it is not stored. */
  readonly input: string | null;
  /** The last answer, or the error of the last evaluation. */
  readonly answer: Answer | null;
  readonly tools: readonly ToolCount[];
  /** Keys of entries that a reader should not miss: failures, rollbacks, replaced containers, compactions. */
  readonly highlights: readonly string[];
  /** The files of workspaces that differ from the mounted ones, as far as the session knows. */
  readonly files: readonly FileChange[];
  /** The report of requests to the provider; `null` if the session does not have it. */
  readonly egress: unknown;
  /** Number of records read so far. */
  readonly records: number;
  /** Why the rest of the session cannot be read; `null` if it can. */
  readonly problem: string | null;
}

/** The end of an evaluation. */
export interface Answer {
  readonly isError: boolean;
  readonly text: string;
  readonly citations: readonly Readonly<Record<string, unknown>>[];
}
