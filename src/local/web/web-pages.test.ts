import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Tree, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { WebPages } from "./web-pages.ts";

const openPages = (tree: Tree) => WebPages.open(temporaryTree(tree));

const birds = {
  "owls.example/index.html": "<title>Owls</title><p>Owls hunt mice at night.",
  "docs.owls.example/guide/nest.md": "# Nest boxes\n\nBuild a box from wood and hang it high.",
  "hens.example/eggs.txt": "Hens lay eggs, about one each day. Mice may eat them.",
  "notes.htm": "<h2>Falcons</h2><p>Falcons dive at mice.",
  "picture.png": "mice",
};

describe("WebPages.search()", () => {
  test("returns the right page first, with its address, title and a snippet", () => {
    using pages = openPages(birds);
    expect(pages.size).toBe(4);
    expect(pages.search("Who hunts at night?")[0]).toEqual({
      url: "https://owls.example/index.html",
      title: "Owls",
      snippet: "Owls hunt mice at night.",
    });
    expect(pages.search("building boxes")[0]?.title).toBe("Nest boxes");
    expect(pages.search("")).toEqual([]);
    expect(pages.search('"NEAR( *')).toEqual([]);
    expect(pages.search("mice", { max: 2 })).toHaveLength(2);
  });

  test("ranks a page with the word in its title first", () => {
    using pages = openPages({
      "a.html": "<title>Hens</title><p>An owl, an owl.",
      "b.html": "<title>Owl</title><p>It flies.",
      "c.html": "<title>Cats</title><p>Cats purr.",
    });
    expect(pages.search("owl").map(({ title }) => title)).toEqual(["Owl", "Hens"]);
  });

  test.each([
    [{ allowedDomains: ["owls.example"] }, ["docs.owls.example", "owls.example"]],
    [{ allowedDomains: ["docs.owls.example"] }, ["docs.owls.example"]],
    [
      { allowedDomains: ["OWLS.example ", "hens.example"] },
      ["docs.owls.example", "hens.example", "owls.example"],
    ],
    [{ blockedDomains: ["owls.example"] }, ["hens.example", "localhost"]],
    [{ allowedDomains: ["owls.example"], blockedDomains: ["docs.owls.example"] }, ["owls.example"]],
    [{ allowedDomains: ["wls.example"] }, []],
    [{ allowedDomains: [""] }, []],
    [
      { allowedDomains: [], blockedDomains: [] },
      ["docs.owls.example", "hens.example", "localhost", "owls.example"],
    ],
  ])("filters by domains and their subdomains: %j", (domains, hosts) => {
    using pages = openPages(birds);
    const found = pages.search("mice night box eggs", domains);
    expect(found.map(({ url }) => new URL(url).hostname).toSorted()).toEqual(hosts);
  });

  test("returns the part of a long page with most of the words", () => {
    const filler = "Nothing of interest is said in this sentence. ".repeat(100);
    using pages = openPages({
      "a.txt": `Owls here. ${filler}The barn owl nests in towers. ${filler}`,
    });
    const [page] = pages.search("barn owls nesting in a tower");
    expect(page?.snippet).toContain("barn owl nests in towers");
    expect(page?.snippet).toMatch(/^… .* …$/);
    expect(page?.snippet.length).toBeLessThan(400);
  });

  test("returns matching words in scripts without spaces", () => {
    using pages = openPages({ "a.txt": `${"鳥".repeat(500)}東京のフクロウ${"鳥".repeat(500)}` });
    const [page] = pages.search("東京");
    expect(page?.snippet).toContain("東京");
  });

  test("searches only a bounded part of a page for the snippet", () => {
    using pages = openPages({ "a.txt": `${"owl ".repeat(300_000)} barn owl` });
    expect(pages.search("barn owl")[0]?.snippet).toMatch(/^owl owl/);
  });

  test("returns the start of a page with the words only in its title, and of a page without spaces", () => {
    using pages = openPages({
      "a.html": "<title>Owls</title><p>Hoot.",
      "b.txt": `owls${"x".repeat(5000)} owls`,
    });
    expect(
      pages
        .search("owls")
        .map(({ snippet }) => snippet.slice(0, 5))
        .toSorted(),
    ).toEqual(["Hoot.", "owlsx"]);
  });
});

describe("WebPages.open()", () => {
  test("finds a page by its address, ignoring scheme, fragment and index file", () => {
    using pages = openPages(birds);
    const page = {
      url: "https://owls.example/index.html",
      title: "Owls",
      text: "Owls hunt mice at night.",
    };
    for (const url of [
      "https://owls.example/index.html",
      "http://OWLS.example",
      "https://owls.example/#top",
    ]) {
      expect(pages.open(url)).toEqual(page);
    }
    expect(pages.open("http://localhost/notes.htm")?.title).toBe("Falcons");
    expect(pages.open("https://hens.example/eggs.txt")?.title).toBe("hens.example/eggs.txt");
  });

  test.each([
    "https://owls.example/none",
    "https://owls.example/?page=2",
    "no address",
    "",
    "file:///etc/passwd",
  ])("returns null for %j", (url) => {
    using pages = openPages(birds);
    expect(pages.open(url)).toBe(null);
    expect(pages.find(url, "owls")).toEqual([]);
  });
});

describe("WebPages.find()", () => {
  test("ignores case and white space, and returns the positions", () => {
    using pages = openPages({ "a.txt": "An owl (barn\n owl) and a BARN OWL." });
    const text = pages.open("http://localhost/a.txt")?.text ?? "";
    const matches = pages.find("http://localhost/a.txt", " barn   owl ");
    expect(matches.map(({ start, end }) => text.slice(start, end))).toEqual([
      "barn\n owl",
      "BARN OWL",
    ]);
    expect(matches[0]?.text).toBe("An owl (barn owl) and a BARN OWL.");
  });

  test.each([
    ["(barn", 1],
    [".*", 0],
    ["[a-z]+", 0],
    ["\\d", 0],
    ["$5/kg?", 1],
    ["", 0],
    ["  ", 0],
    ["(".repeat(100_000), 0],
  ])("treats the pattern as plain text: %.10j", (pattern, count) => {
    using pages = openPages({ "a.txt": "An owl (barn) costs $5/kg?" });
    expect(pages.find("http://localhost/a.txt", pattern)).toHaveLength(count);
  });

  test("returns at most 100 matches", () => {
    using pages = openPages({ "a.txt": "owl ".repeat(1000) });
    expect(pages.find("http://localhost/a.txt", "owl")).toHaveLength(100);
  });
});

describe("The address of a page", () => {
  const listAddresses = (tree: Tree) => {
    using pages = openPages(tree);
    return pages.search("word").map(({ url }) => url);
  };

  test.each([
    ["comes from its folders", { "a/b c.txt": "word" }, "http://localhost/a/b%20c.txt"],
    [
      "comes from a folder named like a host",
      { "A.example/b.txt": "word" },
      "https://a.example/b.txt",
    ],
    [
      "has the host localhost if no folder names a host",
      { "a.txt": "word" },
      "http://localhost/a.txt",
    ],
    [
      "comes from its canonical link",
      { "a.html": "<link rel=canonical href='https://a.example/x#y'>word" },
      "https://a.example/x",
    ],
    [
      "resolves its canonical link against its base",
      { "a.html": "<base href='https://a.example/d/'><link rel=canonical href=x>word" },
      "https://a.example/d/x",
    ],
    [
      "comes from its base and file name",
      { "d/a.html": "<base href='https://a.example/d/'>word" },
      "https://a.example/d/a.html",
    ],
    [
      "comes from its folders if the declared address is not a web address",
      { "a.html": "<base href='data:x'><link rel=canonical href='javascript:x'>word" },
      "http://localhost/a.html",
    ],
    [
      "comes from pages.json first",
      {
        "a.html": "<link rel=canonical href='https://a.example/x'>word",
        "pages.json": '{"a.html":"https://b.example/","c":1}',
      },
      "https://b.example/",
    ],
    [
      "comes from the sitemap",
      {
        "docs/a.html": "word",
        "sitemap.xml":
          "<loc>https://s.example/docs/a?x=1&amp;y=2</loc><loc>https://s.example/docs/a.html</loc><loc>bad</loc><loc>https://s.example/%zz</loc><loc>",
      },
      "https://s.example/docs/a?x=1&y=2",
    ],
    [
      "comes from the sitemap for a folder's index",
      { "docs/index.html": "word", "sitemap.xml": "<loc>https://s.example/docs/</loc>" },
      "https://s.example/docs/",
    ],
    [
      "comes from its folders if pages.json is invalid",
      { "a.txt": "word", "pages.json": "[1" },
      "http://localhost/a.txt",
    ],
  ])("%s", (_, tree, url) => {
    expect(listAddresses(tree)).toEqual([url]);
  });

  test("is unique", () => {
    const claim = "<link rel=canonical href='https://a.example/'>word";
    expect(listAddresses({ "1.html": claim, "2.html": claim }).toSorted()).toEqual([
      "http://localhost/2.html",
      "https://a.example/",
    ]);
    expect(
      listAddresses({
        "1.html": "<link rel=canonical href='http://localhost/2.html'>word",
        "2.html": "word",
      }),
    ).toEqual(["http://localhost/2.html"]);
  });
});

describe("A folder of pages", () => {
  test("does not follow links, and skips pages that are too large or not text", () => {
    const outside = temporaryTree({ "secret.txt": "word" });
    const folder = temporaryTree({
      "a.txt": "word",
      "large.txt": "word ".repeat(1_000_000),
      "binary.txt": Uint8Array.of(0xff, 0x00),
      empty: null,
    });
    symlinkSync(join(outside, "secret.txt"), join(folder, "link.txt"));
    symlinkSync(outside, join(folder, "linked"));
    using pages = WebPages.open(folder);
    expect(pages.search("word").map(({ url }) => url)).toEqual(["http://localhost/a.txt"]);
  });

  test("must exist", () => {
    const folder = temporaryTree({ "a.txt": "word" });
    for (const path of [join(folder, "none"), join(folder, "a.txt")]) {
      expect(() => WebPages.open(path)).toThrow(
        /^web must be an existing folder of pages, got .*. Pass the path of an existing folder\.$/,
      );
    }
  });

  test("may contain at most 20,000 pages", () => {
    const tree = Object.fromEntries(
      Array.from({ length: 20_001 }, (_, index) => [`${index}.txt`, "x"]),
    );
    const folder = temporaryTree(tree);
    expect(() => WebPages.open(folder)).toThrow(
      "web must contain at most 20000 pages and 536870912 characters",
    );
  });

  test("can be disposed of twice", () => {
    const pages = openPages({});
    pages[Symbol.dispose]();
    expect(() => pages[Symbol.dispose]()).not.toThrow();
  });
});
