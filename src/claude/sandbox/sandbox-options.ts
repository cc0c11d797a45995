import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import type { IsolationConfig } from "../isolation.ts";
import type { PermissionMode } from "../permissions.ts";
import type { ClaudeAuth, Variables } from "../process/claude-auth.ts";
import { readHostVariables } from "../process/claude-environment.ts";

/** Properties of a run that determine its sandbox settings. */
export interface SandboxedRun {
  readonly isolation: IsolationConfig;
  readonly mode: PermissionMode;
  /** The enabled SDK tools. */
  readonly native: readonly string[];
  /** The real path of the working folder. */
  readonly workspace: string;
  /** The real path of the SDK's home. */
  readonly home: string;
  /** The real path of the SDK's temporary folder. */
  readonly temporary: string;
  readonly auth: ClaudeAuth;
  /** The variables of this process. @default `process.env` */
  readonly host?: Variables | undefined;
}

/** The SDK's options `settings` and `sandbox`. */
export interface SandboxOptions {
  readonly settings: object;
  readonly sandbox?: object;
}

/** Whether the run has commands that must be sandboxed. */
export function needsSandbox({ isolation, native }: SandboxedRun): boolean {
  return native.includes("Bash") && (isolation.sandbox?.enabled ?? true);
}

/**
 * Returns the sandbox options of a run. Commands may write to the workspace and a temporary folder.
 * They cannot read home folders or other temporary files, and they reach only the hosts of the network
 * policy.
 */
export function toSandboxOptions(run: SandboxedRun): SandboxOptions {
  if (!needsSandbox(run)) return { settings: SETTINGS };
  const { isolation, mode, auth, workspace, temporary } = run;
  const { networkPolicy, sandbox = {} } = isolation;
  const allowsAll = mode === "dontAsk" || mode === "bypassPermissions";
  return {
    settings: SETTINGS,
    sandbox: {
      enabled: true,
      failIfUnavailable: true,
      allowUnsandboxedCommands: sandbox.allowUnsandboxedCommands ?? false,
      // If false, the SDK prompts for permission for some commands even if the tool is allowed.
      autoAllowBashIfSandboxed: allowsAll,
      excludedCommands: sandbox.excludedCommands ?? [],
      network: {
        allowedDomains: networkPolicy?.type === "allowlist" ? networkPolicy.allowedDomains : [],
        strictAllowlist: true,
      },
      filesystem: {
        denyRead: listPrivateFolders(run),
        allowRead: [workspace, temporary, ...(sandbox.readablePaths ?? [])],
        allowWrite: [...(sandbox.writablePaths ?? [])],
      },
      credentials: {
        envVars: [...Object.keys(auth.variables), SDK_TOKEN].map((name) => ({
          name,
          mode: "deny",
        })),
      },
    },
  };
}

/** Disables auto mode: in plan mode its classifier would allow reading the whole host. */
const SETTINGS = Object.freeze({
  attribution: Object.freeze({ commit: "", pr: "" }), // no attribution to the SDK in commits
  useAutoModeDuringPlan: false,
  permissions: Object.freeze({ disableAutoMode: "disable" }),
});

/** A command with this token could send messages to the SDK's process. */
const SDK_TOKEN = "CLAUDE_CODE_MESSAGING_TOKEN";

/** Lists all home folders, temporary folders, and the SDK's home. */
function listPrivateFolders({ home, host = readHostVariables() }: SandboxedRun): readonly string[] {
  const hostHome = host["HOME"];
  const folders = [
    ...(hostHome ? [hostHome] : []),
    "/home",
    "/root",
    "/Users",
    tmpdir(),
    "/tmp",
    "/var/tmp",
    home,
  ];
  return [...new Set(folders.flatMap(resolveRealPath))].filter((folder) => folder !== "/");
}

/** Returns an empty array for a missing path, which the sandbox cannot hide. */
function resolveRealPath(path: string): readonly string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}
