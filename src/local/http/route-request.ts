import { readHeader } from "./lazy-request.ts";

/** The name of a path's parameter and its value, as it is in the path: percent-encoded. */
export type PathParams = ReadonlyMap<string, string>;

/** A request as routes read it. Its parts are parsed on first use. */
export class RouteRequest {
  /** The request itself, for its body and its signal. */
  readonly raw: Request;
  /** The values of the route's `:name` parts. */
  params: PathParams = NO_PARAMS;
  #path: string | null = null;
  #search: URLSearchParams | null = null;

  constructor(raw: Request) {
    this.raw = raw;
  }

  get method(): string {
    return this.raw.method;
  }

  /** The path without the query. It is decoded except for reserved characters, so `%2F` does not separate parts. */
  get path(): string {
    this.#path ??= readPath(this.raw.url);
    return this.#path;
  }

  /** Whether the address has a query, even an empty one. */
  get hasQuery(): boolean {
    return this.raw.url.includes("?");
  }

  /** Returns the decoded value of a `:name` part of the route's path. */
  param(name: string): string {
    const value = this.params.get(name);
    if (value === undefined) throw new Error(`The route has no parameter "${name}".`);
    return value.includes("%") ? decode(value, decodeURIComponent) : value;
  }

  /** Returns the first value of a query parameter. */
  query(name: string): string | undefined {
    return this.search.get(name) ?? undefined;
  }

  /** All query parameters. Those without a name are left out. */
  get search(): URLSearchParams {
    this.#search ??= readSearch(this.raw.url);
    return this.#search;
  }

  /** Returns a header. The name must be lowercase. */
  header(name: string): string | undefined {
    return readHeader(this.raw, name);
  }
}

const NO_PARAMS: PathParams = new Map();

function readPath(url: string): string {
  const path = /^\w+:\/\/[^/?#]*([^?#]*)/.exec(url)?.[1] ?? "";
  if (!path.includes("%")) return path;
  return decode(path.replaceAll("%25", "%2525"), decodeURI); // `param()` decodes the rest
}

function readSearch(url: string): URLSearchParams {
  const [, query = ""] = /^[^?#]*\?([^#]*)/.exec(url) ?? [];
  const search = new URLSearchParams(query);
  search.delete("");
  return search;
}

/** Leaves sequences as they are that are not valid. */
function decode(text: string, decodeAll: (text: string) => string): string {
  try {
    return decodeAll(text);
  } catch {
    return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (sequence) => {
      try {
        return decodeAll(sequence);
      } catch {
        return sequence;
      }
    });
  }
}
