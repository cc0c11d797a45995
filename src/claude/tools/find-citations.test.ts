import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findCitations } from "./find-citations.ts";

const owls = { url: "https://example.com/owls", title: "Owls" };
const birds = { url: "https://example.com/owls/birds", title: "Birds" };
const bare = { url: "https://b.example/", title: "B" };
const round = { url: "https://w.example/Owl_(bird)", title: "Owl" };
const pages = [owls, birds, bare, round];

/** Returns each citation's title and text. */
const listCitations = (text: string) =>
  findCitations(text, pages).map(({ title, span }) => [title, text.slice(...(span ?? [0, 0]))]);

describe("findCitations()", () => {
  test.each([
    ["a link", "See [the owls](https://example.com/owls).", "[the owls](https://example.com/owls)"],
    [
      "a link with a title",
      'So [x](https://example.com/owls "Owls (all)") it is',
      '[x](https://example.com/owls "Owls (all)")',
    ],
    [
      "a link in angle brackets",
      "[x](<https://example.com/owls>)",
      "[x](<https://example.com/owls>)",
    ],
    [
      "a link whose label has brackets",
      "a [b [c] d](https://example.com/owls)",
      "[b [c] d](https://example.com/owls)",
    ],
    [
      "a link whose label is the URL",
      "[https://example.com/owls](https://example.com/owls)",
      "[https://example.com/owls](https://example.com/owls)",
    ],
    ["a bare URL", "Source: https://example.com/owls, read today", "https://example.com/owls"],
    ["a URL in angle brackets", "<https://example.com/owls>", "https://example.com/owls"],
    ["a URL at the end of a sentence", "https://example.com/owls.", "https://example.com/owls"],
    ["a URL in bold", "**https://example.com/owls**", "https://example.com/owls"],
    ["a URL in parentheses", "(https://example.com/owls)", "https://example.com/owls"],
    ["a URL with a trailing slash", "https://example.com/owls/ is it", "https://example.com/owls/"],
    [
      "a URL with a fragment",
      "[x](https://example.com/owls#diet)",
      "[x](https://example.com/owls#diet)",
    ],
    [
      "a link without its closing parenthesis",
      "[x](https://example.com/owls",
      "https://example.com/owls",
    ],
    [
      "a link without its opening bracket",
      "x](https://example.com/owls)",
      "https://example.com/owls",
    ],
  ])("finds %s", (_, text, citation) => {
    expect(listCitations(text)).toEqual([["Owls", citation]]);
  });

  test("finds a URL without its trailing slash, and a URL with parentheses", () => {
    expect(listCitations("[b](https://b.example) [o](https://w.example/Owl_(bird))")).toEqual([
      ["B", "[b](https://b.example)"],
      ["Owl", "[o](https://w.example/Owl_(bird))"],
    ]);
  });

  test("finds every occurrence, and the longest URL that matches", () => {
    const text =
      "🦉 https://example.com/owls/birds and https://example.com/owls; https://example.com/owls";
    expect(listCitations(text)).toEqual([
      ["Birds", "https://example.com/owls/birds"],
      ["Owls", "https://example.com/owls"],
      ["Owls", "https://example.com/owls"],
    ]);
  });
});

describe("findCitations() without a match", () => {
  test.each([
    "https://example.com/owls2",
    "https://example.com/owls.html",
    "https://example.com/owls?page=2",
    "https://example.com/owls-and-more",
    "https://other.example/owls",
    "Owls",
    "",
  ])("ignores %j", (text) => {
    expect(listCitations(text)).toEqual([]);
  });
});

test("findCitations() ignores pages without a URL", () => {
  const pagesWithoutUrl = ["", "/"].map((url) => ({ url, title: "None" }));
  expect(findCitations("some / text", pagesWithoutUrl)).toEqual([]);
});

test("findCitations() uses the first title of a page that was found twice", () => {
  const twice = [{ ...owls, title: "" }, owls, { ...owls, title: "Later" }];
  expect(findCitations(owls.url, twice)).toEqual([{ type: "url", span: [0, 24], ...owls }]);
});

test("findCitations() returns ranges inside the text, in order and without overlaps", () => {
  const words = fc.constantFrom(
    "[",
    "]",
    "(",
    "](",
    ")",
    " ",
    "x",
    "#a",
    "/",
    ".",
    owls.url,
    birds.url,
  );
  fc.assert(
    fc.property(fc.array(words, { maxLength: 30 }), (parts) => {
      const text = parts.join("");
      let end = 0;
      for (const { span, url } of findCitations(text, pages)) {
        const [from, to] = span ?? [-1, -1];
        expect(from).toBeGreaterThanOrEqual(end);
        expect(text.slice(from, to)).toContain(url);
        end = to;
      }
      expect(end).toBeLessThanOrEqual(text.length);
    }),
  );
});
