import { posix } from "node:path";
import { expect, test } from "vitest";
import { HOST_FILES } from "../scripts/build/redirect-host-imports.ts";
import { readSources } from "../scripts/layout/import-graph.ts";
import * as edge from "../src/openai/edge.ts";

const sources = readSources("src");
/** The packages that an entry point may import. */
const PEERS: Readonly<Record<string, readonly string[]>> = {
  "mcp/index.ts": ["@modelcontextprotocol/client"],
};
const hostFiles = new Set(HOST_FILES.map((name) => `openai/${name}.ts`));

test.each(["index.ts", "mcp/index.ts", "telemetry/index.ts", "openai/index.ts", "openai/edge.ts"])(
  "%s imports no node: module outside the files that edge.ts replaces",
  (entry) => {
    const outside = new Set<string>();
    const reached = new Set<string>();
    const open = [entry];
    for (let file = open.pop(); file !== undefined; file = open.pop()) {
      if (reached.has(file) || hostFiles.has(file)) continue;
      reached.add(file);
      for (const { path } of listValueImports(file)) {
        if (sources.has(path)) open.push(path);
        else outside.add(path);
      }
    }
    expect(reached.size).toBeGreaterThan(5);
    const known = ["@cfworker/json-schema", ...(PEERS[entry] ?? [])];
    expect([...outside].filter((name) => !known.includes(name))).toEqual([]);
  },
);

test("edge.ts exports exactly the names that other files import from the files that it replaces", () => {
  const imported = [...sources.keys()]
    .filter((file) => !hostFiles.has(file))
    .flatMap((file) => listValueImports(file))
    .filter(({ path }) => hostFiles.has(path))
    .flatMap(({ names }) => names);
  expect(Object.keys(edge).sort()).toEqual([...new Set(imported)].sort());
});

/** The imports and re-exports of a file that remain after compilation, with the names of values. */
function listValueImports(file: string) {
  const code = sources.get(file)?.replaceAll(/\/\*[\s\S]*?\*\//g, "") ?? "";
  const statements = [
    ...code.matchAll(/^(?:import|export)\b(?! type\b)(?<names>[\s\w{},*]*?)"(?<path>[^"]+)"/gm),
    ...code.matchAll(/(?<!typeof )\bimport\((?<names>\s*)"(?<path>[^"]+)"/g),
  ];
  return statements.map(({ groups: { names = "", path = "" } = {} }) => ({
    path: path.startsWith(".") ? posix.join(posix.dirname(file), path) : path,
    names: names
      .replaceAll(/[{}\n]|\bfrom\b/g, " ")
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "" && !name.startsWith("type ")),
  }));
}
