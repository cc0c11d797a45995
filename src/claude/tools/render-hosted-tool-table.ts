import { hostedKinds } from "./hosted-kinds.ts";

/** Renders the guide's Markdown table of hosted tool kinds and their behavior on Claude. */
export function renderHostedToolTable(): string {
  const rows = hostedKinds.map(({ kind, createdBy, tools, behavior, unsupported }) => [
    `\`${kind}\``,
    createdBy,
    tools.map((tool) => `\`${tool}\``).join(", ") || "–",
    behavior,
    unsupported,
  ]);
  const lines = [HEAD, HEAD.map(() => "---"), ...rows, OTHERS];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const HEAD = [
  "kind",
  "created by",
  "SDK tools",
  "behavior on Claude",
  'rejected, or omitted with `"omit"`',
];

const OTHERS = [
  "any other",
  "`HostedTool`, `NativeTool`, `ProviderTool`",
  "–",
  "not supported",
  "write a Tool with a handler",
];
