import { splitCells } from "../proofs.ts";
import type { AttackRecord } from "./attempt.ts";

const BEGIN = "<!-- attacks: written by npm run attacks:table -->";
const END = "<!-- end of attacks -->";

/** Replaces the tables between the two marks of `docs/attacks.md` with the project's own attempts in `records`. */
export function replaceAttacks(page: string, records: readonly AttackRecord[]): string {
  const [before, rest] = page.split(BEGIN);
  const [, after] = rest?.split(END) ?? [];
  if (before === undefined || after === undefined)
    throw new Error(`${BEGIN} and ${END} are missing.`);
  return `${before}${BEGIN}\n\n${formatTables(records)}\n${END}${after}`;
}

/** Lists attacks that only the page has, or only the records. */
export function findDifferences(page: string, records: readonly AttackRecord[]): readonly string[] {
  const written = new Set(
    page
      .split("\n")
      .filter(isRow)
      .map((row) => splitCells(row)[1] ?? ""),
  );
  const tried = new Set(
    records
      .filter(({ finding }) => finding === "own")
      .map(({ tries }) => tries.replaceAll("\n", " ")),
  );
  return [
    ...[...tried]
      .filter((tries) => !written.has(tries))
      .map((tries) => `not on the page: ${tries}`),
    ...[...written]
      .filter((tries) => !tried.has(tries))
      .map((tries) => `not in this run: ${tries}`),
  ];
}

function isRow(line: string): boolean {
  return /^\| \d+ \|/.test(line);
}

function formatTables(records: readonly AttackRecord[]): string {
  const own = records.filter(({ finding }) => finding === "own");
  const surfaces = [...new Set(own.map(({ surface }) => surface))].sort();
  let number = 0;
  return surfaces
    .map((surface) => {
      const rows = mergeUsers(own.filter((record) => record.surface === surface));
      const lines = rows.map(({ tries, shows, users, file }) => {
        number += 1;
        const test = file.slice(file.lastIndexOf("/") + 1);
        return `| ${number} | ${escapeCell(tries)} | ${escapeCell(shows)} | ${users} | [${test}](../${file}) |`;
      });
      const head = ["| | tried | result | as | test |", "|---|---|---|---|---|"];
      return `## ${surface[0]?.toUpperCase()}${surface.slice(1)}\n\n${[...head, ...lines].join("\n")}\n`;
    })
    .join("\n");
}

/** Joins the records of one attack that was tried as different users. */
function mergeUsers(records: readonly AttackRecord[]) {
  const merged = new Map<string, AttackRecord & { readonly users: string }>();
  for (const record of records) {
    const known = merged.get(record.tries);
    const users = [...new Set([...(known?.users.split(", ") ?? []), record.as ?? ""])].filter(
      Boolean,
    );
    merged.set(record.tries, { ...record, users: users.sort().join(", ") });
  }
  return [...merged.values()].sort(
    (a, b) => a.file.localeCompare(b.file) || a.tries.localeCompare(b.tries),
  );
}

function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
