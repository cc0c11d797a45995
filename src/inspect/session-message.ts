import type { Entry } from "./entry.ts";
import type { SessionSummary } from "./session-summary.ts";

/** A message of the server about the session that the page follows. */
export type SessionMessage =
  | { readonly type: "entries"; readonly entries: readonly Entry[] }
  | { readonly type: "summary"; readonly summary: SessionSummary }
  | { readonly type: "loaded" }
  | {
      /** Text that arrives while a turn runs. `null` ends it. */
      readonly type: "text";
      readonly turn: number | null;
      readonly delta: string;
    };
