import type { Omission } from "../../adapter/model-client.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { quoteNames } from "../../base/quote-value.ts";
import { suggestSpelling } from "../../base/suggest-spelling.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { checkOneToolPerKind } from "../../tools/hosted-tool.ts";
import { patchKind } from "./apply-patch.ts";
import { codeKind } from "./code-interpreter.ts";
import { fileKinds, fileNativeTools } from "./file-tools.ts";
import type { HostedKind, NativeName, NativeTool, Obstacle } from "./hosted-kind.ts";
import { nativeBash, shellKind } from "./shell.ts";
import { toKindObstacle, unsupportedKinds } from "./unsupported-kinds.ts";
import { nativeWebSearch, searchKind } from "./web-search.ts";

/** Every kind of hosted tool. If two kinds enable the same SDK tool, its calls belong to the first. */
export const hostedKinds: readonly HostedKind[] = [
  searchKind,
  shellKind,
  codeKind,
  patchKind,
  ...fileKinds,
  ...unsupportedKinds,
];

const kinds: ReadonlyMap<string, HostedKind> = new Map(hostedKinds.map((one) => [one.kind, one]));

const natives: ReadonlyMap<string, NativeTool> = new Map(
  [nativeWebSearch, nativeBash, ...fileNativeTools].map((tool) => [tool.name, tool]),
);

/** Settings for the check of hosted tools before the SDK starts. */
export interface HostedToolChecks {
  readonly hasWorkspace: boolean;
  /** Whether an unsupported tool causes an error or is omitted. */
  readonly unsupported: "error" | "omit";
  readonly logger: Logger;
  /** `"plan"` omits all tools that are not read-only. @default any other mode */
  readonly permissionMode?: string | undefined;
}

/** Throws for unsupported hosted tools, or returns the tools to omit. */
export function checkHostedTools(
  { hostedTools, promptName }: RenderedPrompt,
  checks: HostedToolChecks,
): readonly Omission[] {
  const omissions = hostedTools.flatMap((tool) => findOmissions(tool, checks));
  const omitted = new Set(omissions.map(({ tool }) => tool));
  checkOneToolPerKind(
    hostedTools.filter((tool) => !omitted.has(tool)),
    promptName,
  );
  return omissions;
}

/** Finds a native tool by name; `null` if the adapter does not use it. */
export function findNativeTool(name: string): NativeTool | null {
  return natives.get(name) ?? null;
}

/** Lists the SDK tools that a kind enables in a permission mode. */
export function listNativeNames(kind: string, permissionMode?: string): readonly NativeName[] {
  const names = kinds.get(kind)?.tools ?? [];
  if (permissionMode !== "plan") return names;
  return names.filter((name) => natives.get(name)?.isReadOnly);
}

/** Finds the prompt's hosted tool that owns the calls to an SDK tool; `null` if none. */
export function findOwner(name: string, hostedTools: readonly HostedTool[]): HostedTool | null {
  return findOwners(name, hostedTools)[0] ?? null;
}

/** Finds the prompt's hosted tools whose kinds include an SDK tool. The first one owns its calls. */
export function findOwners(
  name: string,
  hostedTools: readonly HostedTool[],
): readonly HostedTool[] {
  const owners = hostedKinds.filter(({ tools }) => tools.some((tool) => tool === name));
  return owners.flatMap(({ kind }) => hostedTools.filter((tool) => tool.kind === kind));
}

function findOmissions(tool: HostedTool, checks: HostedToolChecks): readonly Omission[] {
  const { unsupported, logger, permissionMode } = checks;
  if (isDisabledByMode(tool.kind, permissionMode)) {
    return [{ tool, reason: 'permissionMode "plan" allows only read-only tools' }];
  }
  const obstacles = findToolObstacles(tool, checks);
  const [first] = obstacles;
  if (first && unsupported === "error") throw new InvalidOptionError(first);
  const blocking = obstacles.find(({ isDroppable = false }) => !isDroppable);
  if (blocking) return [{ tool, reason: new InvalidOptionError(blocking).message }];
  for (const { field, rule } of obstacles) {
    logger.warn("hosted tool setting dropped", { name: tool.name, field, reason: rule });
  }
  return [];
}

function isDisabledByMode(kind: string, permissionMode: string | undefined): boolean {
  return listNativeNames(kind).length > 0 && listNativeNames(kind, permissionMode).length === 0;
}

function findToolObstacles(
  tool: HostedTool,
  { hasWorkspace }: HostedToolChecks,
): readonly Obstacle[] {
  const kind = kinds.get(tool.kind);
  if (!kind) return [refuseUnknownKind(tool)];
  const obstacles = (kind.findObstacles?.(tool) ?? []).filter((obstacle) => obstacle !== false);
  if (hasWorkspace || !kind.needsWorkspace) return obstacles;
  const missing = {
    field: `Hosted tool "${tool.name}" workspace`,
    value: null,
    rule: "must be a ClaudeAgentWorkspaceSection in the prompt",
    remedy: "add one to the prompt, or remove the tool",
  };
  return [missing, ...obstacles];
}

function refuseUnknownKind(tool: HostedTool): Obstacle {
  const known = hostedKinds.filter(({ tools }) => tools.length > 0).map(({ kind }) => kind);
  const near = suggestSpelling(tool.kind, known);
  return toKindObstacle(
    tool,
    near ? `did you mean "${near}"?` : `use ${quoteNames(known)}, or write a Tool with a handler`,
  );
}
