import type { Context, Hono, HonoRequest } from "hono";
import { quoteValue } from "../../base/quote-value.ts";
import type { WireItem } from "../../openai/wire.ts";
import { ApiProblem, notFound } from "../api-problem.ts";
import { BufferedResponse } from "../http/buffered-response.ts";
import {
  checkQuery,
  readListQuery,
  readQueryFlag,
  readQueryInteger,
  readQueryList,
} from "../http/check-query.ts";
import { PacedBody } from "../http/paced-body.ts";
import { RATE_LIMIT_HEADERS, setRateLimitHeaders } from "../http/rate-limit-headers.ts";
import { readJsonBody } from "../http/read-json-body.ts";
import type { RequestLog } from "../http/request-log.ts";
import { applyIncludes } from "../responses/check/apply-includes.ts";
import { createIncludeValidator } from "../responses/check/body.ts";
import { formatEvent } from "../responses/events/events.ts";
import { type StreamServices, streamResponse } from "../responses/events/stream-response.ts";
import type { Responses, StartedResponse } from "../responses/responses.ts";
import { toPage } from "../store/paging.ts";
import type { ResponseStore, StoredResponse } from "../store/response-store.ts";
import type { ToolCatalog } from "../tools/tool-catalog.ts";
import { ConnectionDroppedError } from "../turn/connection-dropped-error.ts";
import { createUsageHeader, USAGE_COMMENT, USAGE_HEADER } from "../turn/usage-header.ts";
import { assertValid } from "../validators/validator.ts";

/** Services of the response routes. */
export interface ResponseServices {
  readonly responses: Responses;
  readonly store: ResponseStore;
  readonly catalog: ToolCatalog;
  readonly maxBodyBytes: number;
  /** Called with unexpected errors that occur after a stream has started. */
  readonly onFault: (error: unknown) => void;
  readonly log: RequestLog | null;
}

/** `/v1/responses` and its subresources. */
export function responseRoutes(
  app: Hono,
  { responses, store, catalog, maxBodyBytes, onFault, log }: ResponseServices,
): void {
  const isIncludable = createIncludeValidator(catalog);
  const readInclude = (request: HonoRequest): ReadonlySet<string> => {
    const values = readQueryList(request, "include");
    assertValid(isIncludable, values, "include");
    return new Set(values);
  };
  app.post("/v1/responses", async (context) => {
    const { raw } = context.req;
    try {
      checkQuery(context.req);
      const body = await readJsonBody(raw, maxBodyBytes);
      const started = responses.start(body, readCodeTimeout(context.req.header(CODE_TIMEOUT)));
      if (started.request.stream)
        return await respondWithStream(context, started, { responses, catalog, onFault, log });
      const response = await responses.finish(started, raw.signal);
      log?.addAnswer(raw, response);
      const headers = started.usage.reported ? RESPONSE_HEADERS : ESTIMATED_HEADERS;
      return new BufferedResponse(JSON.stringify(response), headers);
    } catch (error) {
      setRateLimitHeaders(context);
      throw error;
    }
  });
  app.get("/v1/responses", (context) => {
    const isSocket = context.req.header("upgrade")?.toLowerCase() === "websocket";
    throw isSocket
      ? new ApiProblem(426, UPGRADE_REMEDY, { headers: { upgrade: "websocket" } })
      : new ApiProblem(405, "Not allowed to GET on /v1/responses. Use POST.");
  });
  app.get("/v1/responses/:id", (context) => {
    const id = context.req.param("id");
    checkQuery(context.req, "include[]", "include_obfuscation", "starting_after", "stream");
    for (const flag of ["stream", "include_obfuscation"]) readQueryFlag(context.req, flag);
    readQueryInteger(context.req, "starting_after", { min: 0 });
    const found = store.get(id);
    if (!found) throw notFound("Response", id);
    return context.json(toShownResponse(found, catalog));
  });
  app.delete("/v1/responses/:id", (context) => {
    checkQuery(context.req);
    const id = context.req.param("id");
    if (!store.delete(id)) throw notFound("Response", id);
    return context.json({ id, object: "response", deleted: true });
  });
  app.post("/v1/responses/:id/cancel", (context) => {
    checkQuery(context.req);
    const id = context.req.param("id");
    if (!store.has(id)) throw notFound("Response", id);
    throw new ApiProblem(400, "Only responses with background=true can be cancelled.");
  });
  app.get("/v1/responses/:id/input_items", (context) => {
    const id = context.req.param("id");
    const query = readListQuery(context.req, ["include[]"]);
    if (!store.has(id)) throw notFound("Response", id);
    const include = readInclude(context.req);
    const { items, hasMore } = store.readInput(id, query);
    const shown = items.map(({ item, id: itemId }) => ({
      ...toShownMessage(applyIncludes(item, include, catalog)),
      id: itemId,
    }));
    return context.json(toPage(shown, hasMore));
  });
}

const UPGRADE_REMEDY =
  "WebSockets are not available in process. Connect to the URL of provider.listen(), or use POST.";

const CODE_TIMEOUT = "x-wink-code-timeout-seconds";

/** Reads the client's time limit for one run of code, in milliseconds. The real API ignores the header. */
function readCodeTimeout(seconds: string | undefined): number | null {
  if (seconds === undefined) return null;
  if (/^[1-9]\d{0,14}$/.test(seconds)) return 1000 * Number(seconds);
  const message = `Invalid value for the header '${CODE_TIMEOUT}': must be an integer of at least 1, got ${quoteValue(seconds)}. Omit it for the provider's own limit.`;
  throw new ApiProblem(400, message, { param: CODE_TIMEOUT, code: "invalid_value" });
}

/** Converts a stored response to the object sent to the client, with the `include` values of its request. */
function toShownResponse(
  { response, include, output }: StoredResponse,
  catalog: ToolCatalog,
): WireItem {
  if (include === null) return response;
  return { ...response, output: output.map((item) => applyIncludes(item, include, catalog)) };
}

/** Converts a message to the form that `input_items` returns: with content parts and a status. */
function toShownMessage(item: WireItem): WireItem {
  const { type, role, content } = item;
  if (type !== "message") return item;
  const part = role === "assistant" ? "output_text" : "input_text";
  const parts = typeof content === "string" ? [{ type: part, text: content }] : content;
  return { status: "completed", ...item, content: parts };
}

const RESPONSE_HEADERS = { ...RATE_LIMIT_HEADERS, "content-type": "application/json" };
const STREAM_HEADERS = {
  ...RATE_LIMIT_HEADERS,
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
};
const ESTIMATED_HEADERS = { ...RESPONSE_HEADERS, ...USAGE_HEADER };

/** Streams events as they occur. An error before the first step runs is still an HTTP error. */
async function respondWithStream(
  context: Context,
  started: StartedResponse,
  { log, ...services }: StreamServices & Pick<ResponseServices, "log">,
): Promise<Response> {
  const { raw } = context.req;
  const body = new PacedBody(raw.signal);
  const { usage } = started;
  let isReported: boolean | null = null; // when the stream starts, as the headers say
  await streamResponse(started, services, {
    signal: body.signal,
    write(events) {
      isReported ??= usage.reported !== null;
      return body.write(events, formatEvent);
    },
    end(events) {
      if (isReported && !usage.reported) body.writeNow(USAGE_COMMENT);
      for (const event of events) {
        log?.addAnswer(raw, event);
        body.writeNow(formatEvent(event));
      }
      body.close();
    },
    abort(error) {
      if (error instanceof ConnectionDroppedError) body.abortWhenRead(error);
      else body.abort(error);
    },
  });
  const headers = { ...STREAM_HEADERS, ...createUsageHeader(usage) };
  return new Response(body.stream, { headers });
}
