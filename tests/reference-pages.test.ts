import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import {
  createReferenceIndex,
  repairAnchors,
  toReferencePage,
} from "../scripts/reference/reference-page.ts";

const source = "/**\n * Session stores.\n *\n * More.\n */\nexport {};\n";

test("the reference has one page per entry point", () => {
  const entryPoints = Object.keys(manifest.exports).filter((path) => path !== "./package.json");
  const names = entryPoints.map((path) => `${path === "." ? "weakincentives" : path.slice(2)}.md`);
  expect(readdirSync("docs/reference").sort()).toEqual(["README.md", ...names].sort());
});

test("the reference names every public class of an entry point", () => {
  const page = readFileSync("docs/reference/stores.md", "utf8");
  expect(page).toContain("# weakincentives/stores\n");
  expect(page).toContain("### JsonlSessionStore\n");
  expect(page).toContain("##### close()");
});

test("a page has the entry point's name and summary, and defaults as text", () => {
  const markdown =
    "# stores\n\n### Store\n\n###### Default\n\n```ts\nnone\n```\n\n[a](index.md#b)\n";
  const page = toReferencePage({ module: "stores", markdown, source });
  expect(page).toMatchObject({ name: "stores.md", summary: "Session stores." });
  expect(page.text).toContain("# weakincentives/stores\n\nSession stores.\n");
  expect(page.text).toContain("**Default:** none\n");
  expect(page.text).toContain("[a](weakincentives.md#b)");
  expect(createReferenceIndex([page]).text).toContain(
    "| [weakincentives/stores](stores.md) | 1 | Session stores. |",
  );
});

test("an entry point without a comment is rejected", () => {
  const page = { module: "x", markdown: "# x\n", source: "export {};\n" };
  expect(() => toReferencePage(page)).toThrow("no comment");
});

test("a link keeps its number only if the page has that many headings of the name", () => {
  const link = (name: string, text: string) => ({ name, text, summary: "" });
  const [first, second] = repairAnchors([
    link("a.md", "# A\n## Run\n## Run\n[x](#run-1) [y](#a-1) [z](b.md#b-1) [w](#none-1)\n"),
    link("b.md", "# B\n"),
  ]);
  expect(first?.text).toContain("[x](#run-1) [y](#a) [z](b.md#b) [w](#none-1)");
  expect(second?.text).toBe("# B\n");
});
