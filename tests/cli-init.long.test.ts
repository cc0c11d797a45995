import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addPackages } from "./support/documents/paste-project.ts";
import { type InstalledPackage, installPackedPackage } from "./support/packed-package.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));

/** `.ci/run` installs the oldest supported Node and sets this. */
const node22 = process.env["WINK_NODE22"];
const nodes: readonly (readonly [version: string, path: string])[] = [
  [process.version, process.execPath],
  ...(node22 ? [["22", node22] as const] : []),
];

describe("A project of wink init, with the packed package", () => {
  let installed: InstalledPackage;
  let project: string;

  beforeAll(async () => {
    installed = await installPackedPackage();
    project = join(installed.folder, "my-agent");
    const modules = join(installed.folder, "node_modules");
    await addPackages(installed.folder, ["zod", "@types/node"]);
    await mkdir(join(modules, ".bin"), { recursive: true });
    const wink = join(modules, "weakincentives", "dist", "cli", "main.js");
    await symlink(wink, join(modules, ".bin", "wink"));
    await symlink(join(root, "node_modules", ".bin", "tsc"), join(modules, ".bin", "tsc"));
    const { stdout } = await run(process.execPath, [wink, "init", "my-agent", "--json"], {
      cwd: installed.folder,
    });
    const next = ["cd my-agent", "npm install", "npm test", "npm run start:local"];
    expect(JSON.parse(stdout)).toMatchObject({ folder: project, next });
    await symlink(modules, join(project, "node_modules")); // instead of npm install
  }, 300_000);
  afterAll(() => installed[Symbol.asyncDispose]());

  /** Runs a command in the project without a key. Returns its output and its exit code. */
  const call = async (node: string, program: string, ...args: readonly string[]) => {
    const path = [dirname(node), process.env["PATH"]].join(delimiter);
    const env = { PATH: path, HOME: installed.folder, NO_COLOR: "1", npm_config_offline: "true" };
    return await run(program, args, { cwd: project, env }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code, stdout, stderr }: Failure) => ({ code, stdout, stderr }),
    );
  };

  test("type-checks with its own strict settings", async () => {
    const { code, stdout } = await call(process.execPath, "npm", "run", "--silent", "types");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    const { compilerOptions } = JSON.parse(readFileSync(join(project, "tsconfig.json"), "utf8"));
    expect(compilerOptions.strict).toBe(true);
  }, 120_000);

  describe.each(nodes)("on Node %s", (_version, node) => {
    test("passes its tests with npm test", async () => {
      const { code, stdout } = await call(node, "npm", "test");
      expect(stdout).toMatch(/\n(?:ℹ|#) pass 2\n(?:ℹ|#) fail 0\n/);
      expect(code).toBe(0);
    }, 120_000);

    test("runs without a key, and stores its session", async () => {
      const { code, stdout } = await call(node, "npm", "run", "--silent", "start:local");
      expect(stdout).toMatch(/^Bake 12 loaves of rye: 3 of 15 are left\.\nIt cost \$0\.0\d+\.\n/);
      expect(code).toBe(0);
      const [, id = ""] = /npx wink sessions show (\S+) --store sessions\n$/.exec(stdout) ?? [];
      const shown = await call(
        node,
        "npx",
        "--no",
        "wink",
        "sessions",
        "show",
        id,
        "--store",
        "sessions",
      );
      expect(shown.stdout).toMatch(/state +done\n[\s\S]*✓ count_loaves[\s\S]*\nAnswer\n/);
      expect(readdirSync(join(project, "sessions"))).toContain(`${id}.jsonl`);
      const script = ["--model", "turns.json", "main.mts", "rye"];
      const again = await call(node, "npx", "--no", "wink", "run", ...script);
      expect(again.stdout).toContain("Bake 12 loaves of rye");
    }, 120_000);

    test("explains that a key is missing with npm start", async () => {
      const { code, stderr } = await call(node, "npm", "start", "--silent");
      expect(stderr).toContain("Set OPENAI_API_KEY or clientConfig.apiKey.");
      expect(code).toBe(1);
    }, 120_000);
  });
});

/** The error of `execFile`. */
interface Failure {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}
