import type { Refusal } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { applyPatchTool } from "../../tools/hosted/apply-patch.ts";
import {
  type AutoContainerConfig,
  type ContainerOptions,
  codeInterpreterTool,
} from "../../tools/hosted/code-interpreter.ts";
import { shellTool } from "../../tools/hosted/shell.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { checkedConfig } from "../../tools/hosted-tool.ts";
import { domainRule } from "./search-domains.ts";

/** What the Claude Agent SDK cannot keep of a hosted tool. */
export interface Obstacle extends Refusal {
  /** The tool does its work without it, so it may be dropped. @default false */
  readonly isDroppable?: boolean | undefined;
}

/** The SDK's search takes domains, and nothing else. */
export function searchObstacles(tool: HostedTool): readonly Obstacle[] {
  const { config } = checkedConfig(tool, () => webSearchTool(tool.config));
  const { domainFilter, geoHint, allowLiveAccess, searchContextSize } = config;
  const at = settingOf(tool);
  const place = Object.values(geoHint ?? {}).some((part) => part !== undefined)
    ? geoHint
    : undefined;
  return [
    ...when(domainRule(domainFilter) === null, {
      ...at("domainFilter", domainFilter),
      rule: "must not block any of what it allows on Claude, whose search takes one list",
      remedy: "keep allowed or blocked",
    }),
    ...when(allowLiveAccess === false, {
      ...at("allowLiveAccess", allowLiveAccess),
      rule: "must not be false on Claude, which always searches the live web",
      remedy: `leave it out, or run without the tool by ${OMIT}`,
    }),
    ...when(place !== undefined, {
      ...at("geoHint", geoHint),
      rule: "must be left out on Claude, whose search knows no place",
      remedy: `name the place in the prompt, or have it dropped by ${OMIT}`,
      isDroppable: true,
    }),
    ...when(searchContextSize !== undefined, {
      ...at("searchContextSize", searchContextSize),
      rule: "must be left out on Claude, which chooses it itself",
      remedy: `leave it out, or have it dropped by ${OMIT}`,
      isDroppable: true,
    }),
  ];
}

/** Code runs by the SDK's shell, in the workspace: there are no containers. */
export function codeObstacles(tool: HostedTool): readonly Obstacle[] {
  const { config } = checkedConfig(tool, () => codeInterpreterTool(tool.config));
  const { container } = config;
  const at = settingOf(tool);
  if (container === undefined) return [];
  if (!("type" in container)) return [existing(at("container.id", container.id))];
  return containerObstacles(container, (key, value) => at(`container.${key}`, value));
}

export function shellObstacles(tool: HostedTool): readonly Obstacle[] {
  const at = settingOf(tool);
  if (isLocal(tool.config)) {
    return [
      {
        ...at("environment.type", "local"),
        rule: 'must be "container" on Claude, whose own shell runs the commands',
        remedy: "leave environment out, or write a Tool whose handler runs them",
      },
    ];
  }
  const { config } = checkedConfig(tool, () => shellTool(tool.config));
  const { environment } = config;
  if (environment?.type !== "container") return [];
  const { containerId } = environment;
  return [
    ...when(containerId !== undefined, existing(at("environment.containerId", containerId))),
    ...containerObstacles(environment, (key, value) => at(`environment.${key}`, value)),
  ];
}

/** Files are edited by the SDK's own tools, where its workspace is. */
export function patchObstacles(tool: HostedTool, hasWorkspace: boolean): readonly Obstacle[] {
  checkedConfig(tool, () => applyPatchTool({ ...tool.config }));
  const filesystem = "filesystem" in tool.live ? tool.live.filesystem : undefined;
  return [
    ...workspaceObstacles(tool, hasWorkspace),
    ...when(filesystem !== undefined, {
      field: `Hosted tool "${tool.name}" filesystem`,
      value: filesystem,
      rule: "must be left out on Claude, which edits the files of its workspace",
      remedy: "leave it out",
    }),
  ];
}

export function workspaceObstacles(tool: HostedTool, hasWorkspace: boolean): readonly Obstacle[] {
  return when(!hasWorkspace, {
    field: `The workspace of hosted tool "${tool.name}"`,
    value: null,
    rule: "must be a ClaudeAgentWorkspaceSection of the prompt",
    remedy: "give the prompt one, or leave the tool out",
  });
}

/** Claude has no tool for it at all. */
export function kindObstacle({ name, kind }: HostedTool, remedy: string): Obstacle {
  const rule = "must be one that Claude has a tool for";
  return { field: `Hosted tool "${name}" kind`, value: kind, rule, remedy };
}

const OMIT = 'unsupportedHostedTools: "omit"';
const MOUNT = "mount the files by a ClaudeAgentWorkspaceSection";

type Setting = (key: string, value: unknown) => Pick<Refusal, "field" | "value">;

function settingOf({ name }: HostedTool): Setting {
  return (key, value) => ({ field: `Hosted tool "${name}" config.${key}`, value });
}

function when(isSo: boolean, obstacle: Obstacle): readonly Obstacle[] {
  return isSo ? [obstacle] : [];
}

function isLocal(config: object): boolean {
  const environment: unknown = "environment" in config ? config.environment : null;
  return isPlainObject(environment) && environment["type"] === "local";
}

function existing(setting: Pick<Refusal, "field" | "value">): Obstacle {
  const rule = "must be left out on Claude, which has no containers";
  return { ...setting, rule, remedy: "leave it out: commands run in the workspace" };
}

function containerObstacles(
  container: ContainerOptions & Pick<AutoContainerConfig, "hostMounts">,
  at: Setting,
): readonly Obstacle[] {
  const { memoryLimit, fileIds = [], networkPolicy, hostMounts = [] } = container;
  return [
    ...when(fileIds.length > 0, {
      ...at("fileIds", fileIds),
      rule: "must be left out on Claude, which has no uploaded files",
      remedy: MOUNT,
    }),
    ...when(hostMounts.length > 0, {
      ...at("hostMounts", hostMounts),
      rule: "must be left out on Claude, where a tool brings no files of its own",
      remedy: MOUNT,
    }),
    ...when(networkPolicy !== undefined, {
      ...at("networkPolicy", networkPolicy?.type), // the rest may hold secrets
      rule: "must be left out on Claude, where the adapter says what commands may reach",
      remedy: "set the adapter's isolation instead, which allows nothing unless told to",
    }),
    ...when(memoryLimit !== undefined, {
      ...at("memoryLimit", memoryLimit),
      rule: "must be left out on Claude, where commands run on this machine",
      remedy: `leave it out, or have it dropped by ${OMIT}`,
      isDroppable: true,
    }),
  ];
}
