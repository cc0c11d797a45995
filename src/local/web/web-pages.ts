import { DatabaseSync } from "node:sqlite";
import { FullText } from "../search/full-text.ts";
import { readHtml } from "../search/html.ts";
import { termsOf } from "../search/terms.ts";
import { Addresses, addressKey } from "./addresses.ts";
import { isWithin } from "./domains.ts";
import { findInText, type TextMatch } from "./find-in-text.ts";
import { type PageFile, readPageFiles, readText } from "./page-files.ts";
import { snippetOf } from "./snippet.ts";

/** A page that was found. */
export interface FoundPage {
  readonly url: string;
  readonly title: string;
  readonly snippet: string;
}

/** A page as it is read. */
export interface OpenPage {
  readonly url: string;
  readonly title: string;
  readonly text: string;
}

/** Which pages, and how many. */
export interface PageSearchOptions {
  /** With their subdomains; none: all. */
  readonly allowedDomains?: readonly string[] | undefined;
  /** With their subdomains. */
  readonly blockedDomains?: readonly string[] | undefined;
  /** @default 10 */
  readonly max?: number | undefined;
}

/** A small web of one's own: pages in a folder, searched by their words and opened by their addresses. */
export class WebPages implements Disposable {
  readonly #database = new DatabaseSync(":memory:");
  readonly #index = new FullText(this.#database, "pages", { title: 4, text: 1 });
  readonly #pages: OpenPage[] = [];
  readonly #places = new Map<string, OpenPage>();

  /** Reads every `.html`, `.htm`, `.md` and `.txt` below a folder. */
  static open(folder: string): WebPages {
    const files = readPageFiles(folder);
    const sitemap = readText(folder, "sitemap.xml");
    const addresses = new Addresses(readText(folder, "pages.json"), sitemap);
    const pages = new WebPages();
    for (const file of files) pages.#add(file, addresses);
    return pages;
  }

  /** How many there are. */
  get size(): number {
    return this.#pages.length;
  }

  /** The pages that have any of the query's words, best first. */
  search(query: string, options: PageSearchOptions = {}): readonly FoundPage[] {
    const { max = 10 } = options;
    const terms = termsOf(query);
    const found: FoundPage[] = [];
    for (const { row } of this.#index.matches(terms, this.#pages.length)) {
      if (found.length >= max) break;
      const page = this.#pages[row];
      if (!page || !isWithin(page.url, options)) continue;
      found.push({ url: page.url, title: page.title, snippet: snippetOf(page.text, terms) });
    }
    return found;
  }

  /** The page at an address; `null` if there is none. */
  open(url: string): OpenPage | null {
    return this.#places.get(addressKey(url)) ?? null;
  }

  /** Where a page has some words, as written but for case and spaces. None if there is no such page. */
  find(url: string, pattern: string): readonly TextMatch[] {
    const page = this.open(url);
    return page === null ? [] : findInText(page.text, pattern);
  }

  /** Frees the index. */
  [Symbol.dispose](): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #add(file: PageFile, addresses: Addresses): void {
    const read = readPage(file);
    // A page cannot take another's address: the first one by its path has it.
    const url = addresses.of(file.path, read).find((one) => !this.#places.has(addressKey(one)));
    if (url === undefined) return;
    const page = { url, title: read.title ?? file.path, text: read.text };
    this.#places.set(addressKey(url), page);
    this.#index.add(this.#pages.push(page) - 1, [page.title, page.text]);
  }
}

interface ReadPage {
  readonly title: string | null;
  readonly text: string;
  readonly canonical: string | null;
  readonly base: string | null;
}

function readPage({ format, source }: PageFile): ReadPage {
  if (format === "html") {
    const { title, heading, text, canonical, base } = readHtml(source);
    return { title: title ?? heading, text, canonical, base };
  }
  const title = format === "markdown" ? markdownTitle(source) : null;
  return { title, text: source, canonical: null, base: null };
}

/** The first heading that begins with `#`. */
function markdownTitle(source: string): string | null {
  return /^#{1,6}[ \t]+(\S.*)$/m.exec(source)?.[1]?.trim() ?? null;
}
