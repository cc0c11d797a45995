import { isPlainObject } from "../../base/freeze.ts";
import { readString, type UnknownRecord } from "../../base/json.ts";
import { shellTool } from "../../tools/hosted/shell.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { checkWithFactory } from "../../tools/hosted-tool.ts";
import type { Verdict } from "../workspace/bounds.ts";
import type { HostedKind, JudgedUse, NativeTool, Obstacle } from "./hosted-kind.ts";

/** The kind `shell`: the SDK's `Bash` runs commands in the workspace, without containers. */
export const shellKind: HostedKind = {
  kind: "shell",
  createdBy: "`shellTool`",
  tools: ["Bash"],
  behavior:
    "runs commands in the workspace, or in an empty folder without one; events, no typed output",
  unsupported:
    '`environment` of type `"local"`, `containerId`, `fileIds`, `networkPolicy`; `memoryLimit` (`"omit"` drops only the setting)',
  findObstacles: findShellObstacles,
};

/** Controls the SDK's `Bash`. */
export const nativeBash: NativeTool = {
  name: "Bash",
  isReadOnly: false,
  needsWorkspace: false,
  codeField: "command",
  judge: judgeCommand,
  toParams: (input) => ({ commands: [readString(input, "command")] }),
  describe: describeOutput,
};

/** Settings of OpenAI's containers that code interpreter and shell share. */
export interface ContainerSettings {
  readonly fileIds?: readonly string[] | undefined;
  readonly hostMounts?: readonly object[] | undefined;
  readonly networkPolicy?: { readonly type: string } | undefined;
  readonly memoryLimit?: string | undefined;
}

/** Lists container settings that Claude does not support. `field` is the container config's name. */
export function findContainerObstacles(
  { fileIds = [], hostMounts = [], networkPolicy, memoryLimit }: ContainerSettings,
  field: string,
): readonly (Obstacle | false)[] {
  return [
    fileIds.length > 0 && {
      field: `${field}.fileIds`,
      value: fileIds,
      rule: "must be omitted on Claude, which has no uploaded files",
      remedy: "mount the files with a ClaudeAgentWorkspaceSection",
    },
    hostMounts.length > 0 && {
      field: `${field}.hostMounts`,
      value: hostMounts,
      rule: "must be omitted on Claude, where only a workspace mounts files",
      remedy: "mount the files with a ClaudeAgentWorkspaceSection",
    },
    networkPolicy !== undefined && {
      field: `${field}.networkPolicy`,
      value: networkPolicy.type, // the rest may contain secrets
      rule: "must be omitted on Claude, where the adapter's isolation controls the network",
      remedy: "set isolation.networkPolicy on the adapter, which allows no hosts by default",
    },
    memoryLimit !== undefined && {
      field: `${field}.memoryLimit`,
      value: memoryLimit,
      rule: "must be omitted on Claude, where commands run on the host",
      remedy: 'omit it, or set unsupportedHostedTools: "omit" to drop the setting',
      isDroppable: true,
    },
  ];
}

/** Creates the obstacle of a tool that uses an existing container. */
export function toContainerObstacle(field: string, value: string): Obstacle {
  const rule = "must be omitted on Claude, which has no containers";
  return { field, value, rule, remedy: "omit it to run commands in the workspace" };
}

function findShellObstacles(tool: HostedTool): readonly (Obstacle | false)[] {
  const field = `Hosted tool "${tool.name}" config.environment`;
  if (isLocalEnvironment(tool.config)) {
    const rule = 'must be "container" on Claude, which runs commands in its own shell';
    const remedy = "omit environment, or write a Tool whose handler runs the commands";
    return [{ field: `${field}.type`, value: "local", rule, remedy }];
  }
  const { config } = checkWithFactory(tool, () => shellTool(tool.config));
  const { environment } = config;
  if (environment?.type !== "container") return [];
  const { containerId } = environment;
  return [
    containerId !== undefined && toContainerObstacle(`${field}.containerId`, containerId),
    ...findContainerObstacles(environment, field),
  ];
}

function isLocalEnvironment(config: object): boolean {
  const environment: unknown = "environment" in config ? config.environment : null;
  return isPlainObject(environment) && environment["type"] === "local";
}

/** Denies commands that run in the background or outside the sandbox. */
function judgeCommand({ input }: JudgedUse): Verdict {
  const { run_in_background: inBackground, dangerouslyDisableSandbox: isUnsandboxed } = input;
  if (inBackground !== undefined && inBackground !== false) {
    return { denied: "Commands may not run in the background. Omit run_in_background." };
  }
  if (isUnsandboxed !== undefined && isUnsandboxed !== false) {
    return { denied: "Commands may not leave the sandbox. Omit dangerouslyDisableSandbox." };
  }
  return { input };
}

/** Joins the output. The SDK returns both streams as `stdout`, and its own notes as `stderr`. */
function describeOutput(_input: UnknownRecord, response: UnknownRecord): string {
  const texts = [readString(response, "stdout"), readString(response, "stderr")];
  const lines = texts.map((text) => text.replace(/^\n+|\n+$/g, "")).filter((text) => text !== "");
  if (response["interrupted"] === true) lines.push("The command was interrupted");
  return lines.join("\n") || "Ran and printed nothing";
}
