import { PromptValidationError } from "../../base/errors.ts";
import type { HostMount } from "../../files/mounts/host-mount.ts";
import type { SyncPolicy } from "../../files/sync/sync-policy.ts";
import { Session } from "../../session/session.ts";
import {
  type Checks,
  checkBoolean,
  checkText,
  elsewhere,
  oneOf,
  optional,
} from "../../tools/config-checks.ts";

/** What every section with mounts is made from, whichever provider it is for. */
export interface WorkspaceSectionOptions {
  readonly session: Session;
  /** Folders and files of this machine. @default none: the workspace starts empty */
  readonly mounts?: readonly HostMount[] | undefined;
  /** Where mounts may come from, by their real paths. */
  readonly allowedHostRoots?: readonly string[] | "any" | undefined;
  /** Brings the files back when it is cleaned up. @default false */
  readonly syncOnCleanup?: boolean | undefined;
  /** Where to. @default a new folder, which stays: `syncedDir` */
  readonly syncDestination?: string | undefined;
  /** When they are brought back. @default by `syncOnCleanup` */
  readonly syncPolicy?: SyncPolicy | undefined;
  /** Key files and the like that may go along, by path or glob. @default none */
  readonly allowSecrets?: readonly string[] | undefined;
  /** @default false */
  readonly acceptsOverrides?: boolean | undefined;
  /** @default "workspace" */
  readonly key?: string | undefined;
  /** @default "Workspace" */
  readonly title?: string | undefined;
}

/** What each of them must be. */
export const workspaceChecks: Checks<WorkspaceSectionOptions> = {
  session: checkSession,
  syncOnCleanup: optional(checkBoolean),
  syncDestination: optional(checkText),
  syncPolicy: optional(oneOf(["never", "cleanup", "eachTurn"])),
  acceptsOverrides: optional(checkBoolean),
  // Each of these is looked at by what takes it.
  mounts: elsewhere,
  allowedHostRoots: elsewhere,
  allowSecrets: elsewhere,
  key: elsewhere,
  title: elsewhere,
};

function checkSession(value: unknown, field: string): void {
  if (value instanceof Session) return;
  const rule = "must be a Session";
  throw new PromptValidationError({ field, value, rule, remedy: "give the one you evaluate with" });
}
