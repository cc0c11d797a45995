import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { type InstalledPackage, installPackedPackage } from "./support/packed-package.ts";
import { hasBubblewrap } from "./support/workspace/workspace-fixture.ts";

const run = promisify(execFile);
const entryPoints = Object.keys(manifest.exports).filter((door) => door !== "./package.json");
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
        ...(existsSync("AGENTS.md") ? ["AGENTS.md"] : []),
        "CHANGELOG.md",
        "GLOSSARY.md",
        "LICENSE",
        "README.md",
        "docs/errors.md",
        "package.json",
      ].sort(),
    );
    expect(installed.files).toContain("examples/greenhouse/vents.py"); // for wink demo
    expect(installed.files.filter((file) => /\.test(?:-d)?\.ts$/.test(file))).toEqual([]);
  });

  test("imports no node: module through its root entry point", async () => {
    const modules = join(installed.folder, "node_modules");
    const reached = await findReachedModules("weakincentives/dist/index.js", modules);
    expect(reached.size).toBeGreaterThan(30);
    expect([...reached].filter((module) => module.startsWith("node:"))).toEqual([]);
    const packages = [...reached].map((module) => /^(@[^/]+\/)?[^/]+/.exec(module)?.[0]);
    expect([...new Set(packages)].sort()).toEqual(["weakincentives"]);
  });
});

/** The modules that a file reaches through static imports: paths below `modules`, and `node:` names. */
async function findReachedModules(entry: string, modules: string): Promise<ReadonlySet<string>> {
  const reached = new Set<string>();
  const open = [entry];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    if (file.startsWith("node:")) continue;
    const code = (await readFile(join(modules, file), "utf8")).replaceAll(/\/\*[\s\S]*?\*\//g, "");
    for (const [, from = ""] of code.matchAll(/(?:^import|\bfrom)\s*["']([^"']+)["'];?$/gm)) {
      open.push(from.startsWith(".") ? join(file, "..", from) : from);
    }
  }
  return reached;
}
