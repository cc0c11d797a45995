import { PromptValidationError } from "../../base/errors.ts";
import type { HostMount } from "../../files/mounts/host-mount.ts";
import type { ConflictPolicy } from "../../files/sync/sync-conflict.ts";
import type { SyncPolicy } from "../../files/sync/sync-policy.ts";
import { Session } from "../../session/session.ts";
import {
  type Checks,
  checkBoolean,
  checkSingleLine,
  deferCheck,
  enumCheck,
  optional,
} from "../../tools/config-checks.ts";

/** Options that the workspace sections of all providers share. */
export interface WorkspaceSectionOptions {
  /** Session of the evaluations that use the workspace. */
  readonly session: Session;
  /** Folders and files of the host to mount. @default none: the workspace starts empty */
  readonly mounts?: readonly HostMount[] | undefined;
  /** Folders that mounts may come from, compared by real path; `"any"` allows every folder. */
  readonly allowedHostRoots?: readonly string[] | "any" | undefined;
  /** Copies the files back during cleanup. @default false */
  readonly syncOnCleanup?: boolean | undefined;
  /** Folder to copy the files to. @default a new folder that is not deleted: `syncedDir` */
  readonly syncDestination?: string | undefined;
  /** When the files are copied back. @default determined by `syncOnCleanup` */
  readonly syncPolicy?: SyncPolicy | undefined;
  /**
   * What happens to a file that was changed both in the workspace and on the host since it was mounted. `"keep"`:
   * the host's version stays, and the other one is stored in `SyncReport.conflictsDir`. `"both"`: the other one is
   * written beside it, as `name.container.ext`. `"overwrite"`: the host's version is replaced. @default "keep"
   */
  readonly onConflict?: ConflictPolicy | undefined;
  /**
   * A folder that outlives the process and keeps the files, so that another process can continue with them. Only
   * one process at a time can use it. Files are downloaded after each turn in which code ran. @default the files
   * are lost with the process
   */
  readonly persistDir?: string | undefined;
  /** Paths or globs of secret files, such as keys, to include. @default none */
  readonly allowSecrets?: readonly string[] | undefined;
  /** Whether overrides may replace the text. @default false */
  readonly acceptsOverrides?: boolean | undefined;
  /** Key of the section. @default "workspace" */
  readonly key?: string | undefined;
  /** Title of the section. @default "Workspace" */
  readonly title?: string | undefined;
}

/** Checks of the options that workspace sections share. */
export const workspaceChecks: Checks<WorkspaceSectionOptions> = {
  session: checkSession,
  syncOnCleanup: optional(checkBoolean),
  syncDestination: optional(checkSingleLine),
  syncPolicy: optional(enumCheck(["never", "cleanup", "eachTurn"])),
  persistDir: optional(checkSingleLine),
  onConflict: optional(enumCheck(["keep", "overwrite", "both"])),
  acceptsOverrides: optional(checkBoolean),
  // The code that uses these checks them.
  mounts: deferCheck,
  allowedHostRoots: deferCheck,
  allowSecrets: deferCheck,
  key: deferCheck,
  title: deferCheck,
};

/** Throws if `syncOnCleanup` and `syncPolicy` contradict each other. `name` is the name of the section's class. */
export function checkSyncOptions(
  { syncOnCleanup, syncPolicy }: Pick<WorkspaceSectionOptions, "syncOnCleanup" | "syncPolicy">,
  name: string,
): void {
  if (syncOnCleanup === undefined || syncPolicy === undefined) return;
  if (syncOnCleanup === (syncPolicy !== "never")) return;
  throw new PromptValidationError({
    field: `${name}.syncOnCleanup`,
    value: syncOnCleanup,
    rule: `must be ${!syncOnCleanup} or omitted with syncPolicy: ${JSON.stringify(syncPolicy)}`,
    remedy: "set only syncPolicy",
  });
}

function checkSession(value: unknown, field: string): void {
  if (value instanceof Session) return;
  const rule = "must be a Session";
  throw new PromptValidationError({
    field,
    value,
    rule,
    remedy: "pass the session that you evaluate with",
  });
}
