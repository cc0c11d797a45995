import type { Omission } from "../../adapter/model-client.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { suggestion } from "../../base/nearest.ts";
import { list } from "../../base/show.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import { checkApart, HostedTool } from "../../tools/hosted-tool.ts";
import { kindObstacle, type Obstacle } from "./ported-config.ts";
import { fileKinds, portedKind, portedKinds, portedTo } from "./ported-kinds.ts";

/** By what hosted tools are judged before the SDK is started. */
export interface Porting {
  readonly hasWorkspace: boolean;
  /** What becomes of a tool that the SDK has nothing for. */
  readonly unsupported: "error" | "omit";
  readonly logger: Logger;
  /** `"plan"` leaves out whatever could change something. @default anything else */
  readonly permissionMode?: string | undefined;
}

/** Refuses hosted tools that the SDK has nothing for, or says which are to be left out. */
export function unportable(rendered: RenderedPrompt, porting: Porting): readonly Omission[] {
  const omissions = rendered.hostedTools.flatMap((tool) => omission(tool, porting));
  const out = new Set(omissions.map(({ tool }) => tool));
  const kept = rendered.hostedTools.filter((tool) => !out.has(tool));
  checkApart(kept, rendered.promptName);
  return omissions;
}

/** What every prompt with a workspace has besides its own: the SDK's tools for files. */
export function fileTools(permissionMode?: string): readonly HostedTool[] {
  return fileKinds
    .filter(([kind]) => portedTo(kind, permissionMode).length > 0)
    .map(
      ([kind, , description]) =>
        new HostedTool({ kind, name: kind, description, config: {}, provider: "claude" }),
    );
}

/** What becomes of each kind of hosted tool, as a table in Markdown. */
export function hostedToolTable(): string {
  const rows = portedKinds.map(({ kind, madeBy, tools, becomes, refused }) => [
    `\`${kind}\``,
    madeBy,
    tools.map((tool) => `\`${tool}\``).join(", ") || "–",
    becomes,
    refused,
  ]);
  const other = [
    "any other",
    "`HostedTool`, `NativeTool`, `ProviderTool`",
    "–",
    "refused",
    OTHERWISE,
  ];
  const head = [
    "kind",
    "made by",
    "tools of the SDK",
    "what it is then",
    'refused, or left out by `"omit"`',
  ];
  const lines = [head, head.map(() => "---"), ...rows, other];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const OTHERWISE = "write a Tool with a handler";

function omission(tool: HostedTool, porting: Porting): readonly Omission[] {
  const { hasWorkspace, unsupported, logger, permissionMode } = porting;
  if (isOnlyPlanned(tool.kind, permissionMode)) {
    return [{ tool, reason: 'permissionMode "plan" allows only what changes nothing' }];
  }
  const ported = portedKind(tool.kind);
  const obstacles = ported ? ported.obstacles(tool, hasWorkspace) : [unknownKind(tool)];
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
  return portedTo(kind).length > 0 && portedTo(kind, permissionMode).length === 0;
}

function unknownKind(tool: HostedTool): Obstacle {
  const there = portedKinds.filter(({ tools }) => tools.length > 0).map((ported) => ported.kind);
  const near = suggestion(tool.kind, there);
  return kindObstacle(
    tool,
    near ? `did you mean "${near}"?` : `there are ${list(there)}; or ${OTHERWISE}`,
  );
}
