import { cellsOf, claimProblems, type ReadSource } from "./proofs.ts";

/** One row of the tables in `docs/requirements.md`. */
export interface RequirementRow {
  /** Of the file, counted from 1. */
  readonly line: number;
  readonly specification: string;
  readonly number: number;
  readonly level: string;
  readonly text: string;
  readonly proof: string;
}

const specifications = [
  { name: "S0", first: 1, last: 136 },
  { name: "S1", first: 137, last: 201 },
  { name: "S2", first: 202, last: 245 },
  { name: "S3", first: 246, last: 320 },
  { name: "S4", first: 321, last: 373 },
] as const;
const lastNumber = 373;
const levels: readonly string[] = ["MUST!", "MUST", "SHOULD", "MAY", "SPEC"];

/** Reads the rows under the headings `## S0 …` to `## S4 …`. A line it cannot read is an error. */
export function parseRequirements(markdown: string): RequirementRow[] {
  const rows: RequirementRow[] = [];
  let specification: string | null = null;
  for (const [index, line] of markdown.split("\n").entries()) {
    if (line.startsWith("## ")) specification = /^## (S\d+)\b/.exec(line)?.[1] ?? null;
    if (specification === null || !line.startsWith("|") || isTableHead(line)) continue;
    rows.push(parseRow(line, index + 1, specification));
  }
  return rows;
}

/** Says which numbers are missing, repeated, out of order or under the wrong heading. */
export function numberingProblems(rows: readonly RequirementRow[]): string[] {
  const problems: string[] = [];
  const seen = new Set<number>();
  let previous = 0;
  for (const row of rows) {
    if (seen.has(row.number)) problems.push(`line ${row.line}: ${row.number} is repeated`);
    else if (row.number < previous)
      problems.push(`line ${row.line}: ${row.number} is out of order`);
    seen.add(row.number);
    previous = row.number;
    const home = specifications.find(
      ({ first, last }) => row.number >= first && row.number <= last,
    );
    if (home?.name !== row.specification) {
      const place = home ? `belongs under ${home.name}` : "is no requirement";
      problems.push(
        `line ${row.line}: ${row.number} ${place}, and stands under ${row.specification}`,
      );
    }
  }
  for (let number = 1; number <= lastNumber; number += 1) {
    if (!seen.has(number)) problems.push(`${number} is missing`);
  }
  return problems;
}

/** Says which rows have an unknown level or say nothing. */
export function wordingProblems(rows: readonly RequirementRow[]): string[] {
  return rows.flatMap((row) => [
    ...(levels.includes(row.level)
      ? []
      : [`${row.number}: level "${row.level}" is none of ${levels.join(", ")}`]),
    ...(row.text === "" ? [`${row.number}: the text is empty`] : []),
  ]);
}

/** Says which proofs are neither open nor tests that exist. */
export function proofProblems(rows: readonly RequirementRow[], readSource: ReadSource): string[] {
  const proven = rows.filter(({ proof }) => proof !== "open");
  const claims = proven.map(({ number, proof }) => ({ label: `${number}`, proof }));
  return claimProblems(claims, readSource);
}

function isTableHead(line: string): boolean {
  return line === "| # | level | requirement | proof |" || /^\|[-:|]+\|$/.test(line);
}

function parseRow(line: string, at: number, specification: string): RequirementRow {
  const cells = cellsOf(line);
  const [number = "", level = "", text = "", proof = ""] = cells;
  if (cells.length !== 4 || !/^[1-9]\d*$/.test(number)) {
    throw new Error(
      `docs/requirements.md, line ${at}: "${line}" is not a row; write | number | level | text | proof | and \\| for a bar inside a cell`,
    );
  }
  return { line: at, specification, number: Number(number), level, text, proof };
}
