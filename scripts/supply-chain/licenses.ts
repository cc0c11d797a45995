import { type Lockfile, listShipped, toPackageName } from "./lockfile.ts";

/** Licenses (SPDX ids) that a package may have that users install with this one. */
const ALLOWED: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "MIT",
]);

/** Returns the packages whose license is unknown or not allowed. */
export function findLicenseProblems(lockfile: Lockfile): readonly string[] {
  return listShipped(lockfile)
    .filter(([, { license = "" }]) => !ALLOWED.has(license))
    .map(([path, { license = "no license" }]) => {
      const remedy = "choose another package, or review it and add the id to ALLOWED";
      return `${path} has ${license}, which is not on the list: ${remedy}`;
    });
}

/** Returns the table of `docs/licenses.md`, one row per package that users install. */
export function formatLicenses(lockfile: Lockfile): string {
  const rows = listShipped(lockfile).map(
    ([path, { version, license }]) => `| \`${toPackageName(path)}\` | ${version} | ${license} |`,
  );
  return ["| package | version | license |", "|---|---|---|", ...rows].join("\n");
}

/** Replaces the table of the page. */
export function replaceTable(page: string, table: string): string {
  return page.replace(/^\| package .*\n(?:\|.*\n)*/m, `${table}\n`);
}
