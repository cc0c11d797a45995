/**
 * Writes the attacks of `tests/attacks` that are not in the audit into docs/attacks.md.
 *
 *   node scripts/write-attacks-table.ts            runs the attacks and writes the tables
 *   node scripts/write-attacks-table.ts --from F   writes the tables from the records of a run, in folder F
 *   node scripts/write-attacks-table.ts --check F  compares the page with the records of a run
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findDifferences, replaceAttacks } from "../tests/support/attacks/attacks-table.ts";
import { readAttacks } from "../tests/support/attacks/print-attacks.ts";

const page = "docs/attacks.md";
const [, , mode, given] = process.argv;
if (mode === "--check" && given !== undefined) checkPage(given);
else if (mode === "--from" && given !== undefined) writePage(given);
else runAttacks();

function checkPage(folder: string): void {
  const differences = findDifferences(readFileSync(page, "utf8"), readAttacks(folder));
  if (differences.length === 0) {
    console.log(`${page} lists the attacks of this run.`);
    return;
  }
  console.error(differences.join("\n"));
  console.error(`${page} differs from the attacks of this run. Run npm run attacks:table.`);
  process.exitCode = 1;
}

function writePage(folder: string): void {
  writeFileSync(page, replaceAttacks(readFileSync(page, "utf8"), readAttacks(folder)));
  console.log(`${page}: the tables are written.`);
}

function runAttacks(): void {
  const folder = mkdtempSync(join(tmpdir(), "wink-attacks-"));
  try {
    const run = spawnSync("npm", ["run", "test:all", "--", "tests/attacks"], {
      stdio: "inherit",
      env: { ...process.env, WINK_ATTACKS: folder },
    });
    if (run.status !== 0) throw new Error("An attack got through, or a test failed. See above.");
    writePage(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
