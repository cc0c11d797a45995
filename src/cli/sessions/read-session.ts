import type { Entry } from "../../inspect/entry.ts";
import { RunModel } from "../../inspect/model/run-model.ts";
import type { SessionState, SessionSummary } from "../../inspect/session-summary.ts";
import type { SessionStore } from "../../session/session-store.ts";
import { isDamage } from "./check-session.ts";

/** A stored session as the inspector shows it. */
export interface SessionReport {
  readonly state: ReportedState;
  readonly summary: SessionSummary;
  /** The timeline, in the order in which its entries began. */
  readonly entries: readonly Entry[];
}

/** The state of a session that its records tell, or `"damaged"` if they cannot be read. */
export type ReportedState = SessionState | "damaged";

/** Reads a session up to its end, or up to its first damaged record. */
export async function readSession(store: SessionStore, id: string): Promise<SessionReport> {
  const model = new RunModel();
  let problem: string | null = null;
  try {
    for await (const record of store.read(id)) model.add(record);
  } catch (error) {
    if (!isDamage(error, id)) throw error;
    problem = error.message;
  }
  model.settle();
  const summary = model.summarize(id, problem);
  const state = problem === null ? summary.state : "damaged";
  return { state, summary, entries: model.entries.list() };
}
