/**
 * Installs the Claude Agent SDK for tests and examples: in addition to the packages of `package-lock.json`,
 * which do not have it, because it is large and has its own license. Its own lockfile is in scripts/claude. If the
 * clients of `tests/clients` are installed, their copy is used.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, symlinkSync } from "node:fs";

const name = "@anthropic-ai/claude-agent-sdk";
const folder = "scripts/claude";
const clients = "tests/clients/node_modules";
const scope = "node_modules/@anthropic-ai";
const { dependencies }: { readonly dependencies: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(`${folder}/package.json`, "utf8"),
);
const version = dependencies[name];

if (hasSdk(clients)) {
  linkScope(`../${clients}/@anthropic-ai`);
  console.log(`${name}@${version}: the copy of tests/clients is used.`);
} else {
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder];
  const { status } = spawnSync("npm", args, { stdio: "inherit" });
  if (status === 0) linkScope(`../${folder}/node_modules/@anthropic-ai`);
  process.exitCode = status ?? 1;
}

function hasSdk(modules: string): boolean {
  const path = `${modules}/${name}/package.json`;
  if (!existsSync(path)) return false;
  const manifest: { readonly version?: unknown } = JSON.parse(readFileSync(path, "utf8"));
  return manifest.version === version;
}

function linkScope(target: string): void {
  rmSync(scope, { recursive: true, force: true });
  symlinkSync(target, scope);
}
