import { isPlainObject } from "../../../src/base/freeze.ts";
import type { WireItem } from "../../../src/openai/wire.ts";
import { findResponseProblems } from "../openapi.ts";
import { findStreamProblems } from "./event-problems.ts";

/** A `fetch` that validates every request and response against OpenAI's document. */
export interface CheckedFetch {
  readonly fetch: typeof globalThis.fetch;
  /** Resolves when all started responses have been read. */
  problems(): Promise<readonly string[]>;
}

/** Wraps a `fetch` with validation. Callers get every response unchanged. */
export function createCheckedFetch(fetch: typeof globalThis.fetch): CheckedFetch {
  const readings: Promise<readonly string[]>[] = [];
  return {
    async fetch(input, init) {
      const request = new Request(input, init);
      const { pathname, searchParams } = new URL(request.url);
      const route = `${request.method} ${pathname.replace(/^\/v1/, "")}`;
      const response = await fetch(input, init);
      const first = Number(searchParams.get("starting_after") ?? -1) + 1;
      readings.push(findProblems(route, response.clone(), first).catch(() => []));
      return response;
    },
    problems: async () => (await Promise.all(readings)).flat(),
  };
}

async function findProblems(
  route: string,
  response: Response,
  first: number,
): Promise<readonly string[]> {
  const type = response.headers.get("content-type") ?? "";
  const addRoute = (problem: string) => `${route}: ${problem}`;
  if (type.startsWith("text/event-stream"))
    return findStreamProblems(parseEvents(await response.text()), first).map(addRoute);
  if (!type.startsWith("application/json")) return [];
  const body: unknown = await response.json();
  if (response.status === 200)
    return (findResponseProblems(route, toDocumentedBody(body)) ?? [])
      .filter(isDocumented)
      .map(addRoute);
  return isError(body) ? [] : [addRoute("it is no error of OpenAI's form")];
}

/** Whether the document covers the problem: it does not have all routes and responses. */
function isDocumented(problem: string): boolean {
  return !problem.endsWith("is not known to answer with JSON");
}

/**
 * Renames a tool choice that the API accepts to the only name that the document has for it. Gives an empty list the ids
 * that the document requires: the API returns `null`.
 */
export function toDocumentedBody(body: unknown): unknown {
  const choice = isPlainObject(body) ? body["tool_choice"] : null;
  if (isPlainObject(body) && body["object"] === "list" && body["first_id"] === null)
    return { ...body, first_id: "", last_id: "" };
  if (!isPlainObject(body) || !isPlainObject(choice) || choice["type"] !== "web_search")
    return body;
  return { ...body, tool_choice: { type: "web_search_preview" } };
}

function isError(body: unknown): boolean {
  const error = isPlainObject(body) ? body["error"] : null;
  return (
    isPlainObject(error) &&
    typeof error["message"] === "string" &&
    typeof error["type"] === "string" &&
    "param" in error &&
    "code" in error
  );
}

/** Parses the events of a complete stream. */
export function parseEvents(text: string): readonly (WireItem & { readonly type: string })[] {
  return text
    .split("\n\n")
    .filter((block) => block !== "" && !block.startsWith(":")) // comments
    .map((block) => JSON.parse(block.slice(block.indexOf("data: ") + 6)));
}
