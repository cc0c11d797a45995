import { DatabaseSync } from "node:sqlite";
import { extractTerms } from "../search/extract-terms.ts";
import { FullTextIndex } from "../search/full-text-index.ts";
import { readHtml } from "../search/read-html.ts";
import { Addresses, toAddressKey } from "./addresses.ts";
import { createSnippet } from "./create-snippet.ts";
import { findInText, type TextMatch } from "./find-in-text.ts";
import { isAllowedDomain } from "./is-allowed-domain.ts";
import { type PageFile, readPageFiles, readTextFile } from "./read-page-files.ts";

/** A search result. */
export interface FoundPage {
  readonly url: string;
  readonly title: string;
  readonly snippet: string;
}

/** A page with its text. */
export interface OpenPage {
  readonly url: string;
  readonly title: string;
  readonly text: string;
}

/** Options of {@link WebPages.search}. */
export interface PageSearchOptions {
  /** Domains to search, with their subdomains. @default all */
  readonly allowedDomains?: readonly string[] | undefined;
  /** Domains to exclude, with their subdomains. @default none */
  readonly blockedDomains?: readonly string[] | undefined;
  /** Maximum number of results. @default 10 */
  readonly max?: number | undefined;
}

/** A small local web: pages in a folder, searched by words and opened by address. */
export class WebPages implements Disposable {
  readonly #database = new DatabaseSync(":memory:");
  readonly #index = new FullTextIndex(this.#database, "pages", { title: 4, text: 1 });
  readonly #pages: OpenPage[] = [];
  readonly #pagesByKey = new Map<string, OpenPage>();

  /** Reads every `.html`, `.htm`, `.md` and `.txt` file below a folder. */
  static open(folder: string): WebPages {
    const files = readPageFiles(folder);
    const sitemap = readTextFile(folder, "sitemap.xml");
    const addresses = new Addresses(readTextFile(folder, "pages.json"), sitemap);
    const pages = new WebPages();
    for (const file of files) pages.#add(file, addresses);
    return pages;
  }

  /** Number of pages. */
  get size(): number {
    return this.#pages.length;
  }

  /** Returns the pages that contain any of the query's words, best first. */
  search(query: string, options: PageSearchOptions = {}): readonly FoundPage[] {
    const { max = 10 } = options;
    const terms = extractTerms(query);
    const found: FoundPage[] = [];
    for (const { row } of this.#index.findMatches(terms, this.#pages.length)) {
      if (found.length >= max) break;
      const page = this.#pages[row];
      if (!page || !isAllowedDomain(page.url, options)) continue;
      found.push({ url: page.url, title: page.title, snippet: createSnippet(page.text, terms) });
    }
    return found;
  }

  /** Returns the page at an address; `null` if it does not exist. */
  open(url: string): OpenPage | null {
    return this.#pagesByKey.get(toAddressKey(url)) ?? null;
  }

  /** Finds words in a page, ignoring case and differences in spaces. Returns an empty array if the page does not exist. */
  find(url: string, pattern: string): readonly TextMatch[] {
    const page = this.open(url);
    return page === null ? [] : findInText(page.text, pattern);
  }

  /** Closes the index. */
  [Symbol.dispose](): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #add(file: PageFile, addresses: Addresses): void {
    const read = parsePage(file);
    // An address that is already in use belongs to the page with the first path.
    const url = addresses
      .listCandidates(file.path, read)
      .find((one) => !this.#pagesByKey.has(toAddressKey(one)));
    if (url === undefined) return;
    const page = { url, title: read.title ?? file.path, text: read.text };
    this.#pagesByKey.set(toAddressKey(url), page);
    this.#index.add(this.#pages.push(page) - 1, [page.title, page.text]);
  }
}

interface ParsedPage {
  readonly title: string | null;
  readonly text: string;
  readonly canonical: string | null;
  readonly base: string | null;
}

function parsePage({ format, source }: PageFile): ParsedPage {
  if (format === "html") {
    const { title, heading, text, canonical, base } = readHtml(source);
    return { title: title ?? heading, text, canonical, base };
  }
  const title = format === "markdown" ? findMarkdownTitle(source) : null;
  return { title, text: source, canonical: null, base: null };
}

/** Returns the first heading that starts with `#`. */
function findMarkdownTitle(source: string): string | null {
  return /^#{1,6}[ \t]+(\S.*)$/m.exec(source)?.[1]?.trim() ?? null;
}
