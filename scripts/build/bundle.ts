import { cpSync, globSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { type Plugin, rolldown } from "rolldown";
import { ImportGraph } from "./import-graph.ts";
import { HOST_FILE } from "./redirect-host-imports.ts";

/**
 * Joins the compiled files of `folder` into a few chunks, because Node spends most of an import on finding and reading
 * files (decision 92). Files that are opened by their path stay there: entry points, workers of threads, and modules with
 * jobs for threads.
 */
export async function bundle(folder: string, entryPoints: readonly string[]): Promise<void> {
  const plan = planChunks(folder, entryPoints);
  const bundled = `${folder}-bundled`;
  rmSync(bundled, { recursive: true, force: true });
  const toName = (path: string) => relative(folder, path).replace(/\.js$/, "");
  const getChunk = (id: string) => plan.chunks.get(relative(process.cwd(), id)) ?? null;
  const isExternal = (id: string) =>
    id === "#host" || (/^(?:node:|[@a-z])/.test(id) && !plan.entries.includes(id));
  await using build = await rolldown({
    input: Object.fromEntries(plan.entries.map((path) => [toName(path), path])),
    platform: "neutral",
    external: isExternal,
    plugins: [
      resolveEntries(plan.entries),
      readMaps(),
      locateModules(folder, plan.standalone),
      getBuiltinModules(),
    ],
    treeshake: false, // modules run as they do unbundled
    preserveEntrySignatures: "allow-extension", // chunks with code that is not theirs alone need it
    checks: { ineffectiveDynamicImport: false }, // `wink` needs both sandboxes at once
  });
  await build.write({
    dir: bundled,
    format: "esm",
    sourcemap: true,
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name].js",
    comments: false,
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ debugName: "chunks", name: getChunk }],
    },
  });
  await bundleKernel(folder, bundled);
  for (const path of globSync(`${folder}/**/*.{js,js.map}`)) rmSync(path);
  cpSync(bundled, folder, { recursive: true });
  rmSync(bundled, { recursive: true });
  const cycle = new ImportGraph(folder, { followsHost: true }).findCycle();
  if (cycle) throw new Error(`Chunks import each other: ${cycle.join(" -> ")}`);
}

interface ChunkPlan {
  readonly entries: readonly string[];
  /** Entries whose own code stays in their file: it runs when the file is loaded. */
  readonly standalone: ReadonlySet<string>;
  /** Name of the chunk by file. */
  readonly chunks: ReadonlyMap<string, string>;
}

/**
 * Decides which file belongs to which chunk. Each chunk has the files that its entry point needs and no earlier chunk has, so chunks
 * only import earlier ones.
 */
function planChunks(folder: string, entryPoints: readonly string[]): ChunkPlan {
  const graph = new ImportGraph(folder);
  const at = (path: string) => join(folder, path);
  const jobs = graph.findFiles(/threadJob\(import\.meta\.url/);
  const workers = WORKERS.map(at);
  const host = at(`${HOST_FILE}.js`);
  // openai/index.js also exports from #host, whose chunk imports the one of openai.
  const standalone = new Set([at("cli/main.js"), at("openai/index.js"), ...workers]);
  const chunks = new Map<string, string>();
  const assign = (name: string, paths: Iterable<string>) => {
    for (const path of paths)
      if (!chunks.has(path) && !standalone.has(path)) chunks.set(path, name);
  };
  /** Gives each target of a dynamic import among `paths` its own chunk. Files in `loaded` do not belong to it. */
  const assignLazy = (paths: ReadonlySet<string>, loaded: ReadonlySet<string>) => {
    for (const path of intersect(paths, new Set(graph.dynamicTargets))) {
      const name = relative(folder, path).replace(/\.js$/, "").replaceAll("/", "-");
      assign(name, exclude(graph.findLoaded([path]), loaded));
    }
  };
  const root = graph.findLoaded([at("index.js")]);
  const threads = graph.findLoaded([...workers, ...jobs]);
  const files = graph.findLoaded([at("files/index.js")]);
  const claude = graph.findLoaded([at("claude/index.js")]);
  const planning = graph.findLoaded([host]);
  const workspace = graph.findLoaded([host, at("openai/workspace/container-workspace.js")]);
  // Chunks of entry points that run without Node have only such files. Files that need Node are imported through #host, and
  // has its own chunks, because it imports others of openai.
  const edgeEntryPoints = ["index.js", "openai/index.js", "mcp/index.js"].map(at);
  const edge = graph.findReached(edgeEntryPoints);
  /** What an import of these entry points loads. The rest is for evaluations (decision 98). */
  const imported = graph.findLoaded([...edgeEntryPoints, host]);
  const others = new Set([...files, ...claude]);
  assign("base", intersect(edge, threads));
  assign("core", root);
  assign("core", intersect(intersect(edge, imported), others)); // a chunk of their own would cost more
  assign("openai", intersect(edge, graph.findLoaded([at("openai/index.js"), host])));
  assign("evaluation", exclude(graph.findLoaded([at("adapter/evaluate.js")]), imported));
  assign("evaluation", exclude(intersect(edge, others), imported));
  assignLazy(edge, imported);
  // What an import of openai/ needs of the workspace is apart from what its first use needs (decision 97).
  assign("base-threads", intersect(planning, threads));
  assign("threads", threads);
  assign("base-mounts", intersect(planning, new Set([...files, ...claude])));
  assign("files", files);
  assign("files", intersect(workspace, claude));
  assign("workspace", planning);
  assignByUsers(
    entryPoints.map((path) => [dirname(relative(folder, path)), graph.findLoaded([path])]),
    assign,
  );
  assign("edge", graph.findLoaded([at("openai/edge.js")]));
  assignLazy(new Set(graph.dynamicTargets), new Set());
  const entries = [...new Set([...entryPoints, host, at("openai/edge.js"), ...workers, ...jobs])];
  return { entries, standalone, chunks };
}

/** Gives files that the same entry points need one chunk, named after them. */
function assignByUsers(
  loaded: readonly (readonly [string, ReadonlySet<string>])[],
  assign: (name: string, paths: Iterable<string>) => void,
): void {
  for (const path of new Set(loaded.flatMap(([, paths]) => [...paths]))) {
    const users = loaded.filter(([, paths]) => paths.has(path)).map(([name]) => name);
    assign(users.join("-"), [path]);
  }
}

function intersect(one: Iterable<string>, other: ReadonlySet<string>): readonly string[] {
  return [...one].filter((path) => other.has(path));
}

function exclude(one: Iterable<string>, other: ReadonlySet<string>): readonly string[] {
  return [...one].filter((path) => !other.has(path));
}

/** Files that are the code of a thread. */
const WORKERS = [
  "host/threads/worker.js",
  "files/filesystem/search/search-worker.js",
  "files/archive/pack-worker.js",
];

/** The interpreter's process may only read its own folder, so its program is one file. */
const KERNEL = "local/sandbox/wasm/kernel/kernel-main.js";

async function bundleKernel(folder: string, bundled: string): Promise<void> {
  const input = join(folder, KERNEL);
  await using build = await rolldown({
    input,
    platform: "neutral",
    external: /^node:/,
    plugins: [resolveEntries([input]), readMaps()],
    treeshake: false,
  });
  await build.write({
    file: join(bundled, KERNEL),
    format: "esm",
    sourcemap: true,
    comments: false,
    codeSplitting: false,
  });
}

/** Tells the paths of entries from the names of packages. */
function resolveEntries(entries: readonly string[]): Plugin {
  return {
    name: "entries",
    resolveId: (id) => (entries.includes(id) ? resolve(id) : null),
  };
}

/** Gives the bundler the maps of the compiler, so that its maps lead to the sources. */
function readMaps(): Plugin {
  return {
    name: "maps",
    load(id) {
      const code = readFileSync(id, "utf8").replace(/\n\/\/# sourceMappingURL=.*/, "");
      return { code, map: JSON.parse(readFileSync(`${id}.map`, "utf8")) };
    },
  };
}

/** Makes `import.meta.url` the place where a module's file is, although its code is in a chunk. */
function locateModules(folder: string, standalone: ReadonlySet<string>): Plugin {
  return {
    name: "locations",
    transform(code, id) {
      const path = relative(process.cwd(), id);
      if (standalone.has(path) || !code.includes("import.meta.url")) return null;
      const place = `new URL("../${relative(folder, path)}", import.meta.url).href`;
      return { code: code.replaceAll("import.meta.url", place), map: null };
    },
  };
}

/**
 * Gets Node's modules without importing them: an import reads every export, also those that load further modules. An
 * import of `node:fs` takes 2 ms of CPU.
 */
function getBuiltinModules(): Plugin {
  const statement = /^import (?<names>[^"]+?) from (?<name>"node:[^"]+");$/gm;
  return {
    name: "builtin-modules",
    renderChunk(code) {
      const [imports = ""] = IMPORTS.exec(code) ?? []; // not those in texts: `wink init` writes programs
      const changed = imports.replaceAll(statement, (...match) => {
        const { names = "", name = "" } = match.at(-1) as Record<string, string>;
        const variables = names.replace(/^\* as /, "").replaceAll(" as ", ": ");
        return `const ${variables} = process.getBuiltinModule(${name});`;
      });
      return { code: changed + code.slice(imports.length), map: null };
    },
  };
}

/** The lines with which a chunk starts: its imports, and comments. */
const IMPORTS = /^(?:(?:#!|\/\/|import\b).*\n|\n)*/;
