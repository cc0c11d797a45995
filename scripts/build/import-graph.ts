import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { HOST_FILE } from "./redirect-host-imports.ts";

/** A compiled file, with the files it imports. */
interface CompiledFile {
  readonly static: readonly string[];
  readonly dynamic: readonly string[];
}

/** The imports between the compiled files of a folder. Packages are omitted. */
export class ImportGraph {
  readonly #files: ReadonlyMap<string, CompiledFile>;

  /** Reads all JavaScript files below `folder`. Imports of `#host` are omitted unless they are followed. */
  constructor(folder: string, { followsHost = false }: { readonly followsHost?: boolean } = {}) {
    const host = followsHost ? join(folder, `${HOST_FILE}.js`) : "";
    const paths = globSync(`${folder}/**/*.js`);
    this.#files = new Map(paths.map((path) => [path, readImports(path, host)]));
  }

  /** The targets of dynamic imports. */
  get dynamicTargets(): readonly string[] {
    return [...new Set([...this.#files.values()].flatMap((file) => file.dynamic))].sort();
  }

  /** Returns the files that are loaded with `entries`. */
  findLoaded(entries: readonly string[]): ReadonlySet<string> {
    return this.#walk(entries, (file) => file.static);
  }

  /** Returns the files that are loaded with `entries`, or later by their dynamic imports. */
  findReached(entries: readonly string[]): ReadonlySet<string> {
    return this.#walk(entries, (file) => [...file.static, ...file.dynamic]);
  }

  #walk(
    entries: readonly string[],
    listImports: (file: CompiledFile) => readonly string[],
  ): ReadonlySet<string> {
    const found = new Set<string>();
    const open = [...entries];
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      if (found.has(path)) continue;
      found.add(path);
      const file = this.#files.get(path);
      if (file) open.push(...listImports(file));
    }
    return found;
  }

  /** Returns files that import each other, the first one again at the end; `null` if there are none. */
  findCycle(): readonly string[] | null {
    const done = new Set<string>();
    const visit = (path: string, open: readonly string[]): readonly string[] | null => {
      if (open.includes(path)) return [...open.slice(open.indexOf(path)), path];
      if (done.has(path)) return null;
      done.add(path);
      for (const next of this.#files.get(path)?.static ?? []) {
        const cycle = visit(next, [...open, path]);
        if (cycle) return cycle;
      }
      return null;
    };
    for (const path of this.#files.keys()) {
      const cycle = visit(path, []);
      if (cycle) return cycle;
    }
    return null;
  }

  /** Returns the files whose code matches. */
  findFiles(pattern: RegExp): readonly string[] {
    return [...this.#files.keys()].filter((path) => pattern.test(readFileSync(path, "utf8")));
  }
}

function readImports(path: string, host: string): CompiledFile {
  const code = readFileSync(path, "utf8");
  const toPath = (target: string) => (target === "#host" ? host : join(dirname(path), target));
  const find = (pattern: RegExp) =>
    [...code.matchAll(pattern)]
      .map(([, target = ""]) => toPath(target))
      .filter((target) => existsSync(target));
  return {
    static: find(/^(?:import|export)\b[^"]*?"(\.[^"]+|#host)";$/gm),
    dynamic: find(/\bimport\("(\.[^"]+|#host)"\)/g),
  };
}
