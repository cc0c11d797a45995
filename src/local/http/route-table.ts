import type { RouteContext } from "./route-context.ts";
import type { PathParams, RouteRequest } from "./route-request.ts";

/** Responds to the requests of one route. */
export type RouteHandler = (context: RouteContext) => Response | Promise<Response>;

/** Whether a route takes a request. Other requests go to the next route that matches. */
export type RouteCondition = (request: RouteRequest) => boolean;

/** One path with one method. */
export interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  /** Parts that begin with a colon match any text except a slash: `/v1/files/:id`. */
  readonly path: string;
  readonly handle: RouteHandler;
  /** `null` takes every request. */
  readonly condition: RouteCondition | null;
}

/** The routes of an API. Of several routes that match, those without parameters come first, then the ones added first. */
export class RouteTable {
  readonly #routes: Route[] = [];
  /** Routes without parameters, by method and path. */
  readonly #fixed = new Map<string, Route[]>();
  /** All other routes with the parts of their paths, by method and number of parts. */
  readonly #patterns = new Map<string, { readonly parts: readonly string[]; route: Route }[]>();

  /** All routes, in the order in which they were added. */
  get routes(): readonly Route[] {
    return this.#routes;
  }

  get(path: string, handle: RouteHandler): void {
    this.#add({ method: "GET", path, handle, condition: null });
  }

  post(path: string, handle: RouteHandler): void {
    this.#add({ method: "POST", path, handle, condition: null });
  }

  delete(path: string, handle: RouteHandler): void {
    this.#add({ method: "DELETE", path, handle, condition: null });
  }

  /** Returns functions that add routes for the requests that meet a condition. */
  where(condition: RouteCondition): Pick<RouteTable, "get" | "post" | "delete"> {
    return {
      get: (path, handle) => this.#add({ method: "GET", path, handle, condition }),
      post: (path, handle) => this.#add({ method: "POST", path, handle, condition }),
      delete: (path, handle) => this.#add({ method: "DELETE", path, handle, condition }),
    };
  }

  /** Returns the handler of a request and sets its `params`, or returns `null`. A HEAD request has the route of GET. */
  find(request: RouteRequest): RouteHandler | null {
    const method = request.method === "HEAD" ? "GET" : request.method;
    const { path } = request;
    for (const route of this.#fixed.get(`${method} ${path}`) ?? [])
      if (route.condition?.(request) !== false) return route.handle;
    const parts = path.split("/");
    for (const { parts: pattern, route } of this.#patterns.get(`${method} ${parts.length}`) ?? []) {
      const params = matchParts(pattern, parts);
      if (!params || route.condition?.(request) === false) continue;
      request.params = params;
      return route.handle;
    }
    return null;
  }

  #add(route: Route): void {
    this.#routes.push(route);
    const { method, path } = route;
    const parts = path.split("/");
    const isFixed = !parts.some(isParameter);
    if (isFixed) append(this.#fixed, `${method} ${path}`, route);
    else append(this.#patterns, `${method} ${parts.length}`, { parts, route });
  }
}

function isParameter(part: string): boolean {
  return part.startsWith(":");
}

function append<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const values = map.get(key);
  if (values) values.push(value);
  else map.set(key, [value]);
}

/** Both lists have the same length. An empty part matches no parameter. */
function matchParts(pattern: readonly string[], parts: readonly string[]): PathParams | null {
  const params = new Map<string, string>();
  for (const [at, expected] of pattern.entries()) {
    const part = parts[at] ?? "";
    if (isParameter(expected) && part !== "") params.set(expected.slice(1), part);
    else if (part !== expected) return null;
  }
  return params;
}
