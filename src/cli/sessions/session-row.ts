import type { TokenUsage } from "../../base/usage.ts";
import type { ReportedState, SessionReport } from "./read-session.ts";

/** One session in short, as `wink sessions ls --json` prints it. */
export interface SessionRow {
  readonly id: string;
  readonly state: ReportedState;
  /** When the session was created, in ISO 8601. */
  readonly startedAt: string | null;
  /** Time of the last stored event, in ISO 8601. */
  readonly lastActivityAt: string | null;
  readonly promptName: string | null;
  readonly adapter: string | null;
  readonly model: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly evaluations: number;
  readonly turns: number;
  readonly calls: number;
  readonly failedCalls: number;
  readonly usage: TokenUsage;
  /** In US dollars; `null` if no turn has a cost. */
  readonly costUsd: number | null;
  /** Why the session cannot be read to its end; `null` if it can. */
  readonly problem: string | null;
}

/** Returns a session in short. */
export function toSessionRow({ state, summary }: SessionReport): SessionRow {
  const { id, createdAt, firstAt, lastAt, promptName, adapter, model, tags, ...rest } = summary;
  const { evaluations, turns, calls, failedCalls, usage, usd, problem } = rest;
  return {
    ...{ id, state, startedAt: createdAt ?? toIso(firstAt), lastActivityAt: toIso(lastAt) },
    ...{ promptName, adapter, model, tags, evaluations, turns, calls, failedCalls, usage },
    ...{ costUsd: usd, problem },
  };
}

function toIso(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
