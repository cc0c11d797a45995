import { existsSync, globSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

/** Conditional targets of an entry point in `exports`. */
type Target = string | { readonly [condition: string]: Target };

/** The declaration files of all entry points. */
export function listEntryDeclarations(exports: Readonly<Record<string, Target>>) {
  return Object.values(exports)
    .flatMap(listTargets)
    .filter(isDeclaration)
    .map((path) => join(path));
}

/** Deletes the declarations that no entry point reaches: no program can import their types. */
export function pruneDeclarations(folder: string, entries: readonly string[]): void {
  const reached = findReachedDeclarations(entries);
  for (const file of globSync(`${folder}/**/*.d.ts`)) {
    if (reached.has(file)) continue;
    rmSync(file);
    rmSync(`${file}.map`);
  }
}

function findReachedDeclarations(entries: readonly string[]): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [...entries];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    for (const path of listRelativeImports(readFileSync(file, "utf8"))) {
      const target = join(dirname(file), path.replace(/\.[jt]s$/, ".d.ts"));
      if (existsSync(target)) open.push(target); // others are in examples within comments
    }
  }
  return reached;
}

/** Finds `from "./x.js"`, `import "./x.js"` and `import("./x.js")`, with the extension of either language. */
function listRelativeImports(code: string): readonly string[] {
  const found = code.matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g);
  return [...found].map(([, path = ""]) => path);
}

function listTargets(target: Target): readonly string[] {
  return typeof target === "string" ? [target] : Object.values(target).flatMap(listTargets);
}

function isDeclaration(path: string): boolean {
  return path.endsWith(".d.ts");
}
