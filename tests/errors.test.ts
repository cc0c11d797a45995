import { existsSync, globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as core from "weakincentives";
import * as files from "weakincentives/files";
import * as openai from "weakincentives/openai";
import * as testing from "weakincentives/testing";
import {
  type ErrorRow,
  messageProblems,
  originProblems,
  parseErrors,
  testProblems,
} from "./support/errors-table.ts";

const root = new URL("../", import.meta.url);
const { sections, rows } = parseErrors(readFileSync(new URL("docs/errors.md", root), "utf8"));
const sources = new Map(
  globSync("src/**/*.ts", { cwd: root })
    .filter((file) => !/\.test(?:-d)?\.ts$/.test(file))
    .map((file) => [file, readFileSync(new URL(file, root), "utf8")]),
);

test("every error that a door exports has a heading", () => {
  const exported = Object.keys({ ...core, ...files, ...openai, ...testing });
  const classes = exported.filter((name) => name.endsWith("Error"));
  expect(classes).toContain("WinkError");
  expect(classes.filter((name) => !sections.includes(name))).toEqual([]);
});

test("every heading has a row", () => {
  const filled = new Set(rows.map(({ section }) => section));
  expect(sections.filter((section) => !filled.has(section))).toEqual([]);
});

test("every file that makes an error is named below its class, and no other is", () => {
  expect(originProblems(rows, sources)).toEqual([]);
});

test("every message is in the module it is said to come from", () => {
  expect(messageProblems(rows, sources)).toEqual([]);
});

test("every test that is named exists", () => {
  expect(testProblems(rows, readFromRepository)).toEqual([]);
});

test("only what these files make has no test yet: the list gets shorter, never longer", () => {
  const open = rows.filter((row) => row.test === "open").flatMap(({ from }) => from);
  expect([...new Set(open)].sort()).toEqual([]);
});

test("a file that makes an error and is not named, and one that makes none, are reported", () => {
  const made = new Map([
    ["src/a.ts", "new WinkError(message);"],
    ["src/b.ts", 'throw new SnapshotError("b"); new AggregateError([]); new Error("c");'],
  ]);
  const snapshot = row({ section: "SnapshotError", from: ["src/b.ts"] });
  expect(originProblems([row({}), snapshot], made)).toEqual([]);
  expect(originProblems([row({ from: ["src/a.ts", "src/b.ts", "src/c.ts"] })], made)).toEqual([
    "there is no WinkError of src/b.ts",
    "there is no WinkError of src/c.ts",
    "the SnapshotError of src/b.ts has no row",
  ]);
});

test("a factory of errors counts as making them, and an example in a comment does not", () => {
  const made = new Map([
    ["src/a.ts", 'const refuse = InvalidOptionError.at("Car");'],
    ["src/b.ts", '/**\n * const refuse = InvalidOptionError.at("Car");\n */'],
  ]);
  const section = "InvalidOptionError";
  expect(originProblems([row({ section, from: ["src/a.ts"] })], made)).toEqual([]);
  expect(originProblems([], made)).toEqual(["the InvalidOptionError of src/a.ts has no row"]);
});

test("a message that its room does not say is reported with its line", () => {
  const said = new Map([
    ["src/garage/a.ts", "rule: `must have $" + "{count} wheels`"],
    ["src/base/b.ts", "class WinkError extends Error: a car"],
    ["src/farm/c.ts", "four legs"],
  ]);
  const problemsOf = (message: string) =>
    messageProblems([row({ message, from: ["src/garage/a.ts"] })], said);
  expect(problemsOf("Car.wheels must have … wheels")).toEqual([]);
  expect(problemsOf("a car")).toEqual([]);
  expect(problemsOf("Car must have … legs")).toEqual(['line 7: src/garage does not say "legs"']);
});

test("a test that does not exist is reported with its line", () => {
  const source = () => 'test("it walks", () => {});';
  expect(testProblems([row({ test: "`src/a.test.ts` › it walks" })], source)).toEqual([]);
  expect(testProblems([row({ test: "`src/a.test.ts` › it flies" })], source)).toEqual([
    'line 7: src/a.test.ts has no test titled "it flies"',
  ]);
  expect(testProblems([row({ test: "open" })], source)).toEqual([]);
  expect(testProblems([row({ test: "none" })], source)[0]).toContain("is no proof");
});

test.each([
  "| `m` | why | what | `src/a.ts` |",
  "| m | why | what | `src/a.ts` | test |",
  "| `m` | | what | `src/a.ts` | test |",
  "| `m` | why | what | src/a.ts | test |",
  "| `m` | why | what | `src/a.ts`<br>`a.ts` | test |",
])("a line that is not a row is refused: %s", (line) => {
  expect(() => parseErrors(`## WinkError\n${line}`)).toThrow("line 2");
});

function row(fields: Partial<ErrorRow>): ErrorRow {
  return {
    line: 7,
    section: "WinkError",
    message: "…",
    from: ["src/a.ts"],
    test: "`src/a.test.ts` › it walks",
    ...fields,
  };
}

function readFromRepository(path: string): string | null {
  const file = new URL(path, root);
  return existsSync(file) ? readFileSync(file, "utf8") : null;
}
