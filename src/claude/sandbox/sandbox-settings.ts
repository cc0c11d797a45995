import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import type { IsolationConfig } from "../isolation.ts";
import type { PermissionMode } from "../permissions.ts";
import type { ClaudeAuth, Variables } from "../process/claude-auth.ts";
import { hostVariables } from "../process/environment.ts";

/** What the sandbox of one run is made for. */
export interface SandboxedRun {
  readonly isolation: IsolationConfig;
  readonly mode: PermissionMode;
  /** The SDK's tools that are on, by its names. */
  readonly native: readonly string[];
  /** Real paths: what the SDK works in, and what it has for itself. */
  readonly workspace: string;
  readonly home: string;
  readonly temporary: string;
  readonly auth: ClaudeAuth;
  /** @default this process's own */
  readonly host?: Variables | undefined;
}

/** The SDK's options of the same names. */
export interface SandboxOptions {
  readonly settings: object;
  readonly sandbox?: object;
}

/** Whether commands of this run are bound at all, so that the machine must have what that takes. */
export function needsSandbox({ isolation, native }: SandboxedRun): boolean {
  return native.includes("Bash") && (isolation.sandbox?.enabled ?? true);
}

/**
 * What binds the commands of a run: they write in the workspace and in a temporary folder, read
 * neither homes nor anybody's temporary files, and reach the hosts that the policy names.
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
      // Without it the SDK asks about some commands though the tool is allowed, and nobody answers.
      autoAllowBashIfSandboxed: allowsAll,
      excludedCommands: sandbox.excludedCommands ?? [],
      network: {
        allowedDomains: networkPolicy?.type === "allowlist" ? networkPolicy.allowedDomains : [],
        strictAllowlist: true,
      },
      filesystem: {
        denyRead: privateFolders(run),
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

/** In the SDK's plan mode a classifier would decide otherwise, and let all of the machine be read. */
const SETTINGS = Object.freeze({
  attribution: Object.freeze({ commit: "", pr: "" }), // only the prompt says what is written
  useAutoModeDuringPlan: false,
  permissions: Object.freeze({ disableAutoMode: "disable" }),
});

/** With it one could speak to the SDK's process in its user's stead. */
const SDK_TOKEN = "CLAUDE_CODE_MESSAGING_TOKEN";

/** This user's home and everybody's, other runs' files, and what the SDK keeps for itself. */
function privateFolders({ home, host = hostVariables() }: SandboxedRun): readonly string[] {
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
  return [...new Set(folders.flatMap(real))].filter((folder) => folder !== "/");
}

/** The sandbox cannot hide what is not there. */
function real(path: string): readonly string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}
