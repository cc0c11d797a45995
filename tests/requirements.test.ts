import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { findTestTitles } from "./support/proofs.ts";
import {
  findNoteProblems,
  findNumberingProblems,
  findOverride,
  findProofProblems,
  findWordingProblems,
  parseRequirements,
  type RequirementRow,
} from "./support/requirements-table.ts";

const root = new URL("../", import.meta.url);
const rows = parseRequirements(readFileSync(new URL("docs/requirements.md", root), "utf8"));

test("the requirements are numbered 1 to 373, each once, under its own specification", () => {
  expect(findNumberingProblems(rows)).toEqual([]);
});

test("every requirement has a valid level and a text", () => {
  expect(findWordingProblems(rows)).toEqual([]);
});

test("every proof names existing tests", () => {
  expect(findProofProblems(rows, readFromRepository)).toEqual([]);
});

test("every note is valid, and is (needs a key) exactly if all tests are in tests/live", () => {
  expect(findNoteProblems(rows)).toEqual([]);
});

test("every decision that overrides a requirement exists", () => {
  const decisions = readdirSync(new URL("docs/decisions/", root));
  const numbers = rows.flatMap(({ note }) => findOverride(note) ?? []);
  const missing = numbers.filter(
    (number) => !decisions.some((name) => name.startsWith(`${String(number).padStart(4, "0")}-`)),
  );
  expect(numbers.length).toBeGreaterThan(0);
  expect(missing).toEqual([]);
});

test("reports gaps, repeats, wrong order and wrong headings", () => {
  const [first, second, third, ...others] = rows;
  if (!first || !second || !third) throw new Error("docs/requirements.md has no rows");

  expect(findNumberingProblems([first, ...others, third])).toEqual([
    `line ${third.line}: 3 is out of order`,
    "2 is missing",
  ]);
  expect(findNumberingProblems([first, first, second, third, ...others])).toEqual([
    `line ${first.line}: 1 is repeated`,
  ]);
  expect(
    findNumberingProblems([{ ...first, specification: "S4" }, second, third, ...others]),
  ).toEqual([`line ${first.line}: 1 belongs under S0, and stands under S4`]);
  expect(findNumberingProblems([...rows, createRow({ number: 374 })])).toEqual([
    "line 1: 374 is no requirement, and stands under S0",
  ]);
});

test("reports an unknown level and an empty text", () => {
  expect(findWordingProblems([createRow({ number: 7, level: "WISH", text: "" })])).toEqual([
    '7: level "WISH" is none of MUST!, MUST, SHOULD, MAY, SPEC',
    "7: the text is empty",
  ]);
});

test("reports a missing title with number, file and title", () => {
  const bad = createRow({
    number: 12,
    proof: "`src/a.test.ts` › it flies<br>`src/a.test.ts` › it walks",
  });

  expect(findProofProblems([bad], () => 'test("it walks", () => {});')).toEqual([
    '12: src/a.test.ts has no test titled "it flies"',
  ]);
});

test("reports a missing file with number and path", () => {
  expect(
    findProofProblems([createRow({ number: 12, proof: "`src/a.test.ts` › it" })], () => null),
  ).toEqual(["12: there is no file src/a.test.ts"]);
});

test.each([
  "",
  "open",
  "open<br>open",
  "src/a.test.ts › it walks",
  "`src/a.ts` › it walks",
  "`/src/a.test.ts` › it walks",
  "`../a.test.ts` › it walks",
  "`src/a.test.ts` ›",
])("reports the invalid proof '%s'", (proof) => {
  expect(findProofProblems([createRow({ number: 12, proof })], () => "")[0]).toContain(
    "is not a proof",
  );
});

describe("A note after the tests of a requirement", () => {
  const head = "## S0 x\n\n";
  const walks = "`src/a.test.ts` › it walks";
  const live = "`tests/live/a.live.test.ts` › it calls";
  const findProblems = (proven: string) =>
    findNoteProblems(parseRequirements(`${head}| 12 | MAY | x | ${proven} |`));

  test("is separated from the tests; a parenthesis in a title is not a note", () => {
    const parseProof = (proven: string) =>
      parseRequirements(`${head}| 12 | MAY | x | ${proven} |`).map(({ proof, note }) => [
        proof,
        note,
      ]);
    expect(parseProof(`${walks}<br>${live}<br>(needs a key)`)).toEqual([
      [`${walks}<br>${live}`, "needs a key"],
    ]);
    expect(parseProof(`${walks} (slowly)`)).toEqual([[`${walks} (slowly)`, null]]);
    expect(parseProof("open")).toEqual([["open", null]]);
  });

  test.each([
    walks,
    `${walks}<br>${live}`,
    `${live}<br>(needs a key)`,
    `${live}<br>${live}<br>(needs a key)`,
    `${walks}<br>(overridden by decision 7: there is no boat)`,
  ])("is valid, or may be omitted, in %j", (proven) => {
    expect(findProblems(proven)).toEqual([]);
  });

  test.each([
    "",
    "slow",
    "needs a key.",
    "only on land; the rest is open",
    "overridden",
    "overridden by decision 7",
    "overridden by decision 0: x",
  ])("is reported if it is (%s)", (note) => {
    expect(findProblems(`${walks}<br>(${note})`)).toEqual([
      `12: "(${note})" is not a note. Use (needs a key) or (overridden by decision N: …)`,
    ]);
  });

  test.each(["open<br>(needs a key)", "(needs a key)", "(overridden by decision 7: x)"])(
    "is reported without a preceding test: %s",
    (proven) => {
      expect(findProblems(proven)).toEqual(["12: a note needs a test before it"]);
    },
  );

  test("is reported as an invalid proof if a test follows it", () => {
    const [first] = parseRequirements(`${head}| 12 | MAY | x | (needs a key)<br>${walks} |`);
    if (!first) throw new Error("The row was not parsed");
    expect(findProofProblems([first], () => 'test("it walks", f);')).toEqual([
      '12: "(needs a key)" is not a proof. Use `path/to/file.test.ts` › title',
    ]);
  });

  test("must be (needs a key) if all tests are in tests/live", () => {
    const missing = ["12: all its tests are in tests/live. Add (needs a key) after them."];
    expect(findProblems(live)).toEqual(missing);
    expect(findProblems(`${live}<br>${live}`)).toEqual(missing);
    expect(findProblems(`${live}<br>(overridden by decision 7: x)`)).toEqual(missing);
  });

  test("must not be (needs a key) if a test runs without a key", () => {
    const needless = ["12: src/a.test.ts does not need a key. Remove (needs a key)."];
    expect(findProblems(`${walks}<br>(needs a key)`)).toEqual(needless);
    expect(findProblems(`${live}<br>${walks}<br>(needs a key)`)).toEqual(needless);
  });
});

test("finds and unescapes titles in every form of test", () => {
  const source = [
    'test("plain", () => {});',
    "it('single', () => {});",
    "describe(`literal with $" + "{value}`, () => {});",
    'test.each([["a", 1]])("each %s", () => {});',
    'test.skipIf(!key)(\n  "on a line of its own",\n  () => {},\n);',
    'test("says \\"no\\" and \\u2192 \\\\", () => {});',
  ].join("\n");

  expect([...findTestTitles(source)]).toEqual([
    "plain",
    "single",
    "literal with $" + "{value}",
    "each %s",
    "on a line of its own",
    'says "no" and → \\',
  ]);
});

test("ignores tests that are skipped, to do or commented out", () => {
  const source = 'test.skip("a", f);\ntest.todo("b");\n  // test("c", f);\nexpect("d").toBe("d");';

  expect([...findTestTitles(source)]).toEqual([]);
});

test("proofs may cite the `tries` of an attack", () => {
  const source =
    'attempt({ finding: "C1", surface: "wasm", tries: "reads \\"js\\"", shows: "" }, run);';
  expect([...findTestTitles(source)]).toEqual(['reads "js"']);
});

test("unescapes bars inside a cell, and rejects a line that is not a row", () => {
  const head = "## S0 x\n\n| # | level | requirement | proof |\n|---:|---|---|---|\n";

  expect(parseRequirements(`${head}| 1 | MAY | a \\| b | open |`)).toEqual([
    createRow({ line: 5, number: 1, level: "MAY", text: "a | b" }),
  ]);
  expect(() => parseRequirements(`${head}| 1 | MAY | a | b | open |`)).toThrow("line 5");
  expect(() => parseRequirements(`${head}| one | MAY | a | open |`)).toThrow("is not a row");
});

function createRow(fields: Partial<RequirementRow>): RequirementRow {
  return {
    line: 1,
    specification: "S0",
    number: 1,
    level: "SPEC",
    text: "x",
    proof: "open",
    note: null,
    ...fields,
  };
}

function readFromRepository(path: string): string | null {
  const file = new URL(path, root);
  return existsSync(file) ? readFileSync(file, "utf8") : null;
}
