import { findClaimProblems, type ReadSource, splitCells } from "./proofs.ts";

/** One row of the tables in `docs/errors.md`. */
export interface ErrorRow {
  /** The line in the file, from 1. */
  readonly line: number;
  /** The heading above it: an error class, or "What the model reads". */
  readonly section: string;
  readonly message: string;
  readonly from: readonly string[];
  readonly test: string;
}

/** The text of the sources in `src/`, without tests, by path. */
export type Sources = ReadonlyMap<string, string>;

/** Parses the headings of the page and the rows below them. Throws on an invalid row. */
export function parseErrors(markdown: string): {
  readonly sections: readonly string[];
  readonly rows: readonly ErrorRow[];
} {
  const sections: string[] = [];
  const rows: ErrorRow[] = [];
  for (const [index, line] of markdown.split("\n").entries()) {
    if (line.startsWith("## ")) sections.push(line.slice(3).trim());
    if (!line.startsWith("|") || isTableHead(line)) continue;
    rows.push(parseRow(line, index + 1, sections.at(-1) ?? ""));
  }
  return { sections, rows };
}

/** Reports files that create an error without a row below its class, and rows whose file creates none. */
export function findOriginProblems(rows: readonly ErrorRow[], sources: Sources): string[] {
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
export function findMessageProblems(rows: readonly ErrorRow[], sources: Sources): string[] {
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
export function findTestProblems(rows: readonly ErrorRow[], readSource: ReadSource): string[] {
  const claims = rows
    .filter(({ test }) => test !== "open")
    .map(({ line, test }) => ({ label: `line ${line}`, proof: test }));
  return findClaimProblems(claims, readSource);
}

function isTableHead(line: string): boolean {
  return line === "| message | why | what to do | from | test |" || /^\|[-:|]+\|$/.test(line);
}

function parseRow(line: string, at: number, section: string): ErrorRow {
  const cells = splitCells(line);
  const [message = "", why = "", remedy = "", from = "", test = ""] = cells;
  const quoted = /^`([^`]+)`$/.exec(message)?.[1];
  const files = from.split("<br>").map((file) => /^`(src\/[^`]+\.ts)`$/.exec(file.trim())?.[1]);
  if (cells.length !== 5 || !quoted || why === "" || remedy === "" || files.includes(undefined)) {
    throw new Error(
      `docs/errors.md, line ${at}: "${line}" is not a row. Use | \`message\` | why | what to do | \`src/….ts\` | test |`,
    );
  }
  return { line: at, section, message: quoted, from: files.map(String), test };
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
