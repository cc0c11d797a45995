/**
 * Writes what users install with the package as CycloneDX JSON: to sbom.cdx.json, or to the path that is given. The same
 * lockfile gives the same bytes. Signatures of the registry cannot be checked here: `npm audit signatures` needs it.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import type { Lockfile, Manifest } from "./supply-chain/lockfile.ts";
import { type Bom, findBomProblems, normalizeBom } from "./supply-chain/normalize-bom.ts";

const [path = "sbom.cdx.json"] = process.argv.slice(2);
const manifest: Manifest = JSON.parse(readFileSync("package.json", "utf8"));
const lockfile: Lockfile = JSON.parse(readFileSync("package-lock.json", "utf8"));
// Not --omit=dev: npm then also omits packages that a development dependency needs as well.
const args = ["sbom", "--sbom-format=cyclonedx", "--package-lock-only"];
const { status, stdout, stderr } = spawnSync("npm", args, { encoding: "utf8" });
if (status !== 0) throw new Error(`npm sbom failed: ${stderr}`);

const bom: Bom = normalizeBom(JSON.parse(stdout), manifest, lockfile);
const problems = findBomProblems(bom, lockfile);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
writeFileSync(path, `${JSON.stringify(bom, null, 2)}\n`);
console.log(`${path}: ${bom.components.length} components, ${problems.length} problems`);
