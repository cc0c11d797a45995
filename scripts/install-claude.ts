/**
 * Installs the Claude Agent SDK for tests and examples: in addition to the packages of `package-lock.json`,
 * which do not have it, because it is large and has its own license. If the clients of `tests/clients` are
 * installed, their copy is used.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";

const [name, version] = ["@anthropic-ai/claude-agent-sdk", "0.3.325"];
const folder = "node_modules/.claude";
const clients = "tests/clients/node_modules";
const scope = "node_modules/@anthropic-ai";

if (hasSdk(clients)) {
  linkScope(`../${clients}/@anthropic-ai`);
  console.log(`${name}@${version}: the copy of tests/clients is used.`);
} else {
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/package.json`, '{ "private": true }\n');
  const { status } = spawnSync(
    "npm",
    ["install", "--no-audit", "--no-fund", `${name}@${version}`],
    { cwd: folder, stdio: "inherit" },
  );
  if (status === 0) linkScope(".claude/node_modules/@anthropic-ai");
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
