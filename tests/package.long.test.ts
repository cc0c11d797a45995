import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { copyFile, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { HOST_FILE } from "../scripts/build/redirect-host-imports.ts";
import { readExample } from "../scripts/examples/list-examples.ts";
import { LanguageServer } from "./support/language-server.ts";
import { type InstalledPackage, installPackedPackage } from "./support/packed-package.ts";
import { hasBubblewrap } from "./support/workspace/workspace-fixture.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
const entryPoints = Object.keys(manifest.exports).filter((name) => name !== "./package.json");
/** Optional packages, which only a fleet needs. */
const FLEET_PACKAGES: readonly string[] = ["@electric-sql/pglite", "pg", "pg-boss"];
const toSpecifier = (entryPoint: string) => entryPoint.replace(/^\./, "weakincentives");

describe("The packed package in an empty folder", () => {
  let installed: InstalledPackage;
  beforeAll(async () => {
    installed = await installPackedPackage();
  }, 120_000);
  afterAll(() => installed[Symbol.asyncDispose]());

  const node = (...args: readonly string[]) =>
    run(process.execPath, args, { cwd: installed.folder });

  test.each(entryPoints)("imports %s", async (entryPoint) => {
    const { stdout } = await node(
      "-p",
      `import("${toSpecifier(entryPoint)}").then((m) => typeof m)`,
    );
    expect(stdout).toContain("Promise");
    await node("--input-type=module", "-e", `await import("${toSpecifier(entryPoint)}")`);
  });

  test("runs a first agent and the adapter contract", async () => {
    const script = join(installed.folder, "smoke.mjs");
    await copyFile(new URL("./smoke/smoke.mjs", import.meta.url), script);
    const { stdout } = await node(script);
    expect(stdout).toMatch(/^smoke: \d+ checks held on Node v/);
  });

  test("uses the files that need Node, and the ones for edge runtimes under their conditions", async () => {
    const script = `
      import * as openai from "weakincentives/openai";
      import * as host from "./node_modules/weakincentives/dist/${HOST_FILE}.js";
      const shared = Object.keys(host).filter((key) => key in openai);
      for (const key of shared.sort()) console.log(key, openai[key] === host[key]);`;
    const load = (...flags: readonly string[]) =>
      node(...flags, "--input-type=module", "-e", script).then(({ stdout }) => stdout.trim());
    const names = ["ContainerFilesystem", "ContainerManager", "OpenAIContainerWorkspaceSection"];
    expect(await load()).toBe(names.map((name) => `${name} true`).join("\n"));
    for (const condition of ["workerd", "edge-light", "worker", "browser"]) {
      const printed = await load(`--conditions=${condition}`);
      expect(printed).toBe(names.map((name) => `${name} false`).join("\n"));
    }
  });

  test("runs examples/first-agent.ts with wink run", async () => {
    const source = await readFile(join(root, "examples", "first-agent.ts"), "utf8");
    await writeFile(join(installed.folder, "agent.mts"), source);
    const wink = join("node_modules", "weakincentives", manifest.bin.wink);
    const { stdout } = await node(wink, "run", "agent.mts");
    const { prints } = readExample("examples/first-agent.ts", source);
    expect(prints).not.toEqual([]);
    expect(stdout).toBe(`${prints.join("\n")}\n`);
  });

  test("runs wink demo without zod and without pyodide", async () => {
    for (const name of ["zod", "pyodide"]) {
      expect(existsSync(join(installed.folder, "node_modules", name)), name).toBe(false);
    }
    const wink = join("node_modules", "weakincentives", manifest.bin.wink);
    const { stdout } = await node(wink, "demo", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      sandbox: { name: hasBubblewrap ? "bubblewrap" : null },
      output: { ventPercent: 100 },
      vents: { percent: 100 },
      mounts: [{ mountPath: "greenhouse", files: 5, withheld: ["gateway.pem"] }],
      synced: { added: hasBubblewrap ? ["greenhouse/vent-plan.csv"] : [], failed: [] },
    });
  });

  test("explains how to install pyodide when the wasm sandbox is chosen", async () => {
    const wink = join("node_modules", "weakincentives", manifest.bin.weakincentives);
    const failure = node(wink, "serve", "--sandbox", "wasm").catch((error: unknown) => error);
    expect(await failure).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("npm install pyodide"),
    });
  });

  test("contains only the files that users need", () => {
    const folders = /^(?:dist|src|examples|docs\/guides)\//;
    const outside = installed.files.filter((file) => !folders.test(file));
    expect(outside.sort()).toEqual(
      [
        "AGENTS.md",
        "CHANGELOG.md",
        "GLOSSARY.md",
        "LICENSE",
        "README.md",
        "SECURITY.md",
        "docs/inspector.png", // for the README
        "docs/errors.md",
        "package.json",
      ].sort(),
    );
    expect(installed.files).toContain("examples/greenhouse/vents.py"); // for wink demo
    expect(installed.files.filter((file) => /\.test(?:-d)?\.ts$/.test(file))).toEqual([]);
  });

  test("reads few files to import its entry points", async () => {
    const script = `
      import { registerHooks } from "node:module";
      const files = new Set();
      registerHooks({ load(url, context, next) { if (url.startsWith("file:")) files.add(url); return next(url, context); } });
      await import("weakincentives");
      const root = files.size;
      await import("weakincentives/openai");
      console.log(root, files.size);`;
    const { stdout } = await node("--input-type=module", "-e", script);
    const [root, both] = stdout.trim().split(" ").map(Number);
    expect(root).toBeLessThanOrEqual(4);
    expect(both).toBeLessThanOrEqual(18);
  });

  test("imports no node: module through its root entry point", async () => {
    const modules = join(installed.folder, "node_modules");
    const reached = await findReachedModules("weakincentives/dist/index.js", modules);
    expect([...reached]).toContain("weakincentives/dist/chunks/core.js");
    expect([...reached].filter((module) => module.startsWith("node:"))).toEqual([]);
    const packages = [...reached].map((module) => /^(@[^/]+\/)?[^/]+/.exec(module)?.[0]);
    expect([...new Set(packages)].sort()).toEqual(["weakincentives"]);
  });

  test("imports the packages of a fleet only in weakincentives/fleet, and only when one is opened", async () => {
    const modules = join(installed.folder, "node_modules");
    for (const target of Object.values(manifest.exports)) {
      if (typeof target === "string") continue;
      const reached = await findReachedModules(join("weakincentives", target.default), modules);
      expect([...reached].filter((name) => FLEET_PACKAGES.includes(name))).toEqual([]);
    }
    const loaders = installed.files.filter((file) => {
      if (!file.endsWith(".js")) return false;
      const code = readFileSync(join(modules, "weakincentives", file), "utf8");
      return FLEET_PACKAGES.some((name) => code.includes(`import("${name}")`));
    });
    expect(loaders).toEqual(["dist/chunks/fleet.js"]);
  });

  test("names the packages that a fleet needs, and runs an agent loop without them", async () => {
    for (const name of FLEET_PACKAGES) {
      expect(existsSync(join(installed.folder, "node_modules", name)), name).toBe(false);
    }
    const script = `
      import { definePrompt, jsonSchema } from "weakincentives";
      import { AgentLoop, Fleet } from "weakincentives/fleet";
      import { scriptedClient } from "weakincentives/testing";
      const loop = new AgentLoop({
        name: "loop",
        request: jsonSchema({ type: "object" }),
        prepare: () => definePrompt({ name: "task", instructions: "Do it." }),
        adapter: () => scriptedClient({ text: "done" }),
      });
      console.log(await loop.execute({}));
      const answer = async () => ({ rows: [{ version: 0 }] });
      const pool = { query: answer, connect: async () => ({ query: answer, on() {}, release() {} }) };
      const places = [{ folder: "fleet" }, { postgres: "postgres://127.0.0.1:1/db" }, { postgres: pool }];
      for (const place of places) {
        console.log(await Fleet.open(place).then(() => "open", (error) => error.message));
      }`;
    const { stdout } = await node("--input-type=module", "-e", script);
    expect(stdout.trim().split("\n")).toEqual([
      "done",
      "PGlite is not installed. Run npm install @electric-sql/pglite.",
      "The package pg is not installed. Run npm install pg.",
      "pg-boss, the fleet's queue, is not installed. Run npm install pg-boss.",
    ]);
    expect(existsSync(join(installed.folder, "fleet"))).toBe(false);
  });

  test("type-checks, declarations included, against every entry point without optional packages", async () => {
    const folder = join(installed.folder, "types");
    await mkdir(folder);
    const types = join(folder, "node_modules", "@types");
    await mkdir(types, { recursive: true });
    await symlink(join(root, "node_modules", "@types", "node"), join(types, "node"));
    const imports = entryPoints.map(
      (entryPoint, index) => `export * as entry${index} from "${toSpecifier(entryPoint)}";\n`,
    );
    await writeFile(join(folder, "program.mts"), imports.join(""));
    await writeTsConfig(folder, { types: ["node"] });
    expect(await compile(folder)).toBe("");
    await writeTsConfig(folder, { types: ["node"], module: "esnext", moduleResolution: "bundler" });
    expect(await compile(folder)).toBe("");
  });

  test("type-checks, declarations included, against its root entry point without @types/node", async () => {
    const folder = join(installed.folder, "edge");
    await mkdir(folder);
    await writeFile(join(folder, "program.mts"), 'export * from "weakincentives";\n');
    await writeTsConfig(folder, { types: [], lib: ["es2023", "esnext.disposable", "dom"] });
    expect(await compile(folder)).toBe("");
  });

  test("leads editors from every public name to its declaration in src", async () => {
    const folder = join(installed.folder, "editor");
    await mkdir(folder);
    const exported = await listPublicNames(installed.folder);
    expect(exported.length).toBeGreaterThan(300);
    const lines = exported.map(([from, name]) => `export type { ${name} } from "${from}";`);
    const path = join(folder, "program.mts");
    await writeFile(path, lines.join("\n"));
    await writeTsConfig(folder, {});
    const sources = join(installed.folder, "node_modules", "weakincentives", "src");
    await using server = await LanguageServer.start(folder);
    server.open(path, lines.join("\n"));
    const wrong: string[] = [];
    for (const [line, [, name]] of exported.entries()) {
      const definitions = await server.findDefinitions(path, line, "export type { ".length);
      if (definitions.length === 0) wrong.push(`${name} has no definition`);
      for (const { uri, range } of definitions) {
        const file = fileURLToPath(uri);
        const source = (await readFile(file, "utf8")).split("\n")[range.start.line] ?? "";
        const isName = new RegExp(`^${name}\\b`).test(source.slice(range.start.character));
        if (!file.startsWith(sources) || !isName) wrong.push(`${name}: ${file}: ${source}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("shows lines of src in stack traces with --enable-source-maps", async () => {
    const script = `
      import { Tool } from "weakincentives";
      import { LocalProvider } from "weakincentives/local";
      const faults = [() => new Tool({ name: "a b" }), () => new LocalProvider({ modle: 1 })];
      for (const fault of faults) try { fault(); } catch (error) { console.log(error.stack); }`;
    const { stdout } = await node("--enable-source-maps", "--input-type=module", "-e", script);
    const frames = [...stdout.matchAll(/^ +at (?:new )?([\w.]+) \((.+):(\d+):\d+\)$/gm)]
      .map(([, name = "", path = "", line]) => ({ name, path, line: Number(line) }))
      .filter(({ path }) => path.includes("/weakincentives/"));
    const shown = await Promise.all(
      frames.map(async ({ name, path, line }) => {
        const source = (await readFile(path, "utf8")).split("\n")[line - 1];
        return [name, path.replace(/.*\/weakincentives\//, ""), source?.trim()];
      }),
    );
    expect(shown).toEqual([
      ["checkToolName", "src/base/check-names.ts", expect.stringContaining("throw new Prompt")],
      ["Tool", "src/tools/tool.ts", expect.stringContaining("checkToolName(")],
      ["createUnknownKeyError", "src/base/errors.ts", expect.stringContaining("new kind(")],
      ["checkKnownKeys", "src/base/errors.ts", expect.stringContaining("createUnknownKeyError(")],
      [
        "readProviderSettings",
        "src/local/provider-options.ts",
        expect.stringContaining("checkKnownKeys("),
      ],
      ["LocalProvider", "src/local/provider.ts", expect.stringContaining("readProviderSettings(")],
    ]);
  });

  test("contains the sources that its source maps name", () => {
    const maps = installed.files.filter((file) => file.endsWith(".map"));
    expect(maps.length).toBeGreaterThan(200);
    const missing = maps.flatMap((file) => {
      const path = join(installed.folder, "node_modules", "weakincentives", file);
      const { sources } = JSON.parse(readFileSync(path, "utf8")) as { readonly sources: string[] };
      const files = sources.map((source) => join(file, "..", source));
      return files.filter((source) => !installed.files.includes(source));
    });
    expect(missing).toEqual([]);
  });
});

/** Writes a tsconfig.json that checks declarations too. */
async function writeTsConfig(folder: string, options: object): Promise<void> {
  const compilerOptions = {
    strict: true,
    target: "es2023",
    module: "nodenext",
    noEmit: true,
    skipLibCheck: false,
    ...options,
  };
  const config = { compilerOptions, include: ["*.mts"] };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
}

/** Type-checks the programs of a folder. Returns what tsc prints. */
async function compile(folder: string): Promise<string> {
  const printed = run("tsc", ["-p", folder], { cwd: folder });
  return (await printed.catch((error: { stdout: string }) => error)).stdout;
}

/** The names that the entry points export, types included, with the entry point. */
async function listPublicNames(folder: string): Promise<(readonly [from: string, name: string])[]> {
  const found: (readonly [string, string])[] = [];
  for (const [entryPoint, target] of Object.entries(manifest.exports)) {
    if (typeof target === "string") continue;
    const path = join(folder, "node_modules", "weakincentives", target.types);
    const code = await readFile(path, "utf8");
    for (const [, list = ""] of code.matchAll(/^export (?:type )?\{([^}]+)\} from/gm)) {
      const names = list.split(",").map((name) => name.replace(/^\s*type /, "").trim());
      const named = names.filter((name) => name !== "");
      found.push(...named.map((name) => [toSpecifier(entryPoint), name] as const));
    }
  }
  return found;
}

/** The modules that a file reaches through static imports: files of this package, other packages and `node:` names. */
async function findReachedModules(entry: string, modules: string): Promise<ReadonlySet<string>> {
  const reached = new Set<string>();
  const open = [entry];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    if (!file.startsWith("weakincentives/")) continue;
    const code = (await readFile(join(modules, file), "utf8")).replaceAll(/\/\*[\s\S]*?\*\//g, "");
    for (const [, from = ""] of code.matchAll(/(?:^import|\bfrom)\s*["']([^"']+)["'];?$/gm)) {
      open.push(from.startsWith(".") ? join(file, "..", from) : from);
    }
  }
  return reached;
}
