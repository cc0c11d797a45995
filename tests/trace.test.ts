import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readSources } from "../scripts/layout/import-graph.ts";
import { findKindFiles, KIND_TARGETS } from "../scripts/layout/kind-rows.ts";
import { hasClaudeSdk, runTrace, TRACE_TARGETS, type Trace } from "../scripts/layout/trace-rows.ts";

const page = readFileSync("ARCHITECTURE.md", "utf8");

/** The lines of a table that stands below a heading, or that begins with a row. */
function tableBelow(heading: string): readonly string[] {
  const [, below = ""] = page.split(`${heading}\n`);
  const [part = ""] = below.split(/^#+ /m);
  return part.split("\n").filter((line) => line.startsWith("|"));
}

/** The sources that lines name. */
function filesIn(lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.join("\n").match(/(?<=`)[\w/-]+\.ts(?=`)/g));
}

/** Tables leave out what is no step of its own: helpers of the language and of the machine. */
function stepsIn({ parts }: Trace): readonly string[] {
  const files = parts.flatMap((part) => part.files);
  return files.filter((file) => !/^(?:base|host)\//.test(file)).sort();
}

const loop = filesIn(tableBelow("### The loop"));

describe.each([
  ["openai", "### A turn on OpenAI"],
  ["claude", "### A turn on Claude"],
] as const)("one evaluation on %s", (provider, heading) => {
  test.skipIf(provider === "claude" && !hasClaudeSdk())(
    "enters the files that ARCHITECTURE.md lists, and no others",
    () => {
      const trace = runTrace(provider);
      const listed = [...new Set([...loop, ...filesIn(tableBelow(heading))])].sort();
      expect(stepsIn(trace)).toEqual(listed);
      expect(trace.count).toBeLessThanOrEqual(TRACE_TARGETS[provider]);
    },
  );
});

test("the files that name a hosted kind are those that ARCHITECTURE.md lists", () => {
  const sources = readSources("src");
  for (const kind of KIND_TARGETS.keys()) {
    const rows = tableBelow("## Recipes").filter((line) => line.startsWith(`| \`${kind}\``));
    expect(rows).toHaveLength(1);
    expect([...filesIn(rows)]).toEqual([...findKindFiles(sources, kind)].sort());
  }
});
