import { isPlainObject } from "../../base/freeze.ts";
import { parseJson } from "../../base/json.ts";
import { decodeEntities } from "../search/entities.ts";

/** What a page says of where it is. */
export interface OwnAddress {
  readonly canonical: string | null;
  readonly base: string | null;
}

/**
 * Where pages are on the web: as `pages.json` says (`{ "docs/a.html": "https://…" }`), else as the page
 * says itself, else as the sitemap does, else by the folders: the first is the host if it looks like one.
 */
export class Addresses {
  readonly #listed: ReadonlyMap<string, string>;
  readonly #mapped: ReadonlyMap<string, string>;

  constructor(pagesJson: string | null, sitemap: string | null) {
    this.#listed = pagesJson === null ? new Map() : listedPages(pagesJson);
    this.#mapped = sitemap === null ? new Map() : sitemapPages(sitemap);
  }

  /** All that a page may be known by, best first; the last one is only for itself. */
  of(path: string, { canonical, base }: OwnAddress): readonly string[] {
    const byFolders = addressOfPath(path);
    const own = webAddress(base, byFolders);
    const candidates = [
      webAddress(this.#listed.get(path) ?? null),
      webAddress(canonical, own ?? byFolders),
      this.#mapped.get(pathKey(path)) ?? null,
      own === null ? null : webAddress(path.slice(path.lastIndexOf("/") + 1), own),
    ];
    return [...candidates.filter((address) => address !== null), byFolders];
  }
}

/**
 * What two addresses of one page have in common: not the scheme, the fragment or an index's name.
 * Empty for what is no address.
 */
export function addressKey(address: string): string {
  const url = URL.parse(address);
  if (url === null) return "";
  const path = url.pathname.replace(/\/(?:index\.html?)?$/, "");
  return `${url.host}${path}${url.search}`;
}

function webAddress(address: string | null, base?: string): string | null {
  const url = address === null ? null : URL.parse(address, base);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  url.hash = "";
  return url.href;
}

function addressOfPath(path: string): string {
  const [first = "", ...rest] = path.split("/");
  const encoded = (parts: readonly string[]) => parts.map(encodeURIComponent).join("/");
  if (rest.length > 0 && /^(?:[a-z0-9-]+\.)+[a-z]{2,}$/i.test(first)) {
    return `https://${first.toLowerCase()}/${encoded(rest)}`;
  }
  return `http://localhost/${encoded([first, ...rest])}`;
}

function listedPages(pagesJson: string): ReadonlyMap<string, string> {
  const json = parseJson(pagesJson);
  const entries = json.ok && isPlainObject(json.value) ? Object.entries(json.value) : [];
  return new Map(entries.flatMap(([path, url]) => (typeof url === "string" ? [[path, url]] : [])));
}

/** Addresses by the path of the file that would be served there. */
function sitemapPages(sitemap: string): ReadonlyMap<string, string> {
  const pages = new Map<string, string>();
  let at = sitemap.indexOf("<loc>");
  while (at >= 0) {
    const end = sitemap.indexOf("</loc>", at);
    if (end < 0) break;
    const address = webAddress(decodeEntities(sitemap.slice(at + 5, end).trim()));
    const key =
      address === null ? null : pathKey(safelyDecoded(new URL(address).pathname.slice(1)));
    if (address !== null && key !== null && !pages.has(key)) pages.set(key, address);
    at = sitemap.indexOf("<loc>", end);
  }
  return pages;
}

/** `docs/a.html`, `docs/a` and `docs/a/index.html` are served at the same address. */
function pathKey(path: string): string {
  return path.replace(/\.(?:html?|md|txt)$/i, "").replace(/(?:^|\/)(?:index)?$/, "");
}

function safelyDecoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // it holds a per cent sign that encodes nothing
  }
}
