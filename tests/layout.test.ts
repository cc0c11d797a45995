import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  checkModules,
  findMutualSiblings,
  parseModuleRules,
} from "../scripts/layout/check-modules.ts";
import { findDeepestChain, findImportCycles } from "../scripts/layout/import-chains.ts";
import { readSources, toImportGraph } from "../scripts/layout/import-graph.ts";
import { findKindFiles, measureKinds } from "../scripts/layout/kind-rows.ts";
import { measureLayout } from "../scripts/layout/layout-rows.ts";

describe("The sources", () => {
  const sources = readSources("src");
  const graph = toImportGraph(sources);

  test("import only what modules.jsonc allows", () => {
    const rules = parseModuleRules(readFileSync("modules.jsonc", "utf8"));
    expect(checkModules(graph, rules)).toEqual([]);
  });

  test("meet every target of npm run measure:layout", () => {
    const rows = [...measureLayout(graph), ...measureKinds(sources)];
    for (const { measure, now, target, where } of rows) {
      expect(now, `${measure}: ${where.join("; ")}`).toBeLessThanOrEqual(target);
    }
  });
});

describe("findKindFiles()", () => {
  const sources = new Map([
    ["tools/my-kind.ts", 'kind: "my_kind"'],
    ["adapter.ts", "import type { MyKindResult }"],
    ["tools/list.ts", "[myKindTool]"],
    ["tools/index.ts", "my_kind"],
    ["other.ts", "my-kind mykind my kind"],
  ]);

  test("finds three spellings, except in entry points and lists", () => {
    const named = ["tools/my-kind.ts", "adapter.ts", "tools/list.ts"];
    expect(findKindFiles(sources, "my_kind")).toEqual(named);
  });

  test("reports both local files that name one kind", () => {
    const local = new Map([
      ["local/a.ts", "code_interpreter"],
      ["local/b.ts", "CodeInterpreter"],
      ["local/c.ts", "file_search"],
      ["openai/d.ts", "code_interpreter"],
    ]);
    const rows = measureKinds(local);
    expect(rows[0]).toMatchObject({ measure: "sources that name code_interpreter", now: 3 });
    expect(rows.at(-1)).toMatchObject({ now: 2, target: 1, where: ["local/a.ts", "local/b.ts"] });
  });
});

/** A graph of empty files that import others. */
function createGraph(files: Readonly<Record<string, readonly string[]>>) {
  return new Map(Object.entries(files));
}

describe("An import graph", () => {
  test("contains imports, exports, types, dynamic imports and augmentations, but no examples", () => {
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

  test("has a cycle if files reach each other", () => {
    const graph = createGraph({ "a.ts": ["b.ts"], "b.ts": ["c.ts"], "c.ts": ["b.ts"], "d.ts": [] });
    expect(findImportCycles(graph).map((files) => files.toSorted())).toEqual([["b.ts", "c.ts"]]);
  });

  test("is as deep as its longest chain, counting a cycle as one link", () => {
    const graph = createGraph({
      "a.ts": ["d.ts", "b.ts"],
      "b.ts": ["c.ts"],
      "c.ts": ["b.ts", "d.ts"],
      "d.ts": [],
    });
    expect(findDeepestChain(graph)).toHaveLength(3);
    expect(findDeepestChain(graph).at(0)).toBe("a.ts");
    expect(findDeepestChain(graph).at(-1)).toBe("d.ts");
  });

  test("reports siblings that import each other, but not a folder and its subfolders", () => {
    const graph = createGraph({
      "a/x/1.ts": ["a/y/2.ts", "a/3.ts"],
      "a/y/2.ts": [],
      "a/y/z/4.ts": ["a/x/1.ts"],
      "a/3.ts": ["a/x/1.ts"],
    });
    expect(findMutualSiblings(graph)).toEqual([["a/x", "a/y"]]);
  });
});

describe("Import rules", () => {
  const graph = createGraph({
    "index.ts": ["low/a.ts"],
    "low/a.ts": [],
    "low/sub/b.ts": ["low/a.ts"],
    "high/c.ts": ["low/sub/b.ts", "high/d.ts"],
    "high/d.ts": [],
  });

  test("allow a folder with its subfolders, the files of a folder, or one file", () => {
    const rules = { ".": ["low"], low: [], "low/sub": ["low/*"], high: ["low/sub/b.ts"] };
    expect(checkModules(graph, rules)).toEqual([]);
  });

  test("reject an import without a rule, a folder without a line, and an unused rule", () => {
    const rules = { ".": ["low", "high"], low: [], high: ["low/*"], gone: [] };
    expect(checkModules(graph, rules)).toEqual([
      "low/sub has no line: add one with its allowed imports",
      "high/c.ts imports low/sub/b.ts: high may not",
      ". may import high and does not: remove it",
      "high may import low/* and does not: remove it",
      "gone has a line and no sources: remove the line",
    ]);
  });

  test("may have comments on separate lines", () => {
    expect(parseModuleRules('{\n  // low first\n  "low": []\n}')).toEqual({ low: [] });
  });
});
