import { isPlainObject } from "../../base/freeze.ts";
import { parseJson } from "../../base/json.ts";
import { readHtml } from "../search/read-html.ts";

/** The address that a page declares. */
export interface DeclaredAddress {
  readonly canonical: string | null;
  readonly base: string | null;
}

/**
 * Finds the web address of a page: from `pages.json` (`{ "docs/a.html": "https://…" }`), else from the
 * page itself, else from the sitemap, else from its path, whose first folder is the host if it looks like one.
 */
export class Addresses {
  readonly #listed: ReadonlyMap<string, string>;
  readonly #mapped: ReadonlyMap<string, string>;

  constructor(pagesJson: string | null, sitemap: string | null) {
    this.#listed = pagesJson === null ? new Map() : parsePagesJson(pagesJson);
    this.#mapped = sitemap === null ? new Map() : parseSitemap(sitemap);
  }

  /** Returns all candidate addresses of a page, best first. The last one comes from its path. */
  listCandidates(path: string, { canonical, base }: DeclaredAddress): readonly string[] {
    const byFolders = toPathAddress(path);
    const own = parseWebAddress(base, byFolders);
    const candidates = [
      parseWebAddress(this.#listed.get(path) ?? null),
      parseWebAddress(canonical, own ?? byFolders),
      this.#mapped.get(toPathKey(path)) ?? null,
      own === null ? null : parseWebAddress(path.slice(path.lastIndexOf("/") + 1), own),
    ];
    return [...candidates.filter((address) => address !== null), byFolders];
  }
}

/**
 * Returns a key that is equal for all addresses of a page: without scheme, fragment and index file name.
 * Empty if the address is invalid.
 */
export function toAddressKey(address: string): string {
  const url = URL.parse(address);
  if (url === null) return "";
  const path = url.pathname.replace(/\/(?:index\.html?)?$/, "");
  return `${url.host}${path}${url.search}`;
}

function parseWebAddress(address: string | null, base?: string): string | null {
  const url = address === null ? null : URL.parse(address, base);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  url.hash = "";
  return url.href;
}

function toPathAddress(path: string): string {
  const [first = "", ...rest] = path.split("/");
  const encodePath = (parts: readonly string[]) => parts.map(encodeURIComponent).join("/");
  if (rest.length > 0 && /^(?:[a-z0-9-]+\.)+[a-z]{2,}$/i.test(first)) {
    return `https://${first.toLowerCase()}/${encodePath(rest)}`;
  }
  return `http://localhost/${encodePath([first, ...rest])}`;
}

function parsePagesJson(pagesJson: string): ReadonlyMap<string, string> {
  const json = parseJson(pagesJson);
  const entries = json.ok && isPlainObject(json.value) ? Object.entries(json.value) : [];
  return new Map(entries.flatMap(([path, url]) => (typeof url === "string" ? [[path, url]] : [])));
}

/** Returns the addresses in a sitemap by the path of the file that would be served there. */
function parseSitemap(sitemap: string): ReadonlyMap<string, string> {
  const pages = new Map<string, string>();
  let at = sitemap.indexOf("<loc>");
  while (at >= 0) {
    const end = sitemap.indexOf("</loc>", at);
    if (end < 0) break;
    // Sitemaps escape addresses as HTML escapes text.
    const address = parseWebAddress(readHtml(sitemap.slice(at + 5, end)).text);
    const key = address === null ? null : toPathKey(decodePath(new URL(address).pathname.slice(1)));
    if (address !== null && key !== null && !pages.has(key)) pages.set(key, address);
    at = sitemap.indexOf("<loc>", end);
  }
  return pages;
}

/** Returns the same key for `docs/a.html`, `docs/a` and `docs/a/index.html`, which share an address. */
function toPathKey(path: string): string {
  return path.replace(/\.(?:html?|md|txt)$/i, "").replace(/(?:^|\/)(?:index)?$/, "");
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // contains a percent sign that is not an escape
  }
}
