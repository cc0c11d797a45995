/**
 * Installs the Claude Agent SDK for tests and examples: in addition to the packages of `package-lock.json`,
 * which do not have it, because it is large and has its own license.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";

const SDK = "@anthropic-ai/claude-agent-sdk@0.3.325";
const CLIENT = "@anthropic-ai/sdk@1.8.0"; // the Agent SDK depends on it; tests use it directly
const folder = "node_modules/.claude";
const scope = "node_modules/@anthropic-ai";

mkdirSync(folder, { recursive: true });
writeFileSync(`${folder}/package.json`, '{ "private": true }\n');
const { status } = spawnSync("npm", ["install", "--no-audit", "--no-fund", SDK, CLIENT], {
  cwd: folder,
  stdio: "inherit",
});
if (status === 0) {
  rmSync(scope, { recursive: true, force: true });
  symlinkSync(".claude/node_modules/@anthropic-ai", scope);
}
process.exitCode = status ?? 1;
