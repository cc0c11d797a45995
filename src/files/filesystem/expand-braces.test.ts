import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { expandBraces } from "./expand-braces.ts";

describe("expandBraces()", () => {
  test.each([
    ["a", ["a"]],
    ["*.{a,b}", ["*.a", "*.b"]],
    ["{a,b}/{c,d}", ["a/c", "a/d", "b/c", "b/d"]],
    ["{a,{b,c}d}e", ["ae", "bde", "cde"]],
    ["x{,.bak}", ["x", "x.bak"]],
    ["{a,b,}", ["a", "b", ""]],
    ["{{a,b},{c,d}}", ["a", "b", "c", "d"]],
    ["{a,a}", ["a", "a"]],
  ])("expands %j", (pattern, expanded) => {
    expect(expandBraces(pattern)).toEqual(expanded);
  });

  test.each([
    ["{a}", ["{a}"]],
    ["{}", ["{}"]],
    ["{a", ["{a"]],
    ["a,b", ["a,b"]],
    ["}a{", ["}a{"]],
    ["{a,b", ["{a,b"]],
    ["a,b}", ["a,b}"]],
    ["{x{a,b}", ["{xa", "{xb"]],
    ["{x{a,b},", ["{xa,", "{xb,"]],
    ["{{a,b}}", ["{a}", "{b}"]],
    ["{1..3}", ["{1..3}"]],
    ["[{]a,b}", ["[{]a,b}"]],
    ["{[,],[}]}", ["[,]", "[}]"]],
  ])("keeps braces of %j that form no group", (pattern, expanded) => {
    expect(expandBraces(pattern)).toEqual(expanded);
  });

  test.each([
    ["\\{a,b\\}", ["{a,b}"]],
    ["{a\\,b,c}", ["a,b", "c"]],
    ["{a\\},\\{b}", ["a}", "{b"]],
    ["a\\b\\", ["a\\b\\"]],
    ["\\*{a,b}", ["\\*a", "\\*b"]],
  ])("lets a backslash escape braces and commas only: %j", (pattern, expanded) => {
    expect(expandBraces(pattern)).toEqual(expanded);
  });

  test.each([
    ["{a,b}".repeat(9)],
    ["{a,b}".repeat(500)],
    [`{${"a,".repeat(256)}a}`],
    [`${"{a,".repeat(1000)}${"}".repeat(1000)}`],
  ])("rejects more than 256 alternatives at once", (pattern) => {
    expect(() => expandBraces(pattern)).toThrow(FilesystemError);
    expect(() => expandBraces(pattern)).toThrow(
      "has braces with more than 256 alternatives. Split it into several patterns.",
    );
  });

  test("accepts 256 alternatives, and thousands of braces that form no group", () => {
    expect(expandBraces("{a,b}".repeat(8))).toHaveLength(256);
    for (const text of ["{", "}", "{a}", "{}"]) {
      expect(expandBraces(text.repeat(1000))).toEqual([text.repeat(1000)]);
    }
  });

  test("gives one text per choice for every nesting", () => {
    const { tree } = fc.letrec<{ tree: Tree; group: Tree; sequence: Tree }>((tie) => ({
      tree: fc.oneof(
        { depthSize: "small" },
        fc.constantFrom("a", "*", "/"),
        tie("group"),
        tie("sequence"),
      ),
      group: fc.array(tie("tree"), { minLength: 2, maxLength: 3 }).map((any) => ({ any })),
      sequence: fc.array(tie("tree"), { maxLength: 2 }).map((all) => ({ all })),
    }));
    fc.assert(
      fc.property(tree, (one) => {
        const choices = listChoices(one);
        fc.pre(choices.length <= 256);
        expect(expandBraces(toPattern(one))).toEqual(choices);
      }),
    );
  });
});

type Tree = string | { readonly any: readonly Tree[] } | { readonly all: readonly Tree[] };

function toPattern(tree: Tree): string {
  if (typeof tree === "string") return tree;
  return "any" in tree
    ? `{${tree.any.map(toPattern).join(",")}}`
    : tree.all.map(toPattern).join("");
}

function listChoices(tree: Tree): string[] {
  if (typeof tree === "string") return [tree];
  if ("any" in tree) return tree.any.flatMap(listChoices);
  return tree.all.reduce<string[]>(
    (texts, part) => texts.flatMap((text) => listChoices(part).map((end) => text + end)),
    [""],
  );
}
