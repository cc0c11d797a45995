/**
 * Writes the project's own attempts in `tests/attacks` into docs/attacks.md.
 *
 *   node scripts/write-attacks-table.ts            runs the attacks and writes the tables
 *   node scripts/write-attacks-table.ts --check F  compares the page with the records of a run, in folder F
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { replaceAttacks } from "../tests/support/attacks/attacks-table.ts";
import { readAttacks } from "../tests/support/attacks/print-attacks.ts";

const page = "docs/attacks.md";
const [, , mode, given] = process.argv;
if (mode === "--check" && given !== undefined) checkPage(given);
else runAndWrite();

function checkPage(folder: string): void {
  const records = readAttacks(folder);
  const text = readFileSync(page, "utf8");
  if (records.length > 0 && replaceAttacks(text, records) === text) {
    console.log(`${page} lists the attempts of this run.`);
    return;
  }
  console.error(`${page} differs from the attempts of this run. Run npm run attacks:table.`);
  process.exitCode = 1;
}

function runAndWrite(): void {
  const folder = mkdtempSync(join(tmpdir(), "wink-attacks-"));
  try {
    const run = spawnSync("npm", ["run", "test:all", "--", "tests/attacks"], {
      stdio: "inherit",
      env: { ...process.env, WINK_ATTACKS: folder },
    });
    if (run.status !== 0) throw new Error("An attack got through, or a test failed. See above.");
    writeFileSync(page, replaceAttacks(readFileSync(page, "utf8"), readAttacks(folder)));
    console.log(`${page}: the tables are written.`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
