import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findCitations } from "./cited-pages.ts";

const owls = { url: "https://example.com/owls", title: "Owls" };
const birds = { url: "https://example.com/owls/birds", title: "Birds" };
const bare = { url: "https://b.example/", title: "B" };
const round = { url: "https://w.example/Owl_(bird)", title: "Owl" };
const pages = [owls, birds, bare, round];

/** What stands in the text where each page is cited. */
const cited = (text: string) =>
  findCitations(text, pages).map(({ title, span }) => [title, text.slice(...(span ?? [0, 0]))]);

describe("a page is cited by", () => {
  test.each([
    [
      "its link",
      "See [the owls](https://example.com/owls).",
      "[the owls](https://example.com/owls)",
    ],
    [
      "a link with a title",
      'So [x](https://example.com/owls "Owls of (all)") it is',
      '[x](https://example.com/owls "Owls of (all)")',
    ],
    ["a link in angles", "[x](<https://example.com/owls>)", "[x](<https://example.com/owls>)"],
    [
      "a label with brackets",
      "a [b [c] d](https://example.com/owls)",
      "[b [c] d](https://example.com/owls)",
    ],
    [
      "a label that is the address",
      "[https://example.com/owls](https://example.com/owls)",
      "[https://example.com/owls](https://example.com/owls)",
    ],
    ["its address", "Source: https://example.com/owls, read today", "https://example.com/owls"],
    ["its address in angles", "<https://example.com/owls>", "https://example.com/owls"],
    ["its address at an end", "https://example.com/owls.", "https://example.com/owls"],
    ["its address in bold", "**https://example.com/owls**", "https://example.com/owls"],
    ["its address in parentheses", "(https://example.com/owls)", "https://example.com/owls"],
    ["an address with a slash", "https://example.com/owls/ is it", "https://example.com/owls/"],
    ["a part of it", "[x](https://example.com/owls#diet)", "[x](https://example.com/owls#diet)"],
    ["a link that is not closed", "[x](https://example.com/owls", "https://example.com/owls"],
    ["a link that is not opened", "x](https://example.com/owls)", "https://example.com/owls"],
  ])("%s", (_, text, place) => {
    expect(cited(text)).toEqual([["Owls", place]]);
  });

  test("an address without its last slash, and one with parentheses", () => {
    expect(cited("[b](https://b.example) [o](https://w.example/Owl_(bird))")).toEqual([
      ["B", "[b](https://b.example)"],
      ["Owl", "[o](https://w.example/Owl_(bird))"],
    ]);
  });

  test("the longest address that fits, wherever it stands, as often as it does", () => {
    const text =
      "🦉 https://example.com/owls/birds and https://example.com/owls; https://example.com/owls";
    expect(cited(text)).toEqual([
      ["Birds", "https://example.com/owls/birds"],
      ["Owls", "https://example.com/owls"],
      ["Owls", "https://example.com/owls"],
    ]);
  });
});

describe("a page is not cited by", () => {
  test.each([
    "https://example.com/owls2",
    "https://example.com/owls.html",
    "https://example.com/owls?page=2",
    "https://example.com/owls-and-more",
    "https://other.example/owls",
    "Owls",
    "",
  ])("%j", (text) => {
    expect(cited(text)).toEqual([]);
  });
});

test("a page without an address is nowhere", () => {
  const nowhere = ["", "/"].map((url) => ({ url, title: "None" }));
  expect(findCitations("some / text", nowhere)).toEqual([]);
});

test("a page that was found twice has the first title that it was given", () => {
  const twice = [{ ...owls, title: "" }, owls, { ...owls, title: "Later" }];
  expect(findCitations(owls.url, twice)).toEqual([{ type: "url", span: [0, 24], ...owls }]);
});

test("citations lie within the text, in order, and never overlap", () => {
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
