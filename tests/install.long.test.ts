import { execFile } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { readExample } from "../scripts/examples/list-examples.ts";
import { parsePage } from "./support/documents/parse-page.ts";
import { type InstalledPackage, installPackedPackage } from "./support/packed-package.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));

const MAX_BYTES = 12_000_000;
const MAX_PACKAGES = 12;
const MAX_SECONDS = 60;
const COMMAND_LIMIT = 120_000;
const TIME_LIMIT = 300_000;

// Needs npm's registry, which .ci/run has. Never skipped: these are promises of the README.
describe("npm install into an empty folder", () => {
  let packed: InstalledPackage;
  let folder: string;
  beforeAll(async () => {
    packed = await installPackedPackage();
    folder = await mkdtemp(join(tmpdir(), "wink-install-"));
  }, TIME_LIMIT);
  afterAll(async () => {
    await packed[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs a command of the README with the tarball instead of the package's name. */
  const runCommand = async (command: string, project: string) => {
    const [program = "", ...args] = command
      .split(" ")
      .map((word) => (word === manifest.name ? packed.tarball : word));
    // Both installs share a cache, which the first one finds empty.
    const env = { ...createUserEnvironment(), npm_config_cache: join(folder, "cache") };
    try {
      return await run(program, args, { cwd: project, env, timeout: COMMAND_LIMIT });
    } catch (error) {
      throw explainFailure(command, error);
    }
  };

  test(
    `and the README's first agent take less than ${MAX_SECONDS} s, three commands and no key`,
    async () => {
      const { install, source, start } = readFirstAgent();
      const project = join(folder, "first-agent");
      await mkdir(project);

      const started = performance.now();
      await runCommand(install, project);
      await writeFile(join(project, "agent.mts"), source);
      const { stdout } = await runCommand(start, project);
      const seconds = (performance.now() - started) / 1000;

      process.stdout.write(`From an empty folder to a running agent: ${seconds.toFixed(1)} s\n`);
      const { prints } = readExample("README.md", source);
      expect(prints).not.toEqual([]);
      expect(stdout).toBe(`${prints.join("\n")}\n`);
      expect(seconds).toBeLessThan(MAX_SECONDS);
    },
    TIME_LIMIT,
  );

  test(
    `takes at most ${MAX_BYTES} bytes and ${MAX_PACKAGES} packages without optional peers`,
    async () => {
      const project = join(folder, "size");
      await mkdir(project);
      await runCommand(`npm install ${manifest.name}`, project);

      const packages = listPackages(project);
      const files = listFileSizes(join(project, "node_modules"));
      const bytes = files.reduce((sum, { size }) => sum + size, 0);
      const count = `${bytes} bytes of files, ${packages.length} packages`;
      process.stdout.write(`Installed: ${count}\n${describeSizes(packages, files)}\n`);
      expect(packages).toContain(manifest.name);
      for (const peer of Object.keys(manifest.peerDependencies))
        expect(packages).not.toContain(peer);
      expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
      expect(packages.length).toBeLessThanOrEqual(MAX_PACKAGES);
    },
    TIME_LIMIT,
  );
});

/** The first program of the README, and the commands before and after it. */
function readFirstAgent() {
  const { fences } = parsePage("README.md", readFileSync(join(root, "README.md"), "utf8"));
  const index = fences.findIndex(({ language }) => language === "ts");
  const [install = "", source = "", start = ""] = fences
    .slice(index - 1, index + 2)
    .map(({ text }) => text);
  expect(install.trim()).toMatch(/^npm install weakincentives( [\w-]+)*$/);
  expect(start.trim()).toBe("npx wink run agent.mts");
  return { install: install.trim(), source, start: start.trim() };
}

/**
 * The environment without keys, and without the variables that npm sets for the scripts of this repository. npm gives up
 * on an unreachable registry after seconds instead of minutes.
 */
function createUserEnvironment(): NodeJS.ProcessEnv {
  const hidden =
    /^(?:npm_(?:package|lifecycle)_|npm_config_(?:local_)?prefix$|INIT_CWD$|.*_API_KEY$)/;
  const kept = Object.entries(process.env).filter(([name]) => !hidden.test(name));
  return {
    ...Object.fromEntries(kept),
    npm_config_fetch_retry_mintimeout: "1000",
    npm_config_fetch_retry_maxtimeout: "2000",
  };
}

const UNREACHABLE =
  /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|E50[234])\b/;

/** The error of `execFile`. */
interface Failure {
  readonly stdout: string;
  readonly stderr: string;
  /** Whether the time limit has ended the process. */
  readonly killed: boolean;
}

/** Adds what a command printed, and the remedy if the registry is missing. */
function explainFailure(command: string, error: unknown): Error {
  const { stdout, stderr, killed } = error as Failure;
  const reason =
    killed || UNREACHABLE.test(stderr)
      ? "npm's registry cannot be reached. Connect to it, or set npm_config_registry to a mirror."
      : "The command failed.";
  return new Error(`${command}: ${reason}\n${stdout}${stderr}`, { cause: error });
}

/** The packages that npm installed, nested ones included. */
function listPackages(project: string): readonly string[] {
  const lock = readFileSync(join(project, "node_modules", ".package-lock.json"), "utf8");
  const { packages } = JSON.parse(lock) as { readonly packages: object };
  return Object.keys(packages).map((path) => path.replace(/^node_modules\//, ""));
}

interface FileSize {
  /** Path from `node_modules`, with slashes. */
  readonly path: string;
  readonly size: number;
}

/** The files in a folder. Links, such as those in `.bin`, are not files. */
function listFileSizes(folder: string): readonly FileSize[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path) => ({ path: path.slice(folder.length + 1), size: statSync(path).size }));
}

/** Lists the size of each package and, of this one, of each folder. */
function describeSizes(packages: readonly string[], files: readonly FileSize[]): string {
  const own = ["dist", "src", "docs", "examples"].map((name) => `${manifest.name}/${name}`);
  const rows = [...packages, ...own].map((path) => {
    const sizes = files.filter((file) => file.path.startsWith(`${path}/`)).map(({ size }) => size);
    return { path, size: sizes.reduce((sum, size) => sum + size, 0) };
  });
  const sorted = rows.sort((a, b) => b.size - a.size);
  return sorted.map(({ path, size }) => `${`${size}`.padStart(9)} ${path}`).join("\n");
}
