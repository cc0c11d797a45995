import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { groupExamples } from "../scripts/examples/group-examples.ts";
import { type Example, listExamples, readExample } from "../scripts/examples/list-examples.ts";
import { renderExamplesIndex } from "../scripts/examples/render-examples-index.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const examples = listExamples(root);

/** Examples without `--live`, and why. Those that `wink run` starts use a real key without it. */
const WITHOUT_A_KEY: Readonly<Record<string, string>> = {
  "examples/own-provider.ts": "its provider is in the file and has no key",
};

/** Lists the paths of the examples that break a rule. */
const findAll = (isBroken: (example: Example) => boolean): readonly string[] =>
  examples.filter(isBroken).map(({ path }) => path);

describe("Every example", () => {
  test("begins with one sentence that the index shows", () => {
    const isBroken = ({ source, sentence }: Example) =>
      !source.startsWith("/** ") || !/^[A-Z"`][^\n]{10,200}[.?]$/.test(sentence);
    expect(findAll(isBroken)).toEqual([]);
  });

  test("ends with the lines that it prints", () => {
    const isBroken = ({ source }: Example) => !/\n\/\/ prints:.*\n$/.test(source);
    expect(findAll(isBroken)).toEqual([]);
  });

  test("imports packages, and files in its folder", () => {
    const imports = /(?:from|import\(|import)\s*"(\.[^"]*)"/g;
    expect(findAll((example) => leavesItsFolder(example, imports))).toEqual([]);
  });

  test("reads only files in its folder", () => {
    const addresses = /new URL\(\s*["'`]([^"'`]*)["'`],\s*import\.meta\.url/g;
    expect(findAll((example) => leavesItsFolder(example, addresses))).toEqual([]);
  });

  test("runs on Node 22, which has no using declarations", () => {
    expect(findAll(({ source }) => /^\s*(?:await )?using /m.test(source))).toEqual([]);
  });

  test("has a flag for a real key", () => {
    const isBroken = ({ path, source, isRunByWink }: Example) =>
      source.includes("--live") === (isRunByWink || path in WITHOUT_A_KEY);
    expect(findAll(isBroken)).toEqual([]);
  });
});

/** Whether a path in the source leads outside of the example's folder. A single file has none. */
function leavesItsFolder({ path, source }: Example, paths: RegExp): boolean {
  const folder = posix.dirname(path);
  return [...source.matchAll(paths)].some(([, to = ""]) => {
    const isWithin = posix.join(folder, to).startsWith(`${folder}/`);
    return !isWithin || !path.endsWith("/main.ts");
  });
}

test("every exception to the flag for a real key is an example", () => {
  const paths = examples.map(({ path }) => path);
  expect(Object.keys(WITHOUT_A_KEY).filter((path) => !paths.includes(path))).toEqual([]);
});

test("examples/README.md lists every example: run npm run examples:index", () => {
  const index = readFileSync(new URL("../examples/README.md", import.meta.url), "utf8");
  expect(index).toBe(renderExamplesIndex(examples));
});

test("groupExamples() reports an example without a group", () => {
  const example = readExample("examples/nothing.ts", "");
  expect(() => groupExamples([example])).toThrow(
    "No group has examples/nothing.ts. Add it to scripts/examples/group-examples.ts.",
  );
});

test("readExample() reads the comments of a program", () => {
  const source = `/**
 * Two lines
 * of text.
 */
// needs: openai, pyodide
// run: wink run
console.log("one\\n\\ntwo");
// prints: one
// prints:
// prints: two
`;
  expect(readExample("examples/x.ts", source)).toEqual({
    path: "examples/x.ts",
    source,
    sentence: "Two lines of text.",
    needs: ["openai", "pyodide"],
    isRunByWink: true,
    prints: ["one", "", "two"],
  });
});
