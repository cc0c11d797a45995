import type { ImportGraph } from "./import-graph.ts";

/** Groups of files that import each other, directly or through others. */
export function findImportCycles(graph: ImportGraph): readonly (readonly string[])[] {
  return findComponents(graph).filter((files) => files.length > 1);
}

/**
 * The longest chain in which each file imports the next, from the top down. Files that import each other
 * count as one link.
 */
export function findDeepestChain(graph: ImportGraph): readonly string[] {
  const components = findComponents(graph);
  const componentOf = new Map(components.flatMap((files) => files.map((file) => [file, files])));
  const chains = new Map<readonly string[], readonly string[]>();
  let deepest: readonly string[] = [];
  // Components come with everything they import before them.
  for (const files of components) {
    let below: readonly string[] = [];
    for (const target of files.flatMap((file) => graph.get(file) ?? [])) {
      const component = componentOf.get(target);
      const chain = component && component !== files ? (chains.get(component) ?? []) : [];
      if (chain.length > below.length) below = chain;
    }
    const chain = [files[0] ?? "", ...below];
    chains.set(files, chain);
    if (chain.length > deepest.length) deepest = chain;
  }
  return deepest;
}

/** Tarjan's strongly connected components, in an order in which imported files come first. */
function findComponents(graph: ImportGraph): readonly (readonly string[])[] {
  const indexes = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const components: string[][] = [];
  const visit = (file: string): number => {
    const index = indexes.size;
    indexes.set(file, index);
    lowest.set(file, index);
    stack.push(file);
    for (const target of graph.get(file) ?? []) {
      const reached = indexes.has(target)
        ? stack.includes(target)
          ? (indexes.get(target) ?? index)
          : index
        : visit(target);
      lowest.set(file, Math.min(lowest.get(file) ?? index, reached));
    }
    const low = lowest.get(file) ?? index;
    if (low === index) components.push(stack.splice(stack.indexOf(file)));
    return low;
  };
  for (const file of graph.keys()) if (!indexes.has(file)) visit(file);
  return components;
}
