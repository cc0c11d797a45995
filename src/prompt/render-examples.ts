import { stableStringify } from "../base/json.ts";
import type { Tool } from "../tools/tool.ts";
import { renderValue } from "../tools/tool-result.ts";

/** Renders the examples of a section's tools, which the model reads below the section's text. */
export function renderExamples(tools: readonly Tool[]): string {
  const shown = tools.filter(({ examples }) => examples.length > 0);
  return shown.length === 0 ? "" : ["Tools:", ...shown.map(renderToolExamples)].join("\n\n");
}

function renderToolExamples({ name, description, examples, render }: Tool): string {
  const lines = examples.flatMap((example) => [
    `    - ${indentText(example.description, 6)}`,
    "      input:",
    fenceText("json", stableStringify(example.input ?? {})),
    "      output:",
    fenceText("", renderValue(example.output, render)),
  ]);
  return [`- ${name}: ${indentText(description, 2)}`, `  - ${name} examples:`, ...lines].join("\n");
}

/** Indents every line but the first, so that a text of several lines stays in its list item. */
function indentText(text: string, spaces: number): string {
  return text
    .trim()
    .split(/\r\n|\r|\n/)
    .map((line, index) => (index === 0 || line === "" ? line : " ".repeat(spaces) + line))
    .join("\n");
}

function fenceText(language: string, text: string): string {
  const ticks = "`".repeat(Math.max(3, 1 + findLongestRun(text)));
  return [`${ticks}${language}`, ...text.split("\n"), ticks]
    .map((line) => `      ${line}`)
    .join("\n");
}

function findLongestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
}
