import { isPlainObject } from "../../base/freeze.ts";
import type { UnknownRecord } from "../../base/reading.ts";
import { textAt } from "../../base/reading.ts";
import { shellTool } from "../../tools/hosted/shell.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { checkedConfig } from "../../tools/hosted-tool.ts";
import type { Verdict } from "../workspace/bounds.ts";
import type { HostedKind, JudgedUse, NativeTool, Obstacle } from "./hosted-kind.ts";

/** The kind `shell`: the SDK's `Bash` runs the commands in the workspace. There are no containers. */
export const shellKind: HostedKind = {
  kind: "shell",
  madeBy: "`shellTool`",
  tools: ["Bash"],
  becomes: "commands run in the workspace, or else in an empty folder; events, no typed output",
  refused:
    '`environment` of type `"local"`, `containerId`, `fileIds`, `networkPolicy`; `memoryLimit`, which `"omit"` only drops',
  findObstacles,
};

/** The SDK's `Bash`. */
export const bash: NativeTool = {
  name: "Bash",
  isReadOnly: false,
  needsWorkspace: false,
  judge: judgeCommand,
  describe: describeOutput,
};

/** Settings of OpenAI's containers, for code as for commands. */
export interface ContainerSettings {
  readonly fileIds?: readonly string[] | undefined;
  readonly hostMounts?: readonly object[] | undefined;
  readonly networkPolicy?: { readonly type: string } | undefined;
  readonly memoryLimit?: string | undefined;
}

/** Lists the container settings that Claude cannot keep. `field` names the container's config. */
export function findContainerObstacles(
  { fileIds = [], hostMounts = [], networkPolicy, memoryLimit }: ContainerSettings,
  field: string,
): readonly (Obstacle | false)[] {
  return [
    fileIds.length > 0 && {
      field: `${field}.fileIds`,
      value: fileIds,
      rule: "must be left out on Claude, which has no uploaded files",
      remedy: "mount the files by a ClaudeAgentWorkspaceSection",
    },
    hostMounts.length > 0 && {
      field: `${field}.hostMounts`,
      value: hostMounts,
      rule: "must be left out on Claude, where a tool brings no files of its own",
      remedy: "mount the files by a ClaudeAgentWorkspaceSection",
    },
    networkPolicy !== undefined && {
      field: `${field}.networkPolicy`,
      value: networkPolicy.type, // the rest may hold secrets
      rule: "must be left out on Claude, where the adapter says what commands may reach",
      remedy: "set the adapter's isolation instead, which allows nothing unless told to",
    },
    memoryLimit !== undefined && {
      field: `${field}.memoryLimit`,
      value: memoryLimit,
      rule: "must be left out on Claude, where commands run on this machine",
      remedy: 'leave it out, or have it dropped by unsupportedHostedTools: "omit"',
      isDroppable: true,
    },
  ];
}

/** The obstacle of a tool that names an existing container. */
export function refuseContainer(field: string, value: string): Obstacle {
  const rule = "must be left out on Claude, which has no containers";
  return { field, value, rule, remedy: "leave it out: commands run in the workspace" };
}

function findObstacles(tool: HostedTool): readonly (Obstacle | false)[] {
  const field = `Hosted tool "${tool.name}" config.environment`;
  if (isLocal(tool.config)) {
    const rule = 'must be "container" on Claude, whose own shell runs the commands';
    const remedy = "leave environment out, or write a Tool whose handler runs them";
    return [{ field: `${field}.type`, value: "local", rule, remedy }];
  }
  const { config } = checkedConfig(tool, () => shellTool(tool.config));
  const { environment } = config;
  if (environment?.type !== "container") return [];
  const { containerId } = environment;
  return [
    containerId !== undefined && refuseContainer(`${field}.containerId`, containerId),
    ...findContainerObstacles(environment, field),
  ];
}

function isLocal(config: object): boolean {
  const environment: unknown = "environment" in config ? config.environment : null;
  return isPlainObject(environment) && environment["type"] === "local";
}

/** A command must end with the run, and must stay in its sandbox. */
function judgeCommand({ input }: JudgedUse): Verdict {
  const { run_in_background: inBackground, dangerouslyDisableSandbox: isUnbound } = input;
  if (inBackground !== undefined && inBackground !== false) {
    return { denied: "Commands may not run in the background: run it, and wait for it" };
  }
  if (isUnbound !== undefined && isUnbound !== false) {
    return { denied: "Commands may not leave the sandbox: leave dangerouslyDisableSandbox out" };
  }
  return { input };
}

/** The SDK returns both streams as `stdout`, and uses `stderr` for its own notes. */
function describeOutput(_input: UnknownRecord, response: UnknownRecord): string {
  const texts = [textAt(response, "stdout"), textAt(response, "stderr")];
  const words = texts.map((text) => text.replace(/^\n+|\n+$/g, "")).filter((text) => text !== "");
  if (response["interrupted"] === true) words.push("It was interrupted");
  return words.join("\n") || "Ran and printed nothing";
}
