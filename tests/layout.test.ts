import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  checkModules,
  findMutualSiblings,
  parseModuleRules,
} from "../scripts/layout/check-modules.ts";
import { findDeepestChain, findImportCycles } from "../scripts/layout/import-chains.ts";
import { readImportGraph, toImportGraph } from "../scripts/layout/import-graph.ts";
import { measureLayout } from "../scripts/layout/layout-rows.ts";

describe("the sources", () => {
  const graph = readImportGraph("src");

  test("import what modules.jsonc allows and nothing else", () => {
    const rules = parseModuleRules(readFileSync("modules.jsonc", "utf8"));
    expect(checkModules(graph, rules)).toEqual([]);
  });

  test("meet every target of npm run measure:layout", () => {
    for (const { measure, now, target, where } of measureLayout(graph)) {
      expect(now, `${measure}: ${where.join("; ")}`).toBeLessThanOrEqual(target);
    }
  });
});

/** A graph of empty files that import others. */
function graphOf(files: Readonly<Record<string, readonly string[]>>) {
  return new Map(Object.entries(files));
}

describe("an import graph", () => {
  test("has imports, exports, types, dynamic imports and augmentations, but no examples", () => {
    const a = `
      /** @example import { x } from "./example.ts" */
    `;
    const sources = new Map([
      [
        "x/a.ts",
        `${a}
import type { B } from "./b.ts";
import {
  c,
  type D,
} from "../y/c.ts";
export { e } from "./e.ts";
const f = await import("./f.ts");
declare module "./g.ts" {}
import { readFile } from "node:fs";
`,
      ],
      ...["x/b.ts", "y/c.ts", "x/e.ts", "x/f.ts", "x/g.ts", "x/example.ts"].map(
        (file) => [file, ""] as const,
      ),
    ]);
    expect(toImportGraph(sources).get("x/a.ts")).toEqual([
      "x/b.ts",
      "y/c.ts",
      "x/e.ts",
      "x/f.ts",
      "x/g.ts",
    ]);
  });

  test("has cycles where files reach each other", () => {
    const graph = graphOf({ "a.ts": ["b.ts"], "b.ts": ["c.ts"], "c.ts": ["b.ts"], "d.ts": [] });
    expect(findImportCycles(graph).map((files) => files.toSorted())).toEqual([["b.ts", "c.ts"]]);
  });

  test("is as deep as its longest chain, in which a cycle is one link", () => {
    const graph = graphOf({
      "a.ts": ["d.ts", "b.ts"],
      "b.ts": ["c.ts"],
      "c.ts": ["b.ts", "d.ts"],
      "d.ts": [],
    });
    expect(findDeepestChain(graph)).toHaveLength(3);
    expect(findDeepestChain(graph).at(0)).toBe("a.ts");
    expect(findDeepestChain(graph).at(-1)).toBe("d.ts");
  });

  test("has siblings that import each other, but not a folder and what is below it", () => {
    const graph = graphOf({
      "a/x/1.ts": ["a/y/2.ts", "a/3.ts"],
      "a/y/2.ts": [],
      "a/y/z/4.ts": ["a/x/1.ts"],
      "a/3.ts": ["a/x/1.ts"],
    });
    expect(findMutualSiblings(graph)).toEqual([["a/x", "a/y"]]);
  });
});

describe("rules about imports", () => {
  const graph = graphOf({
    "index.ts": ["low/a.ts"],
    "low/a.ts": [],
    "low/sub/b.ts": ["low/a.ts"],
    "high/c.ts": ["low/sub/b.ts", "high/d.ts"],
    "high/d.ts": [],
  });

  test("allow a folder with all below it, the files of a folder, or one file", () => {
    const rules = { ".": ["low"], low: [], "low/sub": ["low/*"], high: ["low/sub/b.ts"] };
    expect(checkModules(graph, rules)).toEqual([]);
  });

  test("refuse what no line allows, a folder without a line, and a rule without a use", () => {
    const rules = { ".": ["low", "high"], low: [], high: ["low/*"], gone: [] };
    expect(checkModules(graph, rules)).toEqual([
      "low/sub has no line: say what it may import",
      "high/c.ts imports low/sub/b.ts: high may not",
      ". may import high and does not: remove it",
      "high may import low/* and does not: remove it",
      "gone has a line and no sources: remove the line",
    ]);
  });

  test("may have comments on lines of their own", () => {
    expect(parseModuleRules('{\n  // low first\n  "low": []\n}')).toEqual({ low: [] });
  });
});
