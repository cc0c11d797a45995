import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isMissed } from "../scripts/measure-row.ts";
import { type DeclaredFunction, findFunctions } from "../scripts/words/declared-functions.ts";
import { findDialect } from "../scripts/words/dialect.ts";
import { checkDocExamples, findDocExamples } from "../scripts/words/doc-examples.ts";
import { FILE_NAME_EXCEPTIONS, findExports, isNamedAfter } from "../scripts/words/file-names.ts";
import {
  findOfNames,
  findParticiples,
  findRepeatedNames,
  isParticiple,
  PARTICIPLE_EXCEPTIONS,
} from "../scripts/words/function-names.ts";
import { pickAtRandom } from "../scripts/words/pick-at-random.ts";
import { findPassages, maskCode } from "../scripts/words/prose.ts";
import { openProject, type TypeScriptProject } from "../scripts/words/typescript-project.ts";
import { measureNames } from "../scripts/words/word-rows.ts";

describe("isParticiple()", () => {
  test.each(["checked", "refused", "reading", "said", "made", "held", "written"])(
    "finds %s",
    (word) => expect(isParticiple(word)).toBe(true),
  );

  test.each([
    "check",
    "read",
    "set",
    "put",
    "open",
    "embed",
    "feed",
    "string",
    "ping",
    "bring",
    "red",
  ])("accepts the plain word %s", (word) => expect(isParticiple(word)).toBe(false));
});

describe("Function names", () => {
  test("are reported if they begin with a participle, except public factories", () => {
    const names = ["checkedOptions", "checkOptions", "said", "scriptedModel", "Reading"];
    const found = findParticiples(names.map((name) => createFunction({ name })));
    expect(found.map(({ name }) => name)).toEqual(["checkedOptions", "said"]);
  });

  test("are reported if they end in Of", () => {
    const found = findOfNames(
      ["textOf", "ofText", "indexOff", "Of"].map((name) => createFunction({ name })),
    );
    expect(found.map(({ name }) => name)).toEqual(["textOf"]);
  });

  test("are reported if more files declare them than allowed, methods aside", () => {
    const files = ["a.ts", "b.ts", "c.ts"];
    const functions = [
      ...files.map((file) => createFunction({ name: "parse", file })),
      ...files.map((file) => createFunction({ name: "close", file, isMethod: true })),
      ...["a.ts", "a.ts", "b.ts"].map((file) => createFunction({ name: "find", file })),
    ];
    expect(findRepeatedNames(functions, 2)).toEqual(new Map([["parse", files]]));
  });
});

describe("isNamedAfter()", () => {
  test.each([
    ["http-client", ["HTTPClient"]],
    ["spelling-suggestion", ["suggestSpelling"]],
    ["tool-names", ["toSdkName", "Tool"]],
    ["check-entries", ["checkEntry"]],
  ])("accepts %s for %j", (name, exported) => {
    expect(isNamedAfter(name, exported)).toBe(true);
  });

  test.each([
    ["nearest", ["suggestSpelling"]],
    ["tool-names", ["Tool"]],
    ["worker", []],
  ])("rejects %s for %j", (name, exported) => {
    expect(isNamedAfter(name, exported)).toBe(false);
  });
});

describe("findDialect()", () => {
  const findPhrases = (text: string) =>
    findDialect([{ file: "a.ts", line: 3, text }]).map(({ line, phrase }) => `${line} ${phrase}`);

  test("reports phrases with their lines, and overlapping phrases once", () => {
    expect(findPhrases("/** What it was told of.\n * Nobody goes on. */")).toEqual([
      "3 was told",
      "4 goes on",
      "4 Nobody",
      "3 What it",
    ]);
  });

  test.each([
    "The adapter retries the request and publishes an event.",
    "`maxBytes` must be a positive integer, got -1. Omit it for no limit.",
    "Goes on to the next page only if the server says that there is one.",
    "What happens on a timeout, and what to do: see the guide.",
  ])("accepts %j", (text) => {
    expect(findPhrases(text)).toEqual([]);
  });
});

test("maskCode() keeps the length and line breaks, and hides code and link targets", () => {
  const text = "See `whatever` and [rooms](docs/rooms.md).\n```ts\nnobody();\n```\n";
  const masked = maskCode(text);
  expect(masked).toHaveLength(text.length);
  expect(masked.split("\n")).toHaveLength(text.split("\n").length);
  expect(masked).toContain("[rooms");
  expect(masked).not.toMatch(/whatever|nobody|docs/);
});

describe("pickAtRandom()", () => {
  const items = Array.from({ length: 100 }, (_, index) => index);

  test("picks different items, and the same for the same seed", () => {
    const picked = pickAtRandom(items, 15, 7);
    expect(new Set(picked).size).toBe(15);
    expect(pickAtRandom(items, 15, 7)).toEqual(picked);
    expect(pickAtRandom(items, 15, 8)).not.toEqual(picked);
  });

  test("picks all items if there are fewer", () => {
    expect(pickAtRandom([1, 2], 15, 1).toSorted()).toEqual([1, 2]);
  });
});

test.each([
  [{ now: 3, target: 3 }, false],
  [{ now: 4, target: 3 }, true],
  [{ now: 3, target: 3, atLeast: true }, false],
  [{ now: 2, target: 3, atLeast: true }, true],
])("isMissed() compares %j", (row, expected) => {
  expect(isMissed({ measure: "", anchors: "", where: [], ...row })).toBe(expected);
});

describe("A TypeScript project", () => {
  const folder = mkdtempSync(join(tmpdir(), "wink-words-"));
  let project: TypeScriptProject;

  beforeAll(() => {
    writeFileSync(join(folder, "tsconfig.json"), '{ "include": ["*.ts"] }');
    writeFileSync(
      join(folder, "a.ts"),
      [
        "/** Adds two numbers. */",
        "export function add(a: number, b: number) {",
        "  const carry = () => a;",
        "  return carry() + b; // `b` may be negative",
        "}",
        "export class Counter {",
        "  #grow(by: number) {",
        "    throw new Error(`the counter cannot grow by $" + "{by}`);",
        "  }",
        '  label = "one two";',
        "}",
        "export type { Counter as Meter };",
        "export const [first] = [1];",
      ].join("\n"),
    );
    writeFileSync(join(folder, "b.ts"), "export function checked() {}");
    project = openProject(folder);
  });
  afterAll(() => {
    project[Symbol.dispose]();
    rmSync(folder, { recursive: true });
  });

  test("has functions, methods and functions in variables", () => {
    const found = findFunctions("a.ts", getSource());
    expect(found.map(({ name, line, isMethod }) => [name, line, isMethod])).toEqual([
      ["add", 2, false],
      ["carry", 3, false],
      ["grow", 7, true],
    ]);
    expect(found[1]?.text).toBe("carry = () => a");
  });

  test("has comments and strings of three words or more as prose", () => {
    const found = findPassages("a.ts", getSource());
    expect(found.map(({ line, text }) => `${line} ${text}`)).toEqual([
      "1 /** Adds two numbers. */",
      "4 // xxx may be negative",
      "8 `the counter cannot grow by xxxxx`",
    ]);
  });

  test("misses the target with one function that begins with a participle", () => {
    const [row] = measureNames({ ...project, files: new Map([["tests/a.ts", getSource("b.ts")]]) });
    expect(row).toMatchObject({ now: 1, target: 0, where: ["tests/a.ts:1 checked"] });
  });

  test("misses the target with one source that is not named after its exports", () => {
    const rows = measureNames({ ...project, files: new Map([["src/c.ts", getSource("b.ts")]]) });
    const misnamed = rows.find(({ measure }) => measure.startsWith("files that are not named"));
    expect(misnamed).toMatchObject({ now: 1, target: 0, where: ["src/c.ts exports checked"] });
  });

  test("misses the target with exceptions that no name needs", () => {
    const rows = measureNames({ ...project, files: new Map() });
    const idle = rows.find(({ measure }) => measure.startsWith("exceptions"));
    expect(idle?.where).toEqual([...PARTICIPLE_EXCEPTIONS.keys(), ...FILE_NAME_EXCEPTIONS.keys()]);
    expect(idle).toMatchObject({ target: 0 });
  });

  test("has exports", () => {
    expect(findExports(getSource())).toEqual(["add", "Counter", "Meter", "[first]"]);
  });

  function getSource(name = "a.ts") {
    const source = project.files.get(name);
    if (source === undefined) throw new Error(`${name} is missing`);
    return source;
  }
});

describe("Examples in comments", () => {
  const findExamples = (doc: string) =>
    findDocExamples([{ name: "Tool", file: "src/a.ts", line: 1, doc }]);
  const toDoc = (code: string) =>
    `/**\n * A tool.\n * @example\n * \`\`\`ts\n * ${code}\n * \`\`\`\n */`;

  test("are found below their tags, without the stars of the comment", () => {
    const doc = `${toDoc("const a = 1;")}${toDoc("const b = 2;")}`;
    expect(findExamples(doc)).toEqual([
      { name: "Tool", file: "src/a.ts", code: "const a = 1;\n" },
      { name: "Tool-2", file: "src/a.ts", code: "const b = 2;\n" },
    ]);
  });

  test("compile with the package's entry points, or the problem names the example", () => {
    const good = findExamples(toDoc('import { Tool } from "weakincentives"; const T = Tool;'));
    expect(checkDocExamples(good, process.cwd())).toBe("");
    const bad = findExamples(toDoc('import { Hammer } from "weakincentives";'));
    expect(checkDocExamples(bad, process.cwd())).toMatch(/^@example of Tool\.ts\(2,10\).*Hammer/);
  });

  test("are rejected without a program", () => {
    const [example] = findExamples("/** @example new Tool() */");
    expect(checkDocExamples(example ? [example] : [], process.cwd())).toBe(
      "@example of Tool in src/a.ts has no ```ts block",
    );
  });
});

function createFunction(fields: Partial<DeclaredFunction>): DeclaredFunction {
  return { file: "a.ts", line: 1, name: "add", isMethod: false, text: "", ...fields };
}
