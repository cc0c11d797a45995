/**
 * Compiles `src` into an empty `dist`: JavaScript without comments in a few chunks, declarations with comments, and maps from
 * both to `src`, which is part of the package (decisions 72 and 92).
 */
import { spawnSync } from "node:child_process";
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };
import { bundle } from "./build/bundle.ts";
import { bundlePage } from "./build/bundle-page.ts";
import { dropMaps } from "./build/drop-maps.ts";
import { escapeText } from "./build/escape-text.ts";
import { listEntryDeclarations, pruneDeclarations } from "./build/prune-declarations.ts";
import { redirectHostImports } from "./build/redirect-host-imports.ts";
import { thinSourceMaps } from "./build/thin-source-maps.ts";

rmSync("dist", { recursive: true, force: true });
compile("--sourceMap", "--removeComments");
compile("--declaration", "--declarationMap", "--emitDeclarationOnly");
// The page of the inspector is one file. Its modules are not needed.
for (const folder of ["page", "view"]) rmSync(`dist/inspect/${folder}`, { recursive: true });
redirectHostImports("dist");
await bundle("dist", listEntryPoints());
escapeText("dist");
writeFileSync("dist/inspect/page.html", await bundlePage());
thinSourceMaps("dist");
pruneDeclarations("dist", listEntryDeclarations(manifest.exports));
dropMaps("dist", manifest.files);
chmodSync("dist/cli/main.js", 0o755);

/** The JavaScript files of the entry points and the command. */
function listEntryPoints(): readonly string[] {
  const targets = Object.values(manifest.exports).flatMap((target) =>
    typeof target === "string" ? [] : [target.default],
  );
  return [...targets, ...Object.values(manifest.bin)].map((path) => join(path));
}

function compile(...options: readonly string[]): void {
  const args = ["-p", "tsconfig.build.json", ...options];
  const { status } = spawnSync("tsc", args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
