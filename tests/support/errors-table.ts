import { findClaimProblems, type ReadSource, splitCells } from "./proofs.ts";

/** One row of the tables in `docs/errors.md`. */
export interface ErrorRow {
  /** The line in the file, from 1. */
  readonly line: number;
  /** The second-level heading above it: an error class, or "What the model reads". */
  readonly section: string;
  readonly message: string;
  readonly why: string;
  readonly remedy: string;
}

/** One row of the tables in `docs/errors-sources.md`. */
export interface SourceRow {
  /** The line in the file, from 1. */
  readonly line: number;
  /** The second-level heading above it: an error class, or "What the model reads". */
  readonly section: string;
  readonly message: string;
  readonly from: readonly string[];
  readonly test: string;
}

/** The text of the sources in `src/`, without tests, by path. */
export type Sources = ReadonlyMap<string, string>;

/** Parses the rows of the page for users. Throws on an invalid row. Other tables are skipped. */
export function parseErrors(markdown: string): readonly ErrorRow[] {
  return parseTables(markdown, "| message | why | what to do |").map(({ cells, ...place }) => {
    const [message = "", why = "", remedy = ""] = cells;
    const quoted = readCode(message);
    if (cells.length !== 3 || !quoted || why === "" || remedy === "") {
      const rule = "is not a row. Use | `message` | why | what to do |";
      throw new Error(`docs/errors.md, line ${place.line}: "${cells.join(" | ")}" ${rule}`);
    }
    return { ...place, message: quoted, why, remedy };
  });
}

/** Parses the rows of the page for maintainers. Throws on an invalid row. */
export function parseSources(markdown: string): readonly SourceRow[] {
  return parseTables(markdown, "| message | from | test |").map(({ cells, ...place }) => {
    const [message = "", from = "", test = ""] = cells;
    const quoted = readCode(message);
    const files = from.split("<br>").map((file) => /^`(src\/[^`]+\.ts)`$/.exec(file.trim())?.[1]);
    if (cells.length !== 3 || !quoted || test === "" || files.includes(undefined)) {
      const rule = "is not a row. Use | `message` | `src/….ts` | test |";
      throw new Error(`docs/errors-sources.md, line ${place.line}: "${cells.join(" | ")}" ${rule}`);
    }
    return { ...place, message: quoted, from: files.map(String), test };
  });
}

/** Reports the first row in which the two pages differ. */
export function findPairProblems(
  rows: readonly ErrorRow[],
  sources: readonly SourceRow[],
): string[] {
  const differing = Array.from(
    { length: Math.max(rows.length, sources.length) },
    (_, at) => at,
  ).find(
    (at) =>
      rows[at]?.section !== sources[at]?.section || rows[at]?.message !== sources[at]?.message,
  );
  if (differing === undefined) return [];
  const [row, source] = [rows[differing], sources[differing]];
  const describe = (page: string, one: ErrorRow | SourceRow | undefined) =>
    one ? `${page}, line ${one.line}, has "${one.message}" (${one.section})` : `${page} ends`;
  return [`${describe("errors.md", row)}, but ${describe("errors-sources.md", source)}`];
}

/** Reports remedies that send the reader away without saying what to do. */
export function findVagueRemedies(rows: readonly ErrorRow[]): string[] {
  const vague =
    /^(?:nothing|none|retry|(?:fix|correct|check|see) (?:it|both|`cause`|the cause|that error)|do either|see the rows above)\.?$/;
  return rows
    .filter(({ remedy }) => vague.test(remedy))
    .map(({ line, remedy }) => `line ${line}: "${remedy}" does not say what to do`);
}

/** Reports files that create an error without a row below its class, and rows whose file creates none. */
export function findOriginProblems(rows: readonly SourceRow[], sources: Sources): string[] {
  const classRows = rows.filter(({ section }) => section.endsWith("Error"));
  const listed = new Set(
    classRows.flatMap(({ section, from }) => from.map((file) => `${section} in ${file}`)),
  );
  const created = new Set(
    [...sources].flatMap(([file, code]) =>
      findCreatedErrors(code).map((name) => `${name} in ${file}`),
    ),
  );
  return [
    ...[...listed].filter((pair) => !created.has(pair)).map(describeIdleRow),
    ...[...created].filter((pair) => !listed.has(pair)).map((pair) => `the ${pair} has no row`),
  ];
}

/**
 * Reports messages that occur neither in the modules they come from nor in the file of their class. The field of
 * an invalid option is skipped, because any module may pass it: the search starts at "must".
 */
export function findMessageProblems(rows: readonly SourceRow[], sources: Sources): string[] {
  return rows.flatMap(({ line, section, message, from }) => {
    const modules = new Set(from.flatMap(findModules));
    const code = [...sources]
      .filter(([file, text]) => isIn(file, modules) || text.includes(`class ${section} `))
      .map(([, text]) => text)
      .join("\n");
    return splitMessage(message)
      .filter((fragment) => !code.includes(fragment) && !code.includes(lowerFirst(fragment)))
      .map((fragment) => `line ${line}: ${[...modules].join(", ")} does not contain "${fragment}"`);
  });
}

/** Reports tests that are neither "open" nor in the form of `docs/requirements.md`, or that do not exist. */
export function findTestProblems(rows: readonly SourceRow[], readSource: ReadSource): string[] {
  const claims = rows
    .filter(({ test }) => test !== "open")
    .map(({ line, test }) => ({ label: `line ${line}`, proof: test }));
  return findClaimProblems(claims, readSource);
}

interface TableRow {
  readonly line: number;
  readonly section: string;
  readonly cells: readonly string[];
}

/** Lists the rows of all tables with the given head. */
function parseTables(markdown: string, head: string): readonly TableRow[] {
  const rows: TableRow[] = [];
  let section = "";
  let isTable = false;
  for (const [index, line] of markdown.split("\n").entries()) {
    if (line.startsWith("## ")) section = line.slice(3).trim();
    if (!line.startsWith("|")) isTable = false;
    else if (line === head) isTable = true;
    else if (isTable && !/^\|[-:|]+\|$/.test(line)) {
      rows.push({ line: index + 1, section, cells: splitCells(line) });
    }
  }
  return rows;
}

function readCode(cell: string): string | undefined {
  return /^`([^`]+)`$/.exec(cell)?.[1];
}

/** Error classes of the runtime and of commander. */
const FOREIGN_CLASSES = ["AggregateError", "SyntaxError", "TypeError", "InvalidArgumentError"];

/** Error classes that the library always catches. Users never see them. */
const INTERNAL_CLASSES = [
  "ConnectionDroppedError",
  "NotAFileError",
  "ConflictError",
  "ObstructedError",
  "StoppedError",
  "SyncError",
  "TransportBodyError",
  "TransportClosedError",
  "TransportEndError",
  "TransportFetchError",
  "TransportTimeoutError",
  "UntransferableError",
];

/** The library's error classes that a file creates. */
function findCreatedErrors(code: string): string[] {
  const statements = code.replace(/^\s*\*.*$/gm, ""); // without doc comments
  const matches = statements.matchAll(
    /\bnew ([A-Z]\w*Error)\(|\b([A-Z]\w*Error)\.(?:at|invalid)\(|: RefusalClass = ([A-Z]\w*Error)\b/g,
  );
  const names = Array.from(
    matches,
    ([, constructed, factory, parameter = ""]) => constructed ?? factory ?? parameter,
  );
  return [...new Set(names)].filter(
    (name) => !FOREIGN_CLASSES.includes(name) && !INTERNAL_CLASSES.includes(name),
  );
}

/** The module of a file. Messages of `host` contain texts that `files` passes to it. */
function findModules(file: string): readonly string[] {
  const module = file.split("/", 2).join("/");
  return module === "src/host" ? [module, "src/files"] : [module];
}

function isIn(file: string, modules: ReadonlySet<string>): boolean {
  return [...modules].some((module) => file.startsWith(`${module}/`));
}

function describeIdleRow(pair: string): string {
  const [name, file] = pair.split(" in ");
  return `${file} creates no ${name}`;
}

/** The fixed parts of a message. Sentences are separate parts: `InvalidOptionError` capitalizes the remedy. */
function splitMessage(message: string): string[] {
  return message
    .replace(/^.*? (?=must )/, "")
    .split(/…|"?: |, got |\. (?=[A-Z])/)
    .map((fragment) => fragment.replace(/\.$/, "").trim())
    .filter((fragment) => fragment !== "");
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
