import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AttackRecord } from "./attempt.ts";

/** Collects the counts of all attacks in a run and prints them after the last test, by surface and user. */
export function setup(): () => void {
  const given = process.env["WINK_ATTACKS"]; // a folder that is kept, for `npm run attacks:table`
  const folder = given ?? mkdtempSync(join(tmpdir(), "wink-attacks-"));
  process.env["WINK_ATTACKS"] = folder;
  return () => {
    const records = readAttacks(folder);
    if (records.length > 0) process.stdout.write(`\n${formatCounts(records)}\n`);
    if (given === undefined) rmSync(folder, { recursive: true });
  };
}

/** Reads the records that the tests of a run left in `folder`. */
export function readAttacks(folder: string): readonly AttackRecord[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => readFileSync(join(folder, name), "utf8").trimEnd().split("\n"))
    .map((line): AttackRecord => JSON.parse(line));
}

function formatCounts(records: readonly AttackRecord[]): string {
  const rows = new Map<string, { attacks: number; tried: number; through: number }>();
  for (const { surface, as, tried, through } of records) {
    for (const key of [as === undefined ? surface : `${surface}, as ${as}`, "in all"]) {
      const row = rows.get(key) ?? { attacks: 0, tried: 0, through: 0 };
      rows.set(key, {
        attacks: row.attacks + 1,
        tried: row.tried + tried,
        through: row.through + through,
      });
    }
  }
  const sorted = [...rows].sort(
    ([a], [b]) => Number(a === "in all") - Number(b === "in all") || a.localeCompare(b),
  );
  return [
    `${"Attacks on".padEnd(36)}  attacks    tried  got through`,
    ...sorted.map(
      ([key, { attacks, tried, through }]) =>
        `${key.padEnd(36)}  ${String(attacks).padStart(7)}  ${String(tried).padStart(7)}  ${String(through).padStart(11)}`,
    ),
  ].join("\n");
}
