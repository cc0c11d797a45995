/** When workspace files are synced to the host: never, on cleanup, or after each turn. */
export type SyncPolicy = "never" | "cleanup" | "eachTurn";

/** The sync options of a workspace section. */
export interface SyncPolicyOptions {
  readonly syncPolicy?: SyncPolicy | undefined;
  readonly syncOnCleanup?: boolean | undefined;
}

/** Returns the sync policy. `syncOnCleanup: true` is short for `syncPolicy: "cleanup"`. */
export function resolveSyncPolicy({
  syncPolicy,
  syncOnCleanup = false,
}: SyncPolicyOptions): SyncPolicy {
  return syncPolicy ?? (syncOnCleanup ? "cleanup" : "never");
}
