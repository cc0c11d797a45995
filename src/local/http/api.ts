import { type Context, Hono } from "hono";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { ApiProblem } from "../api-problem.ts";
import type { Ids } from "../ids.ts";
import { anthropicProblem, isAnthropicAddress } from "../messages/anthropic-problem.ts";
import { Dropped } from "../turn/dropped.ts";
import { isKey } from "./key.ts";
import { WholeResponse } from "./whole-response.ts";

/** What every request is answered with, whichever resource it asks for. */
export interface ApiOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  /** `null`: whoever reaches it may use it. */
  readonly apiKey: string | null;
  /** Told what must not happen and did. */
  readonly onFault: (error: unknown) => void;
}

/** An empty API: checks keys, names requests, and turns what routes throw into the errors of whose API it is. */
export function emptyApi({ clock, ids, apiKey, onFault }: ApiOptions): Hono {
  const app = new Hono();
  const routed = app.fetch;
  // Around all routes rather than before each: what has one handler needs no chain of them.
  app.fetch = async (request, ...rest) => {
    const started = clock.now();
    const response = await routed(request, ...rest);
    if (isAnthropicAddress(request.url)) return response; // which names its requests itself
    put(response, "x-request-id", ids.next("req_"));
    put(response, "openai-version", "2020-10-01");
    const took = Math.max(0, Math.round(clock.now() - started));
    put(response, "openai-processing-ms", String(took));
    return response;
  };
  if (apiKey !== null)
    app.use(async (context, next) => {
      checkKey(context, apiKey);
      await next();
    });
  app.notFound((context) => {
    const { method, path } = context.req;
    return answer(context, new ApiProblem(404, `Invalid URL (${method} ${path})`), ids);
  });
  app.onError((error, context) => {
    if (error instanceof ApiProblem) return answer(context, error, ids);
    if (error instanceof Dropped) throw error;
    if (context.req.raw.signal.aborted) return context.body(null, 499 as never); // nobody reads it
    onFault(error);
    const message = `The server had an error while processing your request: ${messageOf(error)}`;
    return answer(context, new ApiProblem(500, message), ids);
  });
  return app;
}

function answer(context: Context, problem: ApiProblem, ids: Ids): Response {
  for (const [name, value] of Object.entries(problem.headers)) context.header(name, value);
  if (!isAnthropicAddress(context.req.path))
    return context.json(problem.body, problem.status as never);
  const requestId = ids.next("req_");
  context.header("request-id", requestId);
  return context.json(anthropicProblem(problem, requestId), problem.status as never);
}

/** Changed in place: a copy would have to read what is answered. */
function put(response: Response, name: string, value: string): void {
  if (response instanceof WholeResponse) response.put(name, value);
  else response.headers.set(name, value);
}

function checkKey(context: Context, apiKey: string): void {
  const { path } = context.req;
  if (path === "/api/hello") return; // asked by who wants to know whether anybody is there
  const own = isAnthropicAddress(path) ? context.req.header("x-api-key") : undefined;
  const given = own ?? context.req.header("authorization") ?? "";
  if (isKey(given.replace(/^Bearer +/i, ""), apiKey)) return;
  if (isAnthropicAddress(path))
    throw new ApiProblem(401, given === "" ? "x-api-key header is required" : "invalid x-api-key");
  const problem =
    given === ""
      ? "You didn't provide an API key: send it as Authorization: Bearer KEY."
      : "Incorrect API key provided.";
  throw new ApiProblem(401, problem, { code: "invalid_api_key" });
}
