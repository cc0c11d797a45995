import type { EvaluateOptions } from "../../../src/adapter/provider-adapter.ts";
import type { CrashStoreKind } from "./crash-stores.ts";

/** The task of a crash test's child process. Passed to it as JSON. */
export interface CrashOrder {
  /** Where the session is stored. */
  readonly store: CrashStoreKind;
  /** Folder of the scene: it holds the store, the ledger and the answers. */
  readonly folder: string;
  /** Name of a module in `adapters/`, without `-crash.ts`. */
  readonly adapter: string;
  /** Where the process kills itself; `null` runs to the end. */
  readonly point: CrashPoint | null;
  /** Decisions about calls that wait for approval, by key. @default all calls are parked */
  readonly approvals?: EvaluateOptions["approvals"];
  /**
   * Values for the adapter's module, such as the URL of a server in the parent process. `needsApproval` is the name of a
   * tool whose calls wait for approval.
   */
  readonly details: Readonly<Record<string, string>>;
}

/**
 * The moment at which a child process kills itself: a moment's name and how many times it is reached in that
 * process. The names:
 *
 * - `barrier NAME`: a barrier of the evaluation, after the session is stored (see `BARRIERS`)
 * - `before TOOL`, `after TOOL`: in a tool's handler, before and after its effect
 * - `event TYPE`: while an event is published, before it is stored
 * - any name that an adapter's module passes to `reach`, such as `request`
 */
export interface CrashPoint {
  readonly at: string;
  /** @default 1 */
  readonly nth?: number;
  /** Whether everything so far is stored before the process dies. @default false */
  readonly flushed?: boolean;
}
