import type { MeasureRow } from "../measure-row.ts";
import { findMutualSiblings } from "./check-modules.ts";
import { findDeepestChain, findImportCycles } from "./import-chains.ts";
import { getFolder, type ImportGraph } from "./import-graph.ts";

/** Measures an import graph: folder size, chains, cycles, sibling imports. Smaller is better in each row. */
export function measureLayout(graph: ImportGraph): readonly MeasureRow[] {
  const [folder, size] = findLargestFolder(graph);
  const chain = findDeepestChain(graph);
  const cycles = findImportCycles(graph);
  const mutual = findMutualSiblings(graph);
  return [
    {
      measure: "sources in the largest folder",
      now: size,
      anchors: "20 (MCP, Hono)",
      target: 25,
      where: [folder],
    },
    {
      measure: "deepest import chain, types included",
      now: chain.length,
      anchors: "7-18",
      target: 25,
      where: [chain.join(" > ")],
    },
    {
      measure: "import cycles, types included",
      now: cycles.length,
      anchors: "0",
      target: 0,
      where: cycles.map((files) => files.join(", ")),
    },
    {
      measure: "sibling folders that import each other",
      now: mutual.length,
      anchors: "0-5",
      target: 0,
      where: mutual.map((pair) => pair.join(", ")),
    },
  ];
}

function findLargestFolder(graph: ImportGraph): readonly [folder: string, size: number] {
  const sizes = new Map<string, number>();
  for (const file of graph.keys()) {
    sizes.set(getFolder(file), (sizes.get(getFolder(file)) ?? 0) + 1);
  }
  return [...sizes].reduce((largest, one) => (one[1] > largest[1] ? one : largest), ["", 0]);
}
