import { existsSync, globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as core from "weakincentives";
import * as files from "weakincentives/files";
import * as fleet from "weakincentives/fleet";
import * as openai from "weakincentives/openai";
import * as testing from "weakincentives/testing";
import {
  type ErrorRow,
  findMessageProblems,
  findOriginProblems,
  findPairProblems,
  findTestProblems,
  findVagueRemedies,
  parseErrors,
  parseSources,
  type SourceRow,
} from "./support/errors-table.ts";

const root = new URL("../", import.meta.url);
const page = readFileSync(new URL("docs/errors.md", root), "utf8");
const errors = parseErrors(page);
const rows = parseSources(readFileSync(new URL("docs/errors-sources.md", root), "utf8"));
const sources = new Map(
  globSync("src/**/*.ts", { cwd: root })
    .filter((file) => !/\.test(?:-d)?\.ts$/.test(file))
    .map((file) => [file, readFileSync(new URL(file, root), "utf8")]),
);

test("every exported error class has a section with rows, and a place in the tree of classes", () => {
  const exported = Object.keys({ ...core, ...files, ...fleet, ...openai, ...testing });
  const classes = exported.filter((name) => name.endsWith("Error"));
  expect(classes).toContain("WinkError");
  const sections = new Set(errors.map(({ section }) => section));
  expect(classes.filter((name) => !sections.has(name))).toEqual([]);
  const tree = /```text\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  expect(classes.filter((name) => !new RegExp(`\\b${name}\\b`).test(tree))).toEqual([]);
});

test("the page for users and the page for maintainers list the same messages", () => {
  expect(errors.length).toBeGreaterThan(600);
  expect(findPairProblems(errors, rows)).toEqual([]);
});

test("every remedy says what to do", () => {
  expect(findVagueRemedies(errors)).toEqual([]);
});

test("every file that creates an error is listed below its class, and no other", () => {
  expect(findOriginProblems(rows, sources)).toEqual([]);
});

test("every message occurs in its module", () => {
  expect(findMessageProblems(rows, sources)).toEqual([]);
});

test("every named test exists", () => {
  expect(findTestProblems(rows, readFromRepository)).toEqual([]);
});

test("every error has a test", () => {
  const open = rows.filter((row) => row.test === "open").flatMap(({ from }) => from);
  expect([...new Set(open)].sort()).toEqual([]);
});

test("reports an unlisted file that creates an error, and a listed file that creates none", () => {
  const made = new Map([
    ["src/a.ts", "new WinkError(message);"],
    ["src/b.ts", 'throw new SnapshotError("b"); new AggregateError([]); new Error("c");'],
  ]);
  const snapshot = createRow({ section: "SnapshotError", from: ["src/b.ts"] });
  expect(findOriginProblems([createRow({}), snapshot], made)).toEqual([]);
  expect(
    findOriginProblems([createRow({ from: ["src/a.ts", "src/b.ts", "src/c.ts"] })], made),
  ).toEqual([
    "src/b.ts creates no WinkError",
    "src/c.ts creates no WinkError",
    "the SnapshotError in src/b.ts has no row",
  ]);
});

test("counts an error factory, but not an example in a comment", () => {
  const made = new Map([
    ["src/a.ts", 'const refuse = InvalidOptionError.at("Car");'],
    ["src/b.ts", '/**\n * const refuse = InvalidOptionError.at("Car");\n */'],
  ]);
  const section = "InvalidOptionError";
  expect(findOriginProblems([createRow({ section, from: ["src/a.ts"] })], made)).toEqual([]);
  expect(findOriginProblems([], made)).toEqual(["the InvalidOptionError in src/a.ts has no row"]);
});

test("reports a message that its module does not contain, with its line", () => {
  const code = new Map([
    ["src/garage/a.ts", "rule: `must have $" + "{count} wheels`"],
    ["src/base/b.ts", "class WinkError extends Error: a car"],
    ["src/farm/c.ts", "four legs"],
  ]);
  const findProblems = (message: string) =>
    findMessageProblems([createRow({ message, from: ["src/garage/a.ts"] })], code);
  expect(findProblems("Car.wheels must have … wheels")).toEqual([]);
  expect(findProblems("a car")).toEqual([]);
  expect(findProblems("Car must have … legs")).toEqual([
    'line 7: src/garage does not contain "legs"',
  ]);
});

test("reports a missing test with its line", () => {
  const source = () => 'test("it walks", () => {});';
  expect(findTestProblems([createRow({ test: "`src/a.test.ts` › it walks" })], source)).toEqual([]);
  expect(findTestProblems([createRow({ test: "`src/a.test.ts` › it flies" })], source)).toEqual([
    'line 7: src/a.test.ts has no test titled "it flies"',
  ]);
  expect(findTestProblems([createRow({ test: "open" })], source)).toEqual([]);
  expect(findTestProblems([createRow({ test: "none" })], source)[0]).toContain("is not a proof");
});

test("reports the first row that one page has and the other lacks", () => {
  const one = createErrorRow({});
  const two = createErrorRow({ message: "two", line: 8 });
  expect(findPairProblems([one], [createRow({})])).toEqual([]);
  expect(findPairProblems([one, two], [createRow({})])).toEqual([
    'errors.md, line 8, has "two" (WinkError), but errors-sources.md ends',
  ]);
  expect(findPairProblems([two], [createRow({})])[0]).toContain("errors-sources.md, line 7, has");
  expect(findPairProblems([one], [createRow({ section: "PatchError" })])).toHaveLength(1);
});

test("reports a remedy that does not say what to do", () => {
  expect(findVagueRemedies([createErrorRow({ remedy: "raise `maxBytes`" })])).toEqual([]);
  expect(findVagueRemedies([createErrorRow({ remedy: "check `cause`" })])).toEqual([
    'line 7: "check `cause`" does not say what to do',
  ]);
});

test("skips tables with another head", () => {
  expect(parseErrors("## WinkError\n| where | what |\n|---|---|\n| a | b |")).toEqual([]);
});

test.each([
  "| `m` | why |",
  "| m | why | what |",
  "| `m` | | what |",
  "| `m` | why | what | more |",
])("rejects a line of the page for users that is not a row: %s", (line) => {
  const head = "| message | why | what to do |";
  expect(() => parseErrors(`## WinkError\n${head}\n|---|---|---|\n${line}`)).toThrow("line 4");
});

test.each([
  "| `m` | `src/a.ts` |",
  "| m | `src/a.ts` | test |",
  "| `m` | `src/a.ts` | |",
  "| `m` | src/a.ts | test |",
  "| `m` | `src/a.ts`<br>`a.ts` | test |",
])("rejects a line of the page for maintainers that is not a row: %s", (line) => {
  const head = "| message | from | test |";
  expect(() => parseSources(`## WinkError\n${head}\n|---|---|---|\n${line}`)).toThrow("line 4");
});

function createRow(fields: Partial<SourceRow>): SourceRow {
  return {
    line: 7,
    section: "WinkError",
    message: "…",
    from: ["src/a.ts"],
    test: "`src/a.test.ts` › it walks",
    ...fields,
  };
}

function createErrorRow(fields: Partial<ErrorRow>): ErrorRow {
  return { line: 7, section: "WinkError", message: "…", why: "why", remedy: "what", ...fields };
}

function readFromRepository(path: string): string | null {
  const file = new URL(path, root);
  return existsSync(file) ? readFileSync(file, "utf8") : null;
}
