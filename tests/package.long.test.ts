import { execFile } from "node:child_process";
import { copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { type InstalledPackage, installPackedPackage } from "./support/packed-package.ts";

const run = promisify(execFile);
const doors = Object.keys(manifest.exports).filter((door) => door !== "./package.json");
const specifier = (door: string) => door.replace(/^\./, "weakincentives");

test("the tests run on the Node that the development dependency brings", () => {
  expect(process.version).toBe(`v${manifest.devDependencies.node}`);
});

test("the package has these doors and no others", () => {
  expect(manifest.exports).toEqual({
    ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
    "./claude": { types: "./dist/claude/index.d.ts", default: "./dist/claude/index.js" },
    "./files": { types: "./dist/files/index.d.ts", default: "./dist/files/index.js" },
    "./local": { types: "./dist/local/index.d.ts", default: "./dist/local/index.js" },
    "./openai": { types: "./dist/openai/index.d.ts", default: "./dist/openai/index.js" },
    "./stores": { types: "./dist/stores/index.d.ts", default: "./dist/stores/index.js" },
    "./testing": { types: "./dist/testing/index.d.ts", default: "./dist/testing/index.js" },
    "./package.json": "./package.json",
  });
});

test("development dependencies are pinned exactly, others exactly or to a major version", () => {
  for (const [name, version] of Object.entries(manifest.devDependencies)) {
    expect(version, name).toMatch(/^\d+\.\d+\.\d+$/);
  }
  for (const [name, version] of Object.entries(manifest.dependencies)) {
    expect(version, name).toMatch(/^\^?\d+\.\d+\.\d+$/);
  }
});

describe("the packed package, in an empty folder,", () => {
  let installed: InstalledPackage;
  beforeAll(async () => {
    installed = await installPackedPackage();
  }, 120_000);
  afterAll(() => installed[Symbol.asyncDispose]());

  const node = (...args: readonly string[]) =>
    run(process.execPath, args, { cwd: installed.folder });

  test.each(doors)("opens %s", async (door) => {
    const { stdout } = await node("-p", `import("${specifier(door)}").then((m) => typeof m)`);
    expect(stdout).toContain("Promise");
    await node("--input-type=module", "-e", `await import("${specifier(door)}")`);
  });

  test("runs a first agent and the adapter contract", async () => {
    const script = join(installed.folder, "smoke.mjs");
    await copyFile(new URL("./smoke/smoke.mjs", import.meta.url), script);
    const { stdout } = await node(script);
    expect(stdout).toMatch(/^smoke: \d+ checks held on Node v/);
  });

  test("runs wink", async () => {
    const wink = join("node_modules", "weakincentives", manifest.bin.wink);
    const { stdout } = await node(wink, "demo", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      output: { ventPercent: 100 },
      vents: { percent: 100 },
      mounts: [{ mountPath: "greenhouse", files: 5, withheld: ["gateway.pem"] }],
      synced: { added: ["greenhouse/vent-plan.csv"], failed: [] },
    });
  });

  test("holds what users need and nothing of our workshop", () => {
    const outside = installed.files.filter((file) => !file.startsWith("dist/"));
    const mounted = ["README.md", "gateway.pem", "limits.json", "night-log.md", "readings.csv"];
    expect(outside.sort()).toEqual(
      [
        "CHANGELOG.md",
        "GLOSSARY.md",
        "LICENSE",
        "README.md",
        "docs/errors.md",
        ...[...mounted, "vents.py"].map((file) => `examples/greenhouse/${file}`), // of wink demo
        "package.json",
      ].sort(),
    );
    expect(installed.files.filter((file) => /\.test|-d\.ts$/.test(file))).toEqual([]);
  });

  test("reaches no node: module through its root door", async () => {
    const modules = join(installed.folder, "node_modules");
    const reached = await modulesFrom("weakincentives/dist/index.js", modules);
    expect(reached.size).toBeGreaterThan(30);
    expect([...reached].filter((module) => module.startsWith("node:"))).toEqual([]);
    const packages = [...reached].map((module) => /^(@[^/]+\/)?[^/]+/.exec(module)?.[0]);
    expect([...new Set(packages)].sort()).toEqual(["weakincentives"]);
  });
});

/** What static imports reach from a file: paths below `modules`, and names of `node:` modules. */
async function modulesFrom(entry: string, modules: string): Promise<ReadonlySet<string>> {
  const reached = new Set<string>();
  const open = [entry];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    if (file.startsWith("node:")) continue;
    const code = await readFile(join(modules, file), "utf8");
    for (const [, from = ""] of code.matchAll(/(?:^import|\bfrom)\s*["']([^"']+)["'];?$/gm)) {
      open.push(from.startsWith(".") ? join(file, "..", from) : from);
    }
  }
  return reached;
}
