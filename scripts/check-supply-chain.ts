/**
 * Checks the packages of an install: every lockfile (hashes, sources, install scripts), the licenses of the packages
 * that users install, their table in docs/licenses.md, and the Node that the development dependency downloads.
 *
 *   node scripts/check-supply-chain.ts          checks this repository
 *   node scripts/check-supply-chain.ts FOLDER   checks another folder
 *   node scripts/check-supply-chain.ts --write  writes the table of licenses first
 */
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findLockProblems } from "./supply-chain/find-lock-problems.ts";
import { findNodeProblems } from "./supply-chain/find-node-problems.ts";
import { findLicenseProblems, formatLicenses, replaceTable } from "./supply-chain/licenses.ts";
import { type Lockfile, listShipped, type Manifest } from "./supply-chain/lockfile.ts";

const [given = "."] = process.argv.slice(2);
const root = given === "--write" ? "." : given;
const page = join(root, "docs/licenses.md");
const lockfile: Lockfile = readJson(join(root, "package-lock.json"));
const paths = globSync("**/package-lock.json", {
  cwd: root,
  exclude: (name) => name.split("/").includes("node_modules"),
}).sort();

if (given === "--write") {
  const text = readFileSync(page, "utf8");
  writeFileSync(page, replaceTable(text, formatLicenses(lockfile)));
}
const problems = [
  ...paths.flatMap((path) => checkLockfile(path)),
  ...findLicenseProblems(lockfile).map((problem) => `package-lock.json: ${problem}`),
  ...checkPage(),
  ...checkInstalled(),
  ...findNodeProblems(root),
];
for (const problem of problems) console.error(problem);
const shipped = listShipped(lockfile).length;
console.log(`${paths.length} lockfiles, ${shipped} shipped packages: ${problems.length} problems`);
if (problems.length > 0) process.exitCode = 1;

function checkLockfile(path: string): readonly string[] {
  const manifest: Manifest = readJson(join(root, dirname(path), "package.json"));
  const lock: Lockfile = readJson(join(root, path));
  return findLockProblems(lock, manifest).map((problem) => `${path}: ${problem}`);
}

/** Compares the committed table with the lockfile, so that a changed license is seen in a review. */
function checkPage(): readonly string[] {
  const isCurrent = readFileSync(page, "utf8").includes(`${formatLicenses(lockfile)}\n`);
  return isCurrent ? [] : ["docs/licenses.md differs from package-lock.json: run npm run licenses"];
}

/** Compares the installed packages' own licenses with the lockfile. */
function checkInstalled(): readonly string[] {
  return listShipped(lockfile).flatMap(([path, { license }]) => {
    const manifest = join(root, path, "package.json");
    if (!existsSync(manifest)) return [];
    const installed: { readonly license?: string } = readJson(manifest);
    if (installed.license === license) return [];
    return [`${path} has the license ${installed.license}, and ${license} in package-lock.json`];
  });
}

function readJson<Value>(path: string): Value {
  return JSON.parse(readFileSync(path, "utf8"));
}
