import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readSources } from "../scripts/layout/import-graph.ts";
import { findKindFiles, KIND_TARGETS } from "../scripts/layout/kind-rows.ts";
import { hasClaudeSdk, runTrace, TRACE_TARGETS, type Trace } from "../scripts/layout/trace-rows.ts";

const page = readFileSync("ARCHITECTURE.md", "utf8");

/** The lines of the tables below a heading. */
function findTable(heading: string): readonly string[] {
  const [, below = ""] = page.split(`${heading}\n`);
  const [part = ""] = below.split(/^#+ /m);
  return part.split("\n").filter((line) => line.startsWith("|"));
}

/** The source files named in lines. */
function findFiles(lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.join("\n").match(/(?<=`)[\w/-]+\.ts(?=`)/g));
}

/** The entered files that the tables list: all except `base/` and `host/`. */
function findSteps({ parts }: Trace): readonly string[] {
  const files = parts.flatMap((part) => part.files);
  return files.filter((file) => !/^(?:base|host)\//.test(file)).sort();
}

const loop = findFiles(findTable("### The loop"));

describe.each([
  ["openai", "### A turn on OpenAI"],
  ["claude", "### A turn on Claude"],
] as const)("An evaluation on %s", (provider, heading) => {
  test.skipIf(provider === "claude" && !hasClaudeSdk())(
    "enters exactly the files that ARCHITECTURE.md lists",
    () => {
      const trace = runTrace(provider);
      const listed = [...new Set([...loop, ...findFiles(findTable(heading))])].sort();
      expect(findSteps(trace)).toEqual(listed);
      expect(trace.count).toBeLessThanOrEqual(TRACE_TARGETS[provider]);
    },
  );
});

test("ARCHITECTURE.md lists exactly the files that name a hosted kind", () => {
  const sources = readSources("src");
  for (const kind of KIND_TARGETS.keys()) {
    const rows = findTable("## Recipes").filter((line) => line.startsWith(`| \`${kind}\``));
    expect(rows).toHaveLength(1);
    expect([...findFiles(rows)]).toEqual([...findKindFiles(sources, kind)].sort());
  }
});
