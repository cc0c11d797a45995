/** Adds up what test runs reported: `node scripts/count-results.ts RESULTS.json…`. */
import { readFileSync } from "node:fs";

interface Results {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
}

const runs = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, "utf8")) as Results);
const sum = (name: keyof Results) => runs.reduce((total, run) => total + run[name], 0);
const [passed, failed, skipped] = [
  sum("numPassedTests"),
  sum("numFailedTests"),
  sum("numPendingTests"),
];
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = passed > 0 && failed === 0 ? 0 : 1;
