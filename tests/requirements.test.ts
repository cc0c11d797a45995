import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { testTitles } from "./support/proofs.ts";
import {
  noteProblems,
  numberingProblems,
  parseRequirements,
  proofProblems,
  type RequirementRow,
  wordingProblems,
} from "./support/requirements-table.ts";

const root = new URL("../", import.meta.url);
const rows = parseRequirements(readFileSync(new URL("docs/requirements.md", root), "utf8"));

test("the requirements are numbered 1 to 373, each once, under its own specification", () => {
  expect(numberingProblems(rows)).toEqual([]);
});

test("every requirement has a legal level and a text", () => {
  expect(wordingProblems(rows)).toEqual([]);
});

test("every proof is open or names tests that exist", () => {
  expect(proofProblems(rows, readFromRepository)).toEqual([]);
});

test("every note is legal, and says (needs a key) exactly where all tests are in tests/live", () => {
  expect(noteProblems(rows)).toEqual([]);
});

test("a gap, a repeat, a wrong order and a wrong heading are reported", () => {
  const [first, second, third, ...others] = rows;
  if (!first || !second || !third) throw new Error("docs/requirements.md has no rows");

  expect(numberingProblems([first, ...others, third])).toEqual([
    `line ${third.line}: 3 is out of order`,
    "2 is missing",
  ]);
  expect(numberingProblems([first, first, second, third, ...others])).toEqual([
    `line ${first.line}: 1 is repeated`,
  ]);
  expect(numberingProblems([{ ...first, specification: "S4" }, second, third, ...others])).toEqual([
    `line ${first.line}: 1 belongs under S0, and stands under S4`,
  ]);
  expect(numberingProblems([...rows, row({ number: 374 })])).toEqual([
    "line 1: 374 is no requirement, and stands under S0",
  ]);
});

test("an unknown level and an empty text are reported", () => {
  expect(wordingProblems([row({ number: 7, level: "WISH", text: "" })])).toEqual([
    '7: level "WISH" is none of MUST!, MUST, SHOULD, MAY, SPEC',
    "7: the text is empty",
  ]);
});

test("a title that no test has is reported with number, file and title", () => {
  const bad = row({
    number: 12,
    proof: "`src/a.test.ts` › it flies<br>`src/a.test.ts` › it walks",
  });

  expect(proofProblems([bad], () => 'test("it walks", () => {});')).toEqual([
    '12: src/a.test.ts has no test titled "it flies"',
  ]);
});

test("a file that does not exist is reported with number and path", () => {
  expect(proofProblems([row({ number: 12, proof: "`src/a.test.ts` › it" })], () => null)).toEqual([
    "12: there is no file src/a.test.ts",
  ]);
});

test.each([
  "",
  "Open",
  "open<br>open",
  "src/a.test.ts › it walks",
  "`src/a.ts` › it walks",
  "`/src/a.test.ts` › it walks",
  "`../a.test.ts` › it walks",
  "`src/a.test.ts` ›",
])("the proof '%s' is reported as no proof", (proof) => {
  expect(proofProblems([row({ number: 12, proof })], () => "")[0]).toContain("is no proof");
});

describe("a note after the tests of a requirement", () => {
  const head = "## S0 x\n\n";
  const walks = "`src/a.test.ts` › it walks";
  const live = "`tests/live/a.live.test.ts` › it calls";
  const problemsOf = (proven: string) =>
    noteProblems(parseRequirements(`${head}| 12 | MAY | x | ${proven} |`));

  test("is read apart from the tests, and a parenthesis in a title is no note", () => {
    const read = (proven: string) =>
      parseRequirements(`${head}| 12 | MAY | x | ${proven} |`).map(({ proof, note }) => [
        proof,
        note,
      ]);
    expect(read(`${walks}<br>${live}<br>(needs a key)`)).toEqual([
      [`${walks}<br>${live}`, "needs a key"],
    ]);
    expect(read(`${walks} (slowly)`)).toEqual([[`${walks} (slowly)`, null]]);
    expect(read("open")).toEqual([["open", null]]);
  });

  test.each([
    "open",
    walks,
    `${walks}<br>${live}`,
    `${live}<br>(needs a key)`,
    `${live}<br>${live}<br>(needs a key)`,
    `${walks}<br>(only on land; the rest is open)`,
    `${walks}<br>(only on land; the rest is open: there is no boat)`,
  ])("is legal, or may be left out, in %j", (proven) => {
    expect(problemsOf(proven)).toEqual([]);
  });

  test.each([
    "",
    "slow",
    "needs a key.",
    "only on land",
    "only; the rest is open",
    "only on land; the rest is open:",
  ])("is reported if it is (%s)", (note) => {
    expect(problemsOf(`${walks}<br>(${note})`)).toEqual([
      `12: "(${note})" is no note; write (needs a key) or (only …; the rest is open)`,
    ]);
  });

  test.each(["open<br>(needs a key)", "(needs a key)", "open<br>(only on land; the rest is open)"])(
    "is reported without a test before it: %s",
    (proven) => {
      expect(problemsOf(proven)).toEqual(["12: a note needs a test before it"]);
    },
  );

  test("is reported as no proof if a test comes after it", () => {
    const [first] = parseRequirements(`${head}| 12 | MAY | x | (needs a key)<br>${walks} |`);
    if (!first) throw new Error("The row was not read");
    expect(proofProblems([first], () => 'test("it walks", f);')).toEqual([
      '12: "(needs a key)" is no proof; write `path/to/file.test.ts` › title',
    ]);
  });

  test("must say that a key is needed where all tests are in tests/live", () => {
    const missing = ["12: all its tests are in tests/live; write (needs a key) after them"];
    expect(problemsOf(live)).toEqual(missing);
    expect(problemsOf(`${live}<br>${live}`)).toEqual(missing);
    expect(problemsOf(`${live}<br>(only on land; the rest is open)`)).toEqual(missing);
  });

  test("must not say that a key is needed where one test is elsewhere", () => {
    const needless = ["12: src/a.test.ts needs no key; remove (needs a key)"];
    expect(problemsOf(`${walks}<br>(needs a key)`)).toEqual(needless);
    expect(problemsOf(`${live}<br>${walks}<br>(needs a key)`)).toEqual(needless);
  });
});

test("titles are found in every form of test, and unescaped", () => {
  const source = [
    'test("plain", () => {});',
    "it('single', () => {});",
    "describe(`literal with $" + "{value}`, () => {});",
    'test.each([["a", 1]])("each %s", () => {});',
    'test.skipIf(!key)(\n  "on a line of its own",\n  () => {},\n);',
    'test("says \\"no\\" and \\u2192 \\\\", () => {});',
  ].join("\n");

  expect([...testTitles(source)]).toEqual([
    "plain",
    "single",
    "literal with $" + "{value}",
    "each %s",
    "on a line of its own",
    'says "no" and → \\',
  ]);
});

test("a test that is skipped, still to do or commented out is no proof", () => {
  const source = 'test.skip("a", f);\ntest.todo("b");\n  // test("c", f);\nexpect("d").toBe("d");';

  expect([...testTitles(source)]).toEqual([]);
});

test("bars inside a cell are unescaped, and a line that is not a row is refused", () => {
  const head = "## S0 x\n\n| # | level | requirement | proof |\n|---:|---|---|---|\n";

  expect(parseRequirements(`${head}| 1 | MAY | a \\| b | open |`)).toEqual([
    row({ line: 5, number: 1, level: "MAY", text: "a | b" }),
  ]);
  expect(() => parseRequirements(`${head}| 1 | MAY | a | b | open |`)).toThrow("line 5");
  expect(() => parseRequirements(`${head}| one | MAY | a | open |`)).toThrow("is not a row");
});

function row(fields: Partial<RequirementRow>): RequirementRow {
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
