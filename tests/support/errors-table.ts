import { cellsOf, claimProblems, type ReadSource } from "./proofs.ts";

/** One row of the tables in `docs/errors.md`. */
export interface ErrorRow {
  /** Of the file, counted from 1. */
  readonly line: number;
  /** The heading it stands under: a class, or what the model reads. */
  readonly section: string;
  readonly message: string;
  readonly from: readonly string[];
  readonly test: string;
}

/** Text of the files of `src/`, tests left out, by path. */
export type Sources = ReadonlyMap<string, string>;

/** The headings of the page, and the rows below them. A line it cannot read is an error. */
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

/** Says which file makes an error and is not named below its class, or is named and makes none. */
export function originProblems(rows: readonly ErrorRow[], sources: Sources): string[] {
  const ofClasses = rows.filter(({ section }) => section.endsWith("Error"));
  const named = new Set(
    ofClasses.flatMap(({ section, from }) => from.map((file) => `${section} of ${file}`)),
  );
  const made = new Set(
    [...sources].flatMap(([file, code]) => errorsMadeIn(code).map((name) => `${name} of ${file}`)),
  );
  return [
    ...[...named].filter((pair) => !made.has(pair)).map((pair) => `there is no ${pair}`),
    ...[...made].filter((pair) => !named.has(pair)).map((pair) => `the ${pair} has no row`),
  ];
}

/**
 * Says which messages are not in the modules they come from, or with their class. Of a refusal, the rule is
 * looked for, from its "must" on: its field may come from anywhere.
 */
export function messageProblems(rows: readonly ErrorRow[], sources: Sources): string[] {
  return rows.flatMap(({ line, section, message, from }) => {
    const modules = new Set(from.flatMap(modulesOf));
    const code = [...sources]
      .filter(([file, text]) => isIn(file, modules) || text.includes(`class ${section} `))
      .map(([, text]) => text)
      .join("\n");
    return fragmentsOf(message)
      .filter((fragment) => !code.includes(fragment))
      .map((fragment) => `line ${line}: ${[...modules].join(", ")} does not say "${fragment}"`);
  });
}

/** Says which tests are neither open nor in the form of `docs/requirements.md`, or do not exist. */
export function testProblems(rows: readonly ErrorRow[], readSource: ReadSource): string[] {
  const claims = rows
    .filter(({ test }) => test !== "open")
    .map(({ line, test }) => ({ label: `line ${line}`, proof: test }));
  return claimProblems(claims, readSource);
}

function isTableHead(line: string): boolean {
  return line === "| message | why | what to do | from | test |" || /^\|[-:|]+\|$/.test(line);
}

function parseRow(line: string, at: number, section: string): ErrorRow {
  const cells = cellsOf(line);
  const [message = "", why = "", remedy = "", from = "", test = ""] = cells;
  const quoted = /^`([^`]+)`$/.exec(message)?.[1];
  const files = from.split("<br>").map((file) => /^`(src\/[^`]+\.ts)`$/.exec(file.trim())?.[1]);
  if (cells.length !== 5 || !quoted || why === "" || remedy === "" || files.includes(undefined)) {
    throw new Error(
      `docs/errors.md, line ${at}: "${line}" is not a row; write | \`message\` | why | what to do | \`src/….ts\` | test |`,
    );
  }
  return { line: at, section, message: quoted, from: files.map(String), test };
}

/** Classes of the runtime and of commander. */
const foreign = ["AggregateError", "TypeError", "InvalidArgumentError"];

/** The classes of our own errors that a file makes: not a bare `Error`, nor what holds several. */
function errorsMadeIn(code: string): string[] {
  const statements = code.replace(/^\s*\*.*$/gm, ""); // without the lines of doc comments
  const makers = statements.matchAll(
    /\bnew ([A-Z]\w*Error)\(|\b([A-Z]\w*Error)\.(?:at|invalid)\(/g,
  );
  const names = Array.from(makers, ([, made, at = ""]) => made ?? at);
  return [...new Set(names)].filter((name) => !foreign.includes(name));
}

/** The module of a file. `host` words its errors with what `files` passes to it. */
function modulesOf(file: string): readonly string[] {
  const module = file.split("/", 2).join("/");
  return module === "src/host" ? [module, "src/files"] : [module];
}

function isIn(file: string, modules: ReadonlySet<string>): boolean {
  return [...modules].some((module) => file.startsWith(`${module}/`));
}

/** What a message says whatever it is about. */
function fragmentsOf(message: string): string[] {
  return message
    .replace(/^.*? (?=must )/, "")
    .split(/…|"?: /)
    .map((fragment) => fragment.trim())
    .filter((fragment) => fragment !== "");
}
