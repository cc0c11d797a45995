import { type Context, Hono } from "hono";
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { ApiProblem } from "./api-problem.ts";
import type { Ids } from "./ids.ts";
import { isKey } from "./key.ts";
import { Dropped } from "./responses/dropped.ts";

/** What every request is answered with, whichever resource it asks for. */
export interface ApiOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  /** `null`: whoever reaches it may use it. */
  readonly apiKey: string | null;
  /** Told what must not happen and did. */
  readonly onFault: (error: unknown) => void;
}

/** An empty API: checks keys, names requests, and turns what routes throw into OpenAI's errors. */
export function emptyApi({ clock, ids, apiKey, onFault }: ApiOptions): Hono {
  const app = new Hono();
  app.use(async (context, next) => {
    const started = clock.now();
    context.header("x-request-id", ids.next("req_"));
    context.header("openai-version", "2020-10-01");
    checkKey(context, apiKey);
    await next();
    context.header("openai-processing-ms", String(Math.max(0, Math.round(clock.now() - started))));
  });
  app.notFound((context) => {
    const { method, path } = context.req;
    return answer(context, new ApiProblem(404, `Invalid URL (${method} ${path})`));
  });
  app.onError((error, context) => {
    if (error instanceof ApiProblem) return answer(context, error);
    if (error instanceof Dropped) throw error;
    if (context.req.raw.signal.aborted) return context.body(null, 499 as never); // nobody reads it
    onFault(error);
    const message = `The server had an error while processing your request: ${messageOf(error)}`;
    return answer(context, new ApiProblem(500, message));
  });
  return app;
}

function answer(context: Context, problem: ApiProblem): Response {
  for (const [name, value] of Object.entries(problem.headers)) context.header(name, value);
  return context.json(problem.body, problem.status as never);
}

function checkKey(context: Context, apiKey: string | null): void {
  if (apiKey === null) return;
  const given = context.req.header("authorization") ?? "";
  if (isKey(given.replace(/^Bearer +/i, ""), apiKey)) return;
  const problem =
    given === ""
      ? "You didn't provide an API key: send it as Authorization: Bearer KEY."
      : "Incorrect API key provided.";
  throw new ApiProblem(401, problem, { code: "invalid_api_key" });
}
