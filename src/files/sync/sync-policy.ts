/** When what was done to the files of a workspace is brought back. */
export type SyncPolicy = "never" | "cleanup" | "eachTurn";

/** What a section says of it. */
export interface SyncWishes {
  readonly syncPolicy?: SyncPolicy | undefined;
  readonly syncOnCleanup?: boolean | undefined;
}

/** The policy that was asked for; `syncOnCleanup` is the short way to say one. */
export function syncPolicyOf({ syncPolicy, syncOnCleanup = false }: SyncWishes): SyncPolicy {
  return syncPolicy ?? (syncOnCleanup ? "cleanup" : "never");
}
