import { findClaimProblems, findProofFiles, type ReadSource, splitCells } from "./proofs.ts";

/** One row of the tables in `docs/requirements.md`. */
export interface RequirementRow {
  /** Line in the file, counted from 1. */
  readonly line: number;
  readonly specification: string;
  readonly number: number;
  readonly level: string;
  readonly text: string;
  /** The tests, without the note. */
  readonly proof: string;
  /** The text in parentheses after the tests; null if there is none. */
  readonly note: string | null;
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
const needsKey = "needs a key";

/** Reads the rows under the headings `## S0 …` to `## S4 …`. Throws on a line that is not a row. */
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

/** Reports numbers that are missing, repeated, out of order or under the wrong heading. */
export function findNumberingProblems(rows: readonly RequirementRow[]): string[] {
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

/** Reports rows with an unknown level or an empty text. */
export function findWordingProblems(rows: readonly RequirementRow[]): string[] {
  return rows.flatMap((row) => [
    ...(levels.includes(row.level)
      ? []
      : [`${row.number}: level "${row.level}" is none of ${levels.join(", ")}`]),
    ...(row.text === "" ? [`${row.number}: the text is empty`] : []),
  ]);
}

/** Reports proofs that are not tests that exist. */
export function findProofProblems(
  rows: readonly RequirementRow[],
  readSource: ReadSource,
): string[] {
  const claims = rows.map(({ number, proof }) => ({ label: `${number}`, proof }));
  return findClaimProblems(claims, readSource);
}

/**
 * Reports invalid notes, and rows whose tests are all in `tests/live` without the note
 * `(needs a key)`, or the other way around.
 */
export function findNoteProblems(rows: readonly RequirementRow[]): string[] {
  return rows.flatMap(({ number, proof, note }) => {
    const files = findProofFiles(proof);
    const offline = files.find((file) => !file.startsWith("tests/live/"));
    if (note !== null && files.length === 0) return [`${number}: a note needs a test before it`];
    if (note !== null && note !== needsKey && findOverride(note) === null) {
      return [
        `${number}: "(${note})" is not a note. Use (${needsKey}) or (overridden by decision N: …)`,
      ];
    }
    if (note === needsKey && offline !== undefined) {
      return [`${number}: ${offline} does not need a key. Remove (${needsKey}).`];
    }
    if (note !== needsKey && files.length > 0 && offline === undefined) {
      return [`${number}: all its tests are in tests/live. Add (${needsKey}) after them.`];
    }
    return [];
  });
}

/** Returns the number of the decision that overrides a requirement, according to its note. */
export function findOverride(note: string | null): number | null {
  const number = /^overridden by decision ([1-9]\d*): .+$/.exec(note ?? "")?.[1];
  return number === undefined ? null : Number(number);
}

function isTableHead(line: string): boolean {
  return line === "| # | level | requirement | proof |" || /^\|[-:|]+\|$/.test(line);
}

function parseRow(line: string, at: number, specification: string): RequirementRow {
  const cells = splitCells(line);
  const [number = "", level = "", text = "", proven = ""] = cells;
  if (cells.length !== 4 || !/^[1-9]\d*$/.test(number)) {
    throw new Error(
      `docs/requirements.md, line ${at}: "${line}" is not a row. Use | number | level | text | proof | and \\| for a bar inside a cell`,
    );
  }
  const { proof, note } = splitNote(proven);
  return { line: at, specification, number: Number(number), level, text, proof, note };
}

/** A note is a separate line, so that a title may end with a parenthesis. */
function splitNote(cell: string): Pick<RequirementRow, "proof" | "note"> {
  const parts = cell.split("<br>");
  const note = /^\((.*)\)$/.exec(parts.at(-1)?.trim() ?? "")?.[1];
  if (note === undefined) return { proof: cell, note: null };
  return { proof: parts.slice(0, -1).join("<br>"), note };
}
