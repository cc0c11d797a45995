import { globSync, readFileSync } from "node:fs";
import { posix } from "node:path";

/** The imports of every source file, types included. Paths are relative to `src`, with extensions. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** The texts of source files, by path. */
export type Sources = ReadonlyMap<string, string>;

/** Reads the sources below a folder. Tests are skipped. */
export function readSources(src: string): Sources {
  const files = globSync("**/*.ts", { cwd: src }).filter((file) => !isTest(file));
  return new Map(
    files.sort().map((file) => [file, readFileSync(`${src}/${file}`, "utf8")] as const),
  );
}

/** Reads the import graph of the sources below a folder. Tests are skipped. */
export function readImportGraph(src: string): ImportGraph {
  return toImportGraph(readSources(src));
}

/** Builds the import graph of sources given as text, by path. */
export function toImportGraph(sources: Sources): ImportGraph {
  const graph = new Map<string, readonly string[]>();
  for (const [file, text] of sources) {
    const imported = findSpecifiers(text).map((specifier) =>
      posix.join(posix.dirname(file), specifier),
    );
    graph.set(
      file,
      [...new Set(imported)].filter((path) => path !== file && sources.has(path)),
    );
  }
  return graph;
}

/** The folder of a source file; `"."` for files directly in `src`. */
export function getFolder(file: string): string {
  return posix.dirname(file);
}

function isTest(file: string): boolean {
  return /\.test(-d)?\.ts$/.test(file);
}

/** The relative specifiers of imports, exports, dynamic imports and module augmentations. */
function findSpecifiers(text: string): readonly string[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, "");
  const statements = code.matchAll(/^(?:import|export)\b[^;"]*?"(\.{1,2}\/[^"]+)"/gm);
  const dynamic = code.matchAll(/\bimport\(\s*"(\.{1,2}\/[^"]+)"/g);
  const augmented = code.matchAll(/^declare module "(\.{1,2}\/[^"]+)"/gm);
  return [...statements, ...dynamic, ...augmented].map(([, specifier]) => specifier ?? "");
}
