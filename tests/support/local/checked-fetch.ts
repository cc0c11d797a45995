import { isPlainObject } from "../../../src/base/freeze.ts";
import type { WireItem } from "../../../src/openai/wire.ts";
import { responseProblems } from "../openapi.ts";
import { streamProblems } from "./event-problems.ts";

/** A `fetch` that reads along, and says what OpenAI's document has against what it read. */
export interface CheckedFetch {
  readonly fetch: typeof globalThis.fetch;
  /** When all that was begun has been read. */
  problems(): Promise<readonly string[]>;
}

/** Puts a reader beside a `fetch`; whoever uses it gets every answer as it is. */
export function checkedFetch(fetch: typeof globalThis.fetch): CheckedFetch {
  const readings: Promise<readonly string[]>[] = [];
  return {
    async fetch(input, init) {
      const request = new Request(input, init);
      const route = `${request.method} ${new URL(request.url).pathname.replace(/^\/v1/, "")}`;
      const response = await fetch(input, init);
      readings.push(problemsIn(route, response.clone()).catch(() => []));
      return response;
    },
    problems: async () => (await Promise.all(readings)).flat(),
  };
}

async function problemsIn(route: string, response: Response): Promise<readonly string[]> {
  const type = response.headers.get("content-type") ?? "";
  const told = (problem: string) => `${route}: ${problem}`;
  if (type.startsWith("text/event-stream"))
    return streamProblems(eventsIn(await response.text())).map(told);
  if (!type.startsWith("application/json")) return [];
  const body: unknown = await response.json();
  if (response.status === 200)
    return (responseProblems(route, documented(body)) ?? []).filter(isOfDocument).map(told);
  return isError(body) ? [] : [told("it is no error of OpenAI's form")];
}

/** The document at hand has not all routes, and not all that they answer. */
function isOfDocument(problem: string): boolean {
  return !problem.endsWith("is not known to answer with JSON");
}

/** A choice that clients send and the API takes, under the one name that the document has for it. */
export function documented(body: unknown): unknown {
  const choice = isPlainObject(body) ? body["tool_choice"] : null;
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

/** The events of a stream that was read whole. */
export function eventsIn(text: string): readonly (WireItem & { readonly type: string })[] {
  return text
    .split("\n\n")
    .filter((block) => block !== "")
    .map((block) => JSON.parse(block.slice(block.indexOf("data: ") + 6)));
}
