import { getFolder, type ImportGraph } from "./import-graph.ts";

/** The allowed imports of each folder in `modules.jsonc`. */
export type ModuleRules = Readonly<Record<string, readonly string[]>>;

/** Reads `modules.jsonc`: JSON with comments on separate lines. */
export function parseModuleRules(text: string): ModuleRules {
  return JSON.parse(text.replaceAll(/^\s*\/\/.*$/gm, ""));
}

/** Every way in which the imports and the rules disagree, one line each. */
export function checkModules(graph: ImportGraph, rules: ModuleRules): readonly string[] {
  const used = new Set<string>();
  const problems = new Set<string>();
  for (const [file, imports] of graph) {
    const folder = getFolder(file);
    const allowed = rules[folder];
    if (allowed === undefined)
      problems.add(`${folder} has no line: add one with its allowed imports`);
    for (const target of imports) {
      if (isWithin(target, folder)) continue;
      const rule = allowed?.find((rule) => isCovered(target, rule));
      if (rule !== undefined) used.add(`${folder} ${rule}`);
      else if (allowed) problems.add(`${file} imports ${target}: ${folder} may not`);
    }
  }
  return [...problems, ...findStaleRules(graph, rules, used), ...describeMutual(graph)];
}

/** Pairs of sibling folders that import each other. A folder and the folders below it may. */
export function findMutualSiblings(graph: ImportGraph): readonly (readonly [string, string])[] {
  const edges = new Set<string>();
  for (const [file, imports] of graph) {
    for (const target of imports) {
      const pair = splitAtSiblings(getFolder(file), getFolder(target));
      if (pair) edges.add(pair.join(" "));
    }
  }
  const pairs = [...edges].map((edge) => edge.split(" ") as [string, string]);
  return pairs.filter(([one, other]) => one < other && edges.has(`${other} ${one}`));
}

function describeMutual(graph: ImportGraph): readonly string[] {
  return findMutualSiblings(graph).map(([one, other]) => `${one} and ${other} import each other`);
}

function findStaleRules(
  graph: ImportGraph,
  rules: ModuleRules,
  used: ReadonlySet<string>,
): readonly string[] {
  const folders = new Set([...graph.keys()].map(getFolder));
  return Object.entries(rules).flatMap(([folder, allowed]) => {
    if (!folders.has(folder)) return [`${folder} has a line and no sources: remove the line`];
    const stale = allowed.filter((rule) => !used.has(`${folder} ${rule}`));
    return stale.map((rule) => `${folder} may import ${rule} and does not: remove it`);
  });
}

function isWithin(file: string, folder: string): boolean {
  return folder === "." ? getFolder(file) === "." : file.startsWith(`${folder}/`);
}

function isCovered(file: string, rule: string): boolean {
  if (rule.endsWith("/*")) return getFolder(file) === rule.slice(0, -2);
  return file === rule || file.startsWith(`${rule}/`);
}

/** The folders at which two paths part; `null` if one is the other or lies below it. */
function splitAtSiblings(one: string, other: string): readonly [string, string] | null {
  const [left, right] = [one.split("/"), other.split("/")];
  const depth = left.findIndex((part, index) => part !== right[index]);
  if (depth === -1 || right[depth] === undefined) return null;
  return [left.slice(0, depth + 1).join("/"), right.slice(0, depth + 1).join("/")];
}
