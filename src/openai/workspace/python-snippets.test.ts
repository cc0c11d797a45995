import { describe, expect, test } from "vitest";
import { changesSnippet, findDigest, isMemoryMissing, unpackSnippet } from "./python-snippets.ts";

const digest = "0123456789abcdef".repeat(4);

describe("findDigest()", () => {
  test.each([
    ["a digest alone", `wink:${digest}\n`, digest],
    ["a digest in other output", `warning: old\nwink:${digest}\ndone`, digest],
    ["a digest without its mark", digest, null],
    ["too short a digest", `wink:${digest.slice(1)}`, null],
    ["a failure", "Traceback (most recent call last):", null],
    ["nothing", "", null],
  ])("parses the output of %s", (_, output, found) => {
    expect(findDigest(output)).toBe(found);
  });
});

test("isMemoryMissing() recognizes the output without stored digests", () => {
  expect(isMemoryMissing("wink:forgotten\n")).toBe(true);
  expect(isMemoryMissing(`wink:${digest}\n`)).toBe(false);
  expect(findDigest("wink:forgotten\n")).toBeNull();
});

describe("a snippet", () => {
  const limits = { maxFileBytes: 1, maxTotalBytes: 2 };

  test.each([
    ["unpacks", unpackSnippet("wink-7c1e-a.tar")],
    ["unpacks and stores digests", unpackSnippet("wink-7c1e-a.tar", "all")],
    ["unpacks and adds digests", unpackSnippet("wink-7c1e-a.tar", "also")],
    ["finds changes", changesSnippet("wink-7c1e-a.json", "wink-7c1e-b.tar", limits)],
    [
      "finds changes since the stored digests",
      changesSnippet({ digest }, "wink-7c1e-b.tar", limits),
    ],
  ])("that %s defines only its own function and contains no code fence", (_, code) => {
    expect(code).not.toContain("```");
    const names = code.split("\n").filter((line) => /^\S/.test(line));
    expect(names).toEqual(["def _wink():", 'print("wink:" + _wink())']);
    expect(code).not.toMatch(/\$\{|undefined/);
  });
});
