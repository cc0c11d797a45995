import fc from "fast-check";
import { type DefaultTreeAdapterTypes, html, parse } from "parse5";
import { expect, test } from "vitest";
import { HtmlText } from "./html-text.ts";
import { readHtml } from "./read-html.ts";

const names = [
  ...["a", "b", "body", "br", "button", "div", "font", "foreignObject", "form", "h1", "h2", "head"],
  ...["html", "i", "li", "math", "mi", "nobr", "noscript", "object", "option", "p", "pre", "ruby"],
  ...["rt", "select", "span", "svg", "textarea", "ul", "x-y"],
];
const tableNames = ["caption", "col", "table", "tbody", "td", "th", "tr"];

/** Generates pages with tags and words in random order. */
const generatePages = (from: readonly string[]) => {
  const tag = fc.constantFrom(...from.flatMap((name) => [`<${name}>`, `</${name}>`]));
  const words = fc.constantFrom("one", "two", " ", "\n", "&amp", "<!-- no -->", "\0");
  return fc.array(fc.oneof(tag, tag, words), { maxLength: 40 }).map((parts) => parts.join(""));
};

test("readHtml() finds the same text as the standard's tree on random tags", () => {
  fc.assert(
    fc.property(generatePages(names), (page) => {
      expect(readHtml(page).text).toBe(readTreeText(page));
    }),
    { numRuns: 2000 },
  );
});

test("readHtml() finds the same words on random tables, where the tree has another order", () => {
  const listWords = (text: string) => text.match(/one|two|&/g)?.toSorted() ?? [];
  fc.assert(
    fc.property(generatePages([...names, ...tableNames, ...tableNames]), (page) => {
      expect(listWords(readHtml(page).text)).toEqual(listWords(readTreeText(page)));
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ["div", "<div>"],
  ["table", "<table><td>"],
  ["template", "<template>"],
  ["svg", "<svg>"],
  ["foreignObject", "<svg><foreignObject>"],
  ["form in divs", "<form><div>"],
  ["select", "<table><td><select>"],
])("readHtml() reads the content after 10,000 nested %s elements", (_, tag) => {
  const nested = tag.repeat(10_000) + "<div>".repeat(2_001);
  const page = readHtml(`${nested}<p>one<table><td>two</table><title>three</title><h1>four`);
  expect(page.text).toMatch(/one\ntwo\nfour$/);
  expect(page.title).toBe("three");
  expect(page.heading).toBe("four");
});

test("readHtml() keeps scripts and titles out of the text at the depth limit", () => {
  for (const depth of [1_996, 1_997, 1_998, 1_999, 2_000]) {
    const nested = "<div>".repeat(depth);
    expect(readHtml(`${nested}<script><p>no</script>a<title>b</title>c`)).toMatchObject({
      text: "ac",
      title: "b",
    });
  }
});

function readTreeText(page: string): string {
  const text = new HtmlText();
  const walk = (node: DefaultTreeAdapterTypes.Node): void => {
    if (node.nodeName === "#text" && "value" in node) text.add(node.value);
    const isHtml = "namespaceURI" in node && node.namespaceURI === html.NS.HTML;
    if (isHtml) text.start(node.tagName);
    if ("childNodes" in node) node.childNodes.forEach(walk);
    if (isHtml && node.tagName !== "br") text.end(node.tagName);
  };
  walk(parse(page, { scriptingEnabled: false }));
  return text.finish();
}
