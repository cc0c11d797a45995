import { stableStringify } from "../base/json.ts";
import type { Tool } from "../tools/tool.ts";
import { renderValue } from "../tools/tool-result.ts";

/** The examples of a section's tools, as the model reads them below the section's text. */
export function exampleLines(tools: readonly Tool[]): string {
  const shown = tools.filter(({ examples }) => examples.length > 0);
  return shown.length === 0 ? "" : ["Tools:", ...shown.map(toolLines)].join("\n\n");
}

function toolLines({ name, description, examples, render }: Tool): string {
  const lines = examples.flatMap((example) => [
    `    - ${example.description}`,
    "      input:",
    fenced("json", stableStringify(example.input ?? {})),
    "      output:",
    fenced("", renderValue(example.output, render)),
  ]);
  return [`- ${name}: ${description}`, `  - ${name} examples:`, ...lines].join("\n");
}

function fenced(language: string, text: string): string {
  const ticks = "`".repeat(Math.max(3, 1 + longestRun(text)));
  return [`${ticks}${language}`, ...text.split("\n"), ticks]
    .map((line) => `      ${line}`)
    .join("\n");
}

function longestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
}
