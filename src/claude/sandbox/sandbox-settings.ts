import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import type { IsolationConfig } from "../isolation.ts";
import type { PermissionMode } from "../permissions.ts";
import type { ClaudeAuth, Variables } from "../process/claude-auth.ts";
import { hostVariables } from "../process/environment.ts";

/** What the sandbox settings of one run depend on. */
export interface SandboxedRun {
  readonly isolation: IsolationConfig;
  readonly mode: PermissionMode;
  /** The SDK's tools that are on, by its names. */
  readonly native: readonly string[];
  /** Real paths of the working folder, and of the SDK's home and temporary folder. */
  readonly workspace: string;
  readonly home: string;
  readonly temporary: string;
  readonly auth: ClaudeAuth;
  /** The variables of this process. @default those of `process.env` */
  readonly host?: Variables | undefined;
}

/** The SDK's options of the same names. */
export interface SandboxOptions {
  readonly settings: object;
  readonly sandbox?: object;
}

/** Whether the commands of a run are sandboxed, so that the machine must support that. */
export function needsSandbox({ isolation, native }: SandboxedRun): boolean {
  return native.includes("Bash") && (isolation.sandbox?.enabled ?? true);
}

/**
 * Returns the sandbox settings of a run: commands may write to the workspace and a temporary folder,
 * read neither homes nor other temporary files, and reach only the hosts of the network policy.
 */
export function sandboxOptions(run: SandboxedRun): SandboxOptions {
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
      // Without it the SDK asks for permission for some commands even if the tool is allowed.
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

/** In plan mode the SDK would otherwise use a classifier, which allows reading the whole machine. */
const SETTINGS = Object.freeze({
  attribution: Object.freeze({ commit: "", pr: "" }), // no signature of the SDK in commits
  useAutoModeDuringPlan: false,
  permissions: Object.freeze({ disableAutoMode: "disable" }),
});

/** With this token a command could send messages to the SDK's process. */
const SDK_TOKEN = "CLAUDE_CODE_MESSAGING_TOKEN";

/** Lists all homes, temporary folders, and the SDK's own files. */
function listPrivateFolders({ home, host = hostVariables() }: SandboxedRun): readonly string[] {
  const own = host["HOME"];
  const folders = [
    ...(own ? [own] : []),
    "/home",
    "/root",
    "/Users",
    tmpdir(),
    "/tmp",
    "/var/tmp",
    home,
  ];
  return [...new Set(folders.flatMap(resolveReal))].filter((folder) => folder !== "/");
}

/** Returns nothing for a missing path, which the sandbox cannot hide. */
function resolveReal(path: string): readonly string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}
