import { getErrorMessage } from "../../base/errors.ts";
import { ApiProblem } from "../api-problem.ts";
import type { ChatCompletions } from "../chat/chat-completions.ts";
import { CompletionChunks, END_OF_CHUNKS, formatChunk } from "../chat/completion-chunks.ts";
import {
  createCompletionObject,
  createCompletionUsage,
  type StartedCompletion,
} from "../chat/completion-object.ts";
import { BufferedResponse } from "../http/buffered-response.ts";
import { checkQuery } from "../http/check-query.ts";
import { KEEP_ALIVE_COMMENT, PacedBody } from "../http/paced-body.ts";
import { RATE_LIMIT_HEADERS, setRateLimitHeaders } from "../http/rate-limit-headers.ts";
import { readJsonBody } from "../http/read-json-body.ts";
import type { RequestLog } from "../http/request-log.ts";
import type { RouteContext } from "../http/route-context.ts";
import type { RouteTable } from "../http/route-table.ts";
import { reportFault } from "../report-fault.ts";
import { ConnectionDroppedError } from "../turn/connection-dropped-error.ts";
import { createUsageHeader, USAGE_COMMENT } from "../turn/usage-header.ts";
import { completionStoreRoutes } from "./completion-store.ts";

/** Services of the chat completions route. */
export interface ChatServices {
  readonly completions: ChatCompletions;
  readonly maxBodyBytes: number;
  /** Called with unexpected errors that occur after a stream has started. */
  readonly onFault: (error: unknown) => void;
  readonly log: RequestLog | null;
}

/** `/v1/chat/completions` and its subresources, for clients that do not support the Responses API. */
export function chatCompletionRoutes(routes: RouteTable, services: ChatServices): void {
  const { completions, maxBodyBytes, log } = services;
  completionStoreRoutes(routes, { store: completions.store, maxBodyBytes });
  routes.post("/v1/chat/completions", async (context) => {
    const { raw } = context.req;
    try {
      checkQuery(context.req);
      const started = completions.start(await readJsonBody(raw, maxBodyBytes));
      if (started.request.stream) return await respondWithStream(context, started, services);
      const outcome = await completions.finish(started, raw.signal);
      const completion = createCompletionObject(started, outcome);
      log?.addAnswer(raw, completion);
      const headers = { ...JSON_HEADERS, ...createUsageHeader(started.usage) };
      return new BufferedResponse(JSON.stringify(completion), headers);
    } catch (error) {
      setRateLimitHeaders(context);
      throw error;
    }
  });
}

const JSON_HEADERS = { ...RATE_LIMIT_HEADERS, "content-type": "application/json" };
const STREAM_HEADERS = {
  ...RATE_LIMIT_HEADERS,
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
};

/**
 * Streams chunks as they occur. An error before the first step runs is still an HTTP error. The turn waits while
 * the client does not read, and ends if it disconnects.
 */
async function respondWithStream(
  context: RouteContext,
  started: StartedCompletion,
  { completions, onFault, log }: ChatServices,
): Promise<Response> {
  const { raw } = context.req;
  const body = new PacedBody(raw.signal);
  const chunks = new CompletionChunks(started);
  const { promise: begun, resolve: onBegun } = Promise.withResolvers<void>();
  const turn = completions.finish(started, body.signal, {
    async onBegin() {
      onBegun();
      body.keepAlive(completions.clock, () => KEEP_ALIVE_COMMENT);
      await body.write(chunks.createStart(), formatChunk);
    },
    onItem: (item) => body.write(chunks.createItem(item), formatChunk),
  });
  await Promise.race([begun, turn]);
  const { usage } = started;
  const isReported = usage.reported !== null || usage.isPending;
  turn.then(
    (outcome) => {
      log?.addAnswer(raw, { usage: createCompletionUsage(started, outcome) });
      if (isReported && !usage.reported) body.writeNow(USAGE_COMMENT);
      for (const chunk of chunks.createEnd(outcome)) body.writeNow(formatChunk(chunk));
      body.writeNow(END_OF_CHUNKS);
      body.close();
    },
    (error) => {
      if (body.signal.aborted && !(error instanceof ApiProblem)) return body.abort(error);
      if (error instanceof ConnectionDroppedError) return body.abortWhenRead(error);
      reportFault(error, onFault);
      const isProblem = error instanceof ApiProblem;
      const problem = isProblem ? error : new ApiProblem(500, getErrorMessage(error));
      log?.addAnswer(raw, problem.body);
      body.writeNow(formatChunk(problem.body));
      body.close();
    },
  );
  return new Response(body.stream, { headers: { ...STREAM_HEADERS, ...createUsageHeader(usage) } });
}
