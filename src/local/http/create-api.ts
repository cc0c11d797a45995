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
import { RouteContext } from "./route-context.ts";
import type { RouteRequest } from "./route-request.ts";
import { RouteTable } from "./route-table.ts";

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

/** A server as a function of its requests. */
export interface Api {
  /** The routes, which are added after the API was created. */
  readonly routes: RouteTable;
  /** Responds to a request. Rejects only to drop the connection. */
  readonly fetch: (request: Request) => Promise<Response>;
}

/**
 * Creates an API without routes. It checks keys, assigns request ids, and converts errors thrown by routes to the
 * error format of the requested API (OpenAI's or Anthropic's).
 */
export function createApi(options: ApiOptions): Api {
  const { clock, ids, log, sandbox } = options;
  const routes = new RouteTable();
  const respond = async (request: Request): Promise<Response> => {
    const started = clock.now();
    const response = await handleRequest(request, routes, options);
    const sandboxHeader = sandbox?.header;
    if (sandboxHeader) setHeader(response, "x-wink-sandbox", sandboxHeader);
    if (isAnthropicAddress(request.url)) return response; // its routes set their own request id
    setHeader(response, "x-request-id", ids.next("req_"));
    setHeader(response, "openai-version", "2020-10-01");
    const elapsedMs = Math.max(0, Math.round(clock.now() - started));
    setHeader(response, "openai-processing-ms", String(elapsedMs));
    return response;
  };
  return { routes, fetch: log ? (request) => log.observe(request, respond) : respond };
}

async function handleRequest(
  request: Request,
  routes: RouteTable,
  options: ApiOptions,
): Promise<Response> {
  const context = new RouteContext(request);
  const response = await callRoute(context, routes, options);
  if (request.method !== "HEAD") return response;
  if (!(response instanceof BufferedResponse)) await response.body?.cancel(); // closes a file
  const { status, headers } = response;
  return new Response(null, { status, headers });
}

async function callRoute(
  context: RouteContext,
  routes: RouteTable,
  options: ApiOptions,
): Promise<Response> {
  const { req } = context;
  try {
    if (options.apiKey !== null) checkKey(req, options.apiKey);
    const handle = routes.find(req);
    if (handle) return await handle(context);
    return respondWithProblem(context, createUnservedProblem(req.method, req.path), options);
  } catch (error) {
    if (error instanceof ConnectionDroppedError) throw error;
    const isProblem = error instanceof ApiProblem;
    if (!isProblem && req.raw.signal.aborted) return new Response(null, { status: 499 }); // the client has disconnected
    reportFault(error, options.onFault);
    if (isProblem) return respondWithProblem(context, error, options);
    const message = `The server had an error while processing your request: ${getErrorMessage(error)}`;
    return respondWithProblem(context, new ApiProblem(500, message), options);
  }
}

function respondWithProblem(
  context: RouteContext,
  problem: ApiProblem,
  { ids, log }: ApiOptions,
): Response {
  log?.addAnswer(context.req.raw, problem.body);
  const { status, headers } = problem;
  if (!isAnthropicRequest(context.req)) return context.json(problem.body, status, headers);
  const requestId = ids.next("req_");
  const body = toAnthropicProblem(problem, requestId);
  return context.json(body, status, { ...headers, "request-id": requestId });
}

/** Changes the response in place: a copy would have to read the body. */
function setHeader(response: Response, name: string, value: string): void {
  if (response instanceof BufferedResponse) response.setHeader(name, value);
  else response.headers.set(name, value);
}

function checkKey(request: RouteRequest, apiKey: string): void {
  if (request.path === "/api/hello") return; // health check, without a key
  const isAnthropic = isAnthropicRequest(request);
  const anthropicKey = isAnthropic ? request.header("x-api-key") : undefined;
  const credential = anthropicKey ?? request.header("authorization") ?? "";
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
