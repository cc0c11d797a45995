import { describe, expect, test } from "vitest";
import { digestIn, isForgotten, surveySnippet, unpackSnippet } from "./python-snippets.ts";

const digest = "0123456789abcdef".repeat(4);

describe("what a snippet prints", () => {
  test.each([
    ["its digest alone", `wink:${digest}\n`, digest],
    ["its digest among other things", `warning: old\nwink:${digest}\ndone`, digest],
    ["a digest that nobody marked", digest, null],
    ["too short a digest", `wink:${digest.slice(1)}`, null],
    ["a failure", "Traceback (most recent call last):", null],
    ["nothing", "", null],
  ])("may be %s", (_, output, found) => {
    expect(digestIn(output)).toBe(found);
  });
});

test("what a survey prints may be that nothing is remembered", () => {
  expect(isForgotten("wink:forgotten\n")).toBe(true);
  expect(isForgotten(`wink:${digest}\n`)).toBe(false);
  expect(digestIn("wink:forgotten\n")).toBeNull();
});

describe("a snippet", () => {
  const limits = { maxFileBytes: 1, maxTotalBytes: 2 };

  test.each([
    ["unpacks", unpackSnippet("wink-7c1e-a.tar")],
    ["unpacks and remembers", unpackSnippet("wink-7c1e-a.tar", "all")],
    ["unpacks and remembers more", unpackSnippet("wink-7c1e-a.tar", "also")],
    ["surveys", surveySnippet("wink-7c1e-a.json", "wink-7c1e-b.tar", limits)],
    ["surveys what is remembered", surveySnippet({ digest }, "wink-7c1e-b.tar", limits)],
  ])("that %s is one block that ends no other, and leaves no name but its own", (_, code) => {
    expect(code).not.toContain("```");
    const names = code.split("\n").filter((line) => /^\S/.test(line));
    expect(names).toEqual(["def _wink():", 'print("wink:" + _wink())']);
    expect(code).not.toMatch(/\$\{|undefined/);
  });
});
