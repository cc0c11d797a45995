import { type Context, Hono } from "hono";
import type { Clock } from "../../base/clock.ts";
import { getErrorMessage } from "../../base/errors.ts";
import { ApiProblem } from "../api-problem.ts";
import type { Ids } from "../ids.ts";
import { isAnthropicAddress, toAnthropicProblem } from "../messages/anthropic-problem.ts";
import { reportFault } from "../report-fault.ts";
import { ConnectionDroppedError } from "../turn/connection-dropped-error.ts";
import { BufferedResponse } from "./buffered-response.ts";
import { compareKeys } from "./compare-keys.ts";
import { createUnservedProblem } from "./create-unserved-problem.ts";
import { isAnthropicRequest } from "./is-anthropic-request.ts";
import type { RequestLog } from "./request-log.ts";

/** Options that apply to every request. */
export interface ApiOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  /** The key that clients must send; `null` accepts every request. */
  readonly apiKey: string | null;
  /** Called with unexpected errors. */
  readonly onFault: (error: unknown) => void;
  /** Reports every request; `null` if no one listens. */
  readonly log: RequestLog | null;
  /** The sandbox, whose `header` is `null` until it was chosen. */
  readonly sandbox?: { readonly header: string | null } | undefined;
}

/**
 * Creates an API without routes. It checks keys, assigns request ids, and converts errors thrown by routes to the
 * error format of the requested API (OpenAI's or Anthropic's).
 */
export function createApi({ clock, ids, apiKey, onFault, log, sandbox }: ApiOptions): Hono {
  const app = new Hono();
  const handleRoute = app.fetch;
  // Wraps the app instead of adding middleware: most routes have a single handler and no chain.
  app.fetch = async (request, ...rest) => {
    const started = clock.now();
    const response = await handleRoute(request, ...rest);
    const sandboxHeader = sandbox?.header;
    if (sandboxHeader) setHeader(response, "x-wink-sandbox", sandboxHeader);
    if (isAnthropicAddress(request.url)) return response; // its routes set their own request id
    setHeader(response, "x-request-id", ids.next("req_"));
    setHeader(response, "openai-version", "2020-10-01");
    const elapsedMs = Math.max(0, Math.round(clock.now() - started));
    setHeader(response, "openai-processing-ms", String(elapsedMs));
    return response;
  };
  if (log) {
    const serve = app.fetch;
    app.fetch = (request, ...rest) => log.observe(request, (one) => serve(one, ...rest));
  }
  const respondWithProblem = (context: Context, problem: ApiProblem): Response => {
    log?.addAnswer(context.req.raw, problem.body);
    return createProblemResponse(context, problem, ids);
  };
  if (apiKey !== null)
    app.use(async (context, next) => {
      checkKey(context, apiKey);
      await next();
    });
  app.notFound((context) => {
    const { method, path } = context.req;
    return respondWithProblem(context, createUnservedProblem(method, path));
  });
  app.onError((error, context) => {
    if (error instanceof ConnectionDroppedError) throw error;
    const isProblem = error instanceof ApiProblem;
    if (!isProblem && context.req.raw.signal.aborted) return context.body(null, 499 as never); // the client has disconnected
    reportFault(error, onFault);
    if (isProblem) return respondWithProblem(context, error);
    const message = `The server had an error while processing your request: ${getErrorMessage(error)}`;
    return respondWithProblem(context, new ApiProblem(500, message));
  });
  return app;
}

function createProblemResponse(context: Context, problem: ApiProblem, ids: Ids): Response {
  for (const [name, value] of Object.entries(problem.headers)) context.header(name, value);
  if (!isAnthropicRequest(context.req)) return context.json(problem.body, problem.status as never);
  const requestId = ids.next("req_");
  context.header("request-id", requestId);
  return context.json(toAnthropicProblem(problem, requestId), problem.status as never);
}

/** Changes the response in place: a copy would have to read the body. */
function setHeader(response: Response, name: string, value: string): void {
  if (response instanceof BufferedResponse) response.setHeader(name, value);
  else response.headers.set(name, value);
}

function checkKey(context: Context, apiKey: string): void {
  const { path } = context.req;
  if (path === "/api/hello") return; // health check, without a key
  const isAnthropic = isAnthropicRequest(context.req);
  const anthropicKey = isAnthropic ? context.req.header("x-api-key") : undefined;
  const credential = anthropicKey ?? context.req.header("authorization") ?? "";
  if (compareKeys(credential.replace(/^Bearer +/i, ""), apiKey)) return;
  if (isAnthropic)
    throw new ApiProblem(
      401,
      credential === "" ? "x-api-key header is required" : "invalid x-api-key",
    );
  const problem =
    credential === ""
      ? "You didn't provide an API key. Send it as Authorization: Bearer KEY."
      : "Incorrect API key provided.";
  throw new ApiProblem(401, problem, { code: "invalid_api_key" });
}
