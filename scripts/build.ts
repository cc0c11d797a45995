/**
 * Compiles `src` into an empty `dist`: JavaScript without comments, declarations with them, and maps from both to `src`,
 * which is part of the package (decision 72).
 */
import { spawnSync } from "node:child_process";
import { chmodSync, rmSync } from "node:fs";
import manifest from "../package.json" with { type: "json" };
import { dropMaps } from "./build/drop-maps.ts";
import { indentWithTabs } from "./build/indent-with-tabs.ts";
import { listEntryDeclarations, pruneDeclarations } from "./build/prune-declarations.ts";
import { redirectHostImports } from "./build/redirect-host-imports.ts";
import { thinSourceMaps } from "./build/thin-source-maps.ts";

rmSync("dist", { recursive: true, force: true });
compile("--sourceMap", "--removeComments");
compile("--declaration", "--declarationMap", "--emitDeclarationOnly");
redirectHostImports("dist");
indentWithTabs("dist");
thinSourceMaps("dist");
pruneDeclarations("dist", listEntryDeclarations(manifest.exports));
dropMaps("dist", manifest.files);
chmodSync("dist/cli/main.js", 0o755);

function compile(...options: readonly string[]): void {
  const args = ["-p", "tsconfig.build.json", ...options];
  const { status } = spawnSync("tsc", args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
