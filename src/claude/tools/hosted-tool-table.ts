import { hostedKinds } from "./hosted-to-native.ts";

/** Writes what each kind of hosted tool does on Claude as a Markdown table, for the guide. */
export function hostedToolTable(): string {
  const rows = hostedKinds.map(({ kind, madeBy, tools, becomes, refused }) => [
    `\`${kind}\``,
    madeBy,
    tools.map((tool) => `\`${tool}\``).join(", ") || "–",
    becomes,
    refused,
  ]);
  const lines = [HEAD, HEAD.map(() => "---"), ...rows, OTHERS];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const HEAD = [
  "kind",
  "made by",
  "tools of the SDK",
  "what it is then",
  'refused, or left out by `"omit"`',
];

const OTHERS = [
  "any other",
  "`HostedTool`, `NativeTool`, `ProviderTool`",
  "–",
  "refused",
  "write a Tool with a handler",
];
