import type { Omission } from "../../adapter/model-client.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { suggestion } from "../../base/nearest.ts";
import { list } from "../../base/show.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { checkApart } from "../../tools/hosted-tool.ts";
import { patchKind } from "./apply-patch.ts";
import { codeKind } from "./code-interpreter.ts";
import { fileKinds, fileNatives } from "./file-tools.ts";
import type { HostedKind, NativeName, NativeTool, Obstacle } from "./hosted-kind.ts";
import { refusedKinds, refuseKind } from "./refused-kinds.ts";
import { bash, shellKind } from "./shell.ts";
import { searchKind, webSearch } from "./web-search.ts";

/** Every kind of hosted tool. If two switch on the same SDK tool, its calls belong to the first. */
export const hostedKinds: readonly HostedKind[] = [
  searchKind,
  shellKind,
  codeKind,
  patchKind,
  ...fileKinds,
  ...refusedKinds,
];

const kinds: ReadonlyMap<string, HostedKind> = new Map(hostedKinds.map((one) => [one.kind, one]));

const natives: ReadonlyMap<string, NativeTool> = new Map(
  [webSearch, bash, ...fileNatives].map((tool) => [tool.name, tool]),
);

/** How hosted tools are checked before the SDK starts. */
export interface HostedToolChecks {
  readonly hasWorkspace: boolean;
  /** Whether a tool that the SDK cannot run is an error, or is omitted. */
  readonly unsupported: "error" | "omit";
  readonly logger: Logger;
  /** `"plan"` omits every tool that could change something. @default any other mode */
  readonly permissionMode?: string | undefined;
}

/** Throws for hosted tools that the SDK cannot run, or returns those to omit. */
export function checkHostedTools(
  { hostedTools, promptName }: RenderedPrompt,
  checks: HostedToolChecks,
): readonly Omission[] {
  const omissions = hostedTools.flatMap((tool) => omit(tool, checks));
  const omitted = new Set(omissions.map(({ tool }) => tool));
  checkApart(
    hostedTools.filter((tool) => !omitted.has(tool)),
    promptName,
  );
  return omissions;
}

/** Finds the SDK's tool of a name; `null` if the adapter does not use it. */
export function findNative(name: string): NativeTool | null {
  return natives.get(name) ?? null;
}

/** Lists the SDK tools that a kind switches on in a permission mode. */
export function nativeNames(kind: string, permissionMode?: string): readonly NativeName[] {
  const names = kinds.get(kind)?.tools ?? [];
  if (permissionMode !== "plan") return names;
  return names.filter((name) => natives.get(name)?.isReadOnly);
}

/** Finds the hosted tool that a call of an SDK tool belongs to; `null` if the prompt has none. */
export function findOwner(name: string, hostedTools: readonly HostedTool[]): HostedTool | null {
  const owners = hostedKinds.filter(({ tools }) => tools.some((tool) => tool === name));
  const found = owners.flatMap(({ kind }) => hostedTools.filter((tool) => tool.kind === kind));
  return found[0] ?? null;
}

function omit(tool: HostedTool, checks: HostedToolChecks): readonly Omission[] {
  const { unsupported, logger, permissionMode } = checks;
  if (isOnlyPlanned(tool.kind, permissionMode)) {
    return [{ tool, reason: 'permissionMode "plan" allows only what changes nothing' }];
  }
  const obstacles = findObstacles(tool, checks);
  const [first] = obstacles;
  if (first && unsupported === "error") throw new InvalidOptionError(first);
  const lasting = obstacles.find(({ isDroppable = false }) => !isDroppable);
  if (lasting) return [{ tool, reason: new InvalidOptionError(lasting).message }];
  for (const { field, rule } of obstacles) {
    logger.warn("a setting of a hosted tool was dropped", { name: tool.name, field, reason: rule });
  }
  return [];
}

function isOnlyPlanned(kind: string, permissionMode: string | undefined): boolean {
  return nativeNames(kind).length > 0 && nativeNames(kind, permissionMode).length === 0;
}

function findObstacles(tool: HostedTool, { hasWorkspace }: HostedToolChecks): readonly Obstacle[] {
  const kind = kinds.get(tool.kind);
  if (!kind) return [refuseUnknownKind(tool)];
  const obstacles = (kind.findObstacles?.(tool) ?? []).filter((obstacle) => obstacle !== false);
  if (hasWorkspace || !kind.needsWorkspace) return obstacles;
  const missing = {
    field: `The workspace of hosted tool "${tool.name}"`,
    value: null,
    rule: "must be a ClaudeAgentWorkspaceSection of the prompt",
    remedy: "give the prompt one, or leave the tool out",
  };
  return [missing, ...obstacles];
}

function refuseUnknownKind(tool: HostedTool): Obstacle {
  const known = hostedKinds.filter(({ tools }) => tools.length > 0).map(({ kind }) => kind);
  const near = suggestion(tool.kind, known);
  return refuseKind(
    tool,
    near ? `did you mean "${near}"?` : `there are ${list(known)}; or write a Tool with a handler`,
  );
}
