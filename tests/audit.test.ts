import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { findClaimProblems, splitCells } from "./support/proofs.ts";

const root = new URL("../", import.meta.url);
const SECTIONS = { A: 35, B: 9, C: 13 };

/** One row of the table in `docs/audit.md`. */
interface AuditRow {
  readonly name: string;
  readonly before: string;
  readonly after: string;
  readonly proof: string;
}

function parseRows(markdown: string): readonly AuditRow[] {
  const lines = markdown.split("\n").filter((line) => /^\| [ABC]\d+ \|/.test(line));
  return lines.map((line) => {
    const cells = splitCells(line);
    const [name = "", before = "", after = "", proof = ""] = cells;
    if (cells.length !== 4) throw new Error(`docs/audit.md: "${line}" must have four cells`);
    return { name, before, after, proof };
  });
}

const rows = parseRows(readFileSync(new URL("docs/audit.md", root), "utf8"));

test("docs/audit.md has the rows A1 to A35, B1 to B9 and C1 to C13, each once, in order", () => {
  const names = Object.entries(SECTIONS).flatMap(([letter, count]) =>
    Array.from({ length: count }, (_, index) => `${letter}${index + 1}`),
  );
  expect(rows.map(({ name }) => name)).toEqual(names);
});

test("every row of docs/audit.md states the mistake and the fix", () => {
  const short = rows.filter(({ before, after }) => before.length < 20 || after.length < 20);
  expect(short.map(({ name }) => name)).toEqual([]);
});

test("every row of docs/audit.md names tests that exist", () => {
  const claims = rows.map(({ name, proof }) => ({ label: name, proof }));
  const readSource = (path: string) => {
    const file = new URL(path, root);
    return existsSync(file) ? readFileSync(file, "utf8") : null;
  };
  expect(findClaimProblems(claims, readSource)).toEqual([]);
});
