import type { Clock } from "../../base/clock.ts";
import { getErrorMessage } from "../../base/errors.ts";
import { ApiProblem } from "../api-problem.ts";
import { BufferedResponse } from "../http/buffered-response.ts";
import { PacedBody } from "../http/paced-body.ts";
import { readJsonBody } from "../http/read-json-body.ts";
import type { RequestLog } from "../http/request-log.ts";
import type { RouteContext } from "../http/route-context.ts";
import type { RouteTable } from "../http/route-table.ts";
import type { Ids } from "../ids.ts";
import {
  createProblemEvent,
  formatMessageEvent,
  type MessageEvent,
  MessageEvents,
} from "../messages/message-events.ts";
import { createMessageObject } from "../messages/message-object.ts";
import { StreamProblem } from "../messages/message-problem.ts";
import type { FinishedBlock, MessageEnd } from "../messages/message-state.ts";
import type { Messages, StartedMessage } from "../messages/messages.ts";
import { reportFault } from "../report-fault.ts";
import { ConnectionDroppedError } from "../turn/connection-dropped-error.ts";
import { createUsageHeader, USAGE_COMMENT } from "../turn/usage-header.ts";

/** Services of the Messages API routes. */
export interface MessageRouteServices {
  readonly messages: Messages;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly maxBodyBytes: number;
  /** Called with unexpected errors that occur after a stream has started. */
  readonly onFault: (error: unknown) => void;
  readonly log: RequestLog | null;
}

/** Anthropic's `/v1/messages`, and the health check that its clients send. */
export function messageRoutes(routes: RouteTable, services: MessageRouteServices): void {
  const { messages, ids, maxBodyBytes } = services;
  routes.post("/v1/messages", async (context) => {
    const body = await readJsonBody(context.req.raw, maxBodyBytes);
    const started = messages.start(body, { betas: readBetas(context) });
    return await (started.request.stream ? respondWithStream : respondWithMessage)(
      context,
      started,
      services,
    );
  });
  routes.post("/v1/messages/count_tokens", async (context) => {
    const body = await readJsonBody(context.req.raw, maxBodyBytes);
    const options = { isCounting: true, betas: readBetas(context) };
    const { inputTokens, request } = messages.start(body, options);
    const edited = { context_management: { original_input_tokens: inputTokens } };
    const count = { input_tokens: inputTokens, ...(request.listsEdits ? edited : {}) };
    return createJsonResponse(count, ids);
  });
  routes.get("/api/hello", () => createJsonResponse({ message: "hello" }, ids));
}

/** Returns the names of the betas that the client asks for. */
function readBetas(context: RouteContext): readonly string[] {
  return (
    context.req
      .header("anthropic-beta")
      ?.split(",")
      .map((name) => name.trim()) ?? []
  );
}

function createJsonResponse(
  body: object,
  ids: Ids,
  more: Readonly<Record<string, string>> = {},
): Response {
  const headers = { "content-type": "application/json", "request-id": ids.next("req_"), ...more };
  return new BufferedResponse(JSON.stringify(body), headers);
}

async function respondWithMessage(
  context: RouteContext,
  started: StartedMessage,
  { messages, ids, log }: MessageRouteServices,
): Promise<Response> {
  const { raw } = context.req;
  const made: FinishedBlock[] = [];
  const blocks = messages.createBlocks(started, raw.signal);
  for (;;) {
    const next = await blocks.next();
    if (next.done) {
      const message = createMessageObject({ ...started, blocks: made, stop: next.value });
      log?.addAnswer(raw, message);
      return createJsonResponse(message, ids, createUsageHeader(started.usage));
    }
    made.push(next.value);
  }
}

/**
 * Streams events as they occur. An error before the first block is still an HTTP error. The message waits while
 * the client does not read, and ends if it disconnects.
 */
async function respondWithStream(
  context: RouteContext,
  started: StartedMessage,
  services: MessageRouteServices,
): Promise<Response> {
  const { raw } = context.req;
  const body = new PacedBody(raw.signal);
  const blocks = services.messages.createBlocks(started, body.signal);
  const first = blocks.next();
  await waitForFirst(first, services.clock);
  const requestId = services.ids.next("req_");
  const { usage } = started;
  const isReported = usage.reported !== null || usage.isPending;
  const end = (...events: readonly MessageEvent[]) => {
    if (isReported && !usage.reported) body.writeNow(USAGE_COMMENT);
    for (const event of events) {
      services.log?.addAnswer(raw, event);
      body.writeNow(formatMessageEvent(event));
    }
    body.close();
  };
  body.keepAlive(services.clock, () => PING);
  writeBlocks(body, new MessageEvents(started), { first, blocks }).then(
    (events) => end(...events),
    (error) => {
      if (body.signal.aborted && !(error instanceof ApiProblem)) return body.abort(error);
      if (error instanceof ConnectionDroppedError) return body.abortWhenRead(error);
      reportFault(error, services.onFault);
      const problem =
        error instanceof ApiProblem ? error : new ApiProblem(500, getErrorMessage(error));
      end(createProblemEvent(problem, requestId));
    },
  );
  const headers = {
    ...createUsageHeader(usage),
    "request-id": requestId,
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
  };
  return new Response(body.stream, { headers });
}

/** Waits until a message has begun, for ten seconds at most: then the stream begins without a block. */
async function waitForFirst(first: Promise<unknown>, clock: Clock): Promise<void> {
  const begun = new AbortController();
  const timeout = clock.sleep(BEGIN_AFTER_MS, begun.signal, { background: true }).catch(() => {}); // it has begun
  try {
    await Promise.race([first, timeout]);
  } catch (error) {
    if (!(error instanceof StreamProblem)) throw error;
  } finally {
    begun.abort();
  }
}

const BEGIN_AFTER_MS = 10_000;

const PING = formatMessageEvent({ type: "ping" });

/** Writes all blocks. Returns the events that end the stream. */
async function writeBlocks(
  body: PacedBody,
  events: MessageEvents,
  {
    first,
    blocks,
  }: {
    readonly first: Promise<IteratorResult<FinishedBlock, MessageEnd>>;
    readonly blocks: AsyncGenerator<FinishedBlock, MessageEnd, undefined>;
  },
): Promise<Iterable<MessageEvent>> {
  await body.write(events.createStart(), formatMessageEvent);
  let next = await first;
  while (!next.done) {
    await body.write(events.createBlock(next.value), formatMessageEvent);
    next = await blocks.next();
  }
  return events.createEnd(next.value);
}
