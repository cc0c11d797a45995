import { type Example, readExample } from "../../../scripts/examples/list-examples.ts";
import type { Page } from "./parse-page.ts";

/** A program that a reader can paste into a file of an empty project. */
export interface Snippet extends Example {
  /** Where it is, such as "README.md:12". */
  readonly name: string;
  readonly extension: "mts" | "mjs";
}

/**
 * Finds the programs in the README and the guides: `ts` blocks, and `js` blocks with `// prints:` lines. A program
 * that several pages show is listed once.
 */
export function findSnippets(pages: Iterable<Page>): readonly Snippet[] {
  const found = new Map<string, Snippet>();
  for (const page of pages) {
    if (!/^(?:README|docs\/guides\/[^/]+)\.md$/.test(page.path)) continue;
    for (const { language, text, line } of page.fences) {
      const isProgram = language === "ts" || (language === "js" && text.includes("\n// prints:"));
      if (!isProgram || found.has(text)) continue;
      const extension = language === "ts" ? "mts" : "mjs";
      const name = `${page.path}:${line}`;
      found.set(text, { ...readExample(page.path, text), name, extension });
    }
  }
  return [...found.values()];
}
