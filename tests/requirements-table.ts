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

/** One test that a row names as its proof. */
interface ProofItem {
  readonly file: string;
  readonly title: string;
}

/** Gives the text of a file of the repository, or null where there is no such file. */
export type ReadSource = (path: string) => string | null;

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

/** Says which proofs are not in the form, name no file, or name a test that the file has not. */
export function proofProblems(rows: readonly RequirementRow[], readSource: ReadSource): string[] {
  const titles = new Map<string, ReadonlySet<string> | null>();
  const titlesIn = (file: string) => {
    const known = titles.get(file);
    if (known !== undefined) return known;
    const source = readSource(file);
    const found = source === null ? null : testTitles(source);
    titles.set(file, found);
    return found;
  };
  return rows.flatMap((row) => rowProofProblems(row, titlesIn));
}

/**
 * The titles of the tests and groups that a test file runs, as written there, unescaped. What is
 * declared by `test.skip` or `test.todo` proves nothing and is not among them.
 */
export function testTitles(source: string): Set<string> {
  const code = source.replace(/^\s*\/\/.*$/gm, "");
  const call =
    /(?:\b(?:test|it|describe)((?:\.\w+)*)|\))\s*\(\s*("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)/gs;
  const titles = new Set<string>();
  for (const [, modifiers = "", literal = ""] of code.matchAll(call)) {
    if (!/\.(?:skip|todo)\b/.test(modifiers)) titles.add(unescapeLiteral(literal.slice(1, -1)));
  }
  return titles;
}

function isTableHead(line: string): boolean {
  return line === "| # | level | requirement | proof |" || /^\|[-:|]+\|$/.test(line);
}

function parseRow(line: string, at: number, specification: string): RequirementRow {
  const cells = line
    .slice(1)
    .replace(/\|\s*$/, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
  const [number = "", level = "", text = "", proof = ""] = cells;
  if (cells.length !== 4 || !/^[1-9]\d*$/.test(number)) {
    throw new Error(
      `docs/requirements.md, line ${at}: "${line}" is not a row; write | number | level | text | proof | and \\| for a bar inside a cell`,
    );
  }
  return { line: at, specification, number: Number(number), level, text, proof };
}

function rowProofProblems(
  row: RequirementRow,
  titlesIn: (file: string) => ReadonlySet<string> | null,
): string[] {
  if (row.proof === "open") return [];
  return row.proof.split("<br>").flatMap((written) => {
    const item = parseProofItem(written.trim());
    if (item === null) {
      return [
        `${row.number}: "${written.trim()}" is no proof; write open, or \`path/to/file.test.ts\` › title`,
      ];
    }
    const titles = titlesIn(item.file);
    if (titles === null) return [`${row.number}: there is no file ${item.file}`];
    return titles.has(item.title)
      ? []
      : [`${row.number}: ${item.file} has no test titled "${item.title}"`];
  });
}

function parseProofItem(written: string): ProofItem | null {
  const match = /^`((?!\/)[^`]+\.test(?:-d)?\.ts)` › (\S.*)$/.exec(written);
  const [, file = "", title = ""] = match ?? [];
  return match === null || file.split("/").includes("..") ? null : { file, title };
}

function unescapeLiteral(body: string): string {
  const named = new Map([
    ["n", "\n"],
    ["t", "\t"],
    ["r", "\r"],
  ]);
  return body.replace(
    /\\(?:u\{([\da-f]+)\}|u([\da-f]{4})|x([\da-f]{2})|(.))/gis,
    (_, braced?: string, unit?: string, byte?: string, single = "") => {
      const code = braced ?? unit ?? byte;
      return code === undefined
        ? (named.get(single) ?? single)
        : String.fromCodePoint(Number.parseInt(code, 16));
    },
  );
}
