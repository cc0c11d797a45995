import type { Clock } from "../../base/clock.ts";
import { quoteValue } from "../../base/quote-value.ts";
import { ApiProblem } from "../api-problem.ts";
import { BufferedResponse } from "../http/buffered-response.ts";
import { checkQuery } from "../http/check-query.ts";
import { readHeader } from "../http/lazy-request.ts";
import { PacedBody } from "../http/paced-body.ts";
import { RATE_LIMIT_HEADERS, setRateLimitHeaders } from "../http/rate-limit-headers.ts";
import { readJsonBody } from "../http/read-json-body.ts";
import type { RequestLog } from "../http/request-log.ts";
import type { RouteContext } from "../http/route-context.ts";
import type { RouteTable } from "../http/route-table.ts";
import type { BackgroundResponses } from "../responses/background/background-responses.ts";
import { formatEvent } from "../responses/events/events.ts";
import { type StreamServices, streamResponse } from "../responses/events/stream-response.ts";
import type { ResponseRunner, StartedResponse } from "../responses/started-response.ts";
import type { ToolCatalog } from "../tools/tool-catalog.ts";
import { ConnectionDroppedError } from "../turn/connection-dropped-error.ts";
import { createUsageHeader, USAGE_COMMENT, USAGE_HEADER } from "../turn/usage-header.ts";
import { respondWithSteps, showSteps } from "./respond-with-steps.ts";

/** Services of the response routes. */
export interface ResponseServices {
  readonly responses: ResponseRunner;
  readonly background: BackgroundResponses;
  readonly catalog: ToolCatalog;
  readonly clock: Clock;
  readonly maxBodyBytes: number;
  /** Called with unexpected errors that occur after a stream has started. */
  readonly onFault: (error: unknown) => void;
  readonly log: RequestLog | null;
}

/** `/v1/responses`: creates responses. */
export function responseRoutes(
  routes: RouteTable,
  { responses, background, catalog, clock, maxBodyBytes, onFault, log }: ResponseServices,
): void {
  routes.post("/v1/responses", async (context) => {
    const { raw } = context.req;
    try {
      checkQuery(context.req);
      const body = await readJsonBody(raw, maxBodyBytes);
      const started = responses.start(body, readCodeTimeout(readHeader(raw, CODE_TIMEOUT)));
      if (started.request.background)
        return respondInBackground(context, started, { background, catalog, clock });
      if (started.request.stream)
        return await respondWithStream(context, started, {
          ...{ responses, catalog, clock, onFault, log },
        });
      const response = await responses.finish(started, raw.signal);
      log?.addAnswer(raw, response);
      const headers = started.usage.reported ? RESPONSE_HEADERS : ESTIMATED_HEADERS;
      return new BufferedResponse(JSON.stringify(response), headers);
    } catch (error) {
      setRateLimitHeaders(context);
      throw error;
    }
  });
  routes.get("/v1/responses", (context) => {
    const isSocket = context.req.header("upgrade")?.toLowerCase() === "websocket";
    throw isSocket
      ? new ApiProblem(426, UPGRADE_REMEDY, { headers: { upgrade: "websocket" } })
      : new ApiProblem(405, "Not allowed to GET on /v1/responses. Use POST.");
  });
}

const UPGRADE_REMEDY =
  "This request cannot be upgraded to a WebSocket. Connect a WebSocket client to the URL of provider.listen(), or use POST.";

const CODE_TIMEOUT = "x-wink-code-timeout-seconds";

/** Reads the client's time limit for one run of code, in milliseconds. The real API ignores the header. */
function readCodeTimeout(seconds: string | undefined): number | null {
  if (seconds === undefined) return null;
  if (/^[1-9]\d{0,14}$/.test(seconds)) return 1000 * Number(seconds);
  const message = `Invalid value for the header '${CODE_TIMEOUT}': must be an integer of at least 1, got ${quoteValue(seconds)}. Omit it for the provider's own limit.`;
  throw new ApiProblem(400, message, { param: CODE_TIMEOUT, code: "invalid_value" });
}

const RESPONSE_HEADERS = { ...RATE_LIMIT_HEADERS, "content-type": "application/json" };
const STREAM_HEADERS = {
  ...RATE_LIMIT_HEADERS,
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
};
const ESTIMATED_HEADERS = { ...RESPONSE_HEADERS, ...USAGE_HEADER };

/** Starts a response that runs without its connection. Its stream can be resumed. */
function respondInBackground(
  context: RouteContext,
  started: StartedResponse,
  { background, catalog, clock }: Pick<ResponseServices, "background" | "catalog" | "clock">,
): Response {
  const run = background.start(started);
  const { stream, include } = started.request;
  if (!stream) return new BufferedResponse(JSON.stringify(started.response), RESPONSE_HEADERS);
  const readShown = (signal: AbortSignal) => showSteps(run.readSteps(signal), include, catalog);
  return respondWithSteps(context, readShown, { catalog, clock, headers: RATE_LIMIT_HEADERS });
}

/** Streams events as they occur. An error before the first step runs is still an HTTP error. */
async function respondWithStream(
  context: RouteContext,
  started: StartedResponse,
  { log, clock, ...services }: StreamServices & Pick<ResponseServices, "clock" | "log">,
): Promise<Response> {
  const { raw } = context.req;
  const body = new PacedBody(raw.signal);
  const { usage } = started;
  let isReported: boolean | null = null; // when the stream starts, as the headers say
  await streamResponse(started, services, {
    signal: body.signal,
    write(events) {
      isReported ??= usage.reported !== null || usage.isPending;
      return body.write(events, formatEvent);
    },
    keepAlive: (create) => body.keepAlive(clock, () => formatEvent(create())),
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
