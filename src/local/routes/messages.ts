import type { Context, Hono } from "hono";
import { getErrorMessage } from "../../base/errors.ts";
import { ApiProblem } from "../api-problem.ts";
import { BufferedResponse } from "../http/buffered-response.ts";
import { readJsonBody } from "../http/read-json-body.ts";
import type { Ids } from "../ids.ts";
import { formatMessageEvent, MessageWriter } from "../messages/message-events.ts";
import { createMessageObject } from "../messages/message-object.ts";
import type { FinishedBlock, StopReason } from "../messages/message-state.ts";
import type { Messages, StartedMessage } from "../messages/messages.ts";
import { ConnectionDroppedError } from "../turn/connection-dropped-error.ts";

/** Services of the Messages API routes. */
export interface MessageRouteServices {
  readonly messages: Messages;
  readonly ids: Ids;
  readonly maxBodyBytes: number;
  /** Called with unexpected errors that occur after a stream has started. */
  readonly onFault: (error: unknown) => void;
}

/** Anthropic's `/v1/messages`, and the health check that its clients send. */
export function messageRoutes(app: Hono, services: MessageRouteServices): void {
  const { messages, ids, maxBodyBytes } = services;
  app.post("/v1/messages", async (context) => {
    const body = await readJsonBody(context.req.raw, maxBodyBytes);
    const started = messages.start(body, { hasBetas: hasBetas(context) });
    return await (started.request.stream ? respondWithStream : respondWithMessage)(
      context,
      started,
      services,
    );
  });
  app.post("/v1/messages/count_tokens", async (context) => {
    const body = await readJsonBody(context.req.raw, maxBodyBytes);
    const options = { isCounting: true, hasBetas: hasBetas(context) };
    const { inputTokens } = messages.start(body, options);
    return createJsonResponse({ input_tokens: inputTokens }, ids);
  });
  app.get("/api/hello", () => createJsonResponse({ message: "hello" }, ids));
}

function hasBetas(context: Context): boolean {
  return context.req.header("anthropic-beta") !== undefined;
}

function createJsonResponse(body: object, ids: Ids): Response {
  const headers = { "content-type": "application/json", "request-id": ids.next("req_") };
  return new BufferedResponse(JSON.stringify(body), headers);
}

async function respondWithMessage(
  context: Context,
  started: StartedMessage,
  { messages, ids }: MessageRouteServices,
): Promise<Response> {
  const made: FinishedBlock[] = [];
  const blocks = messages.createBlocks(started, context.req.raw.signal);
  for (;;) {
    const next = await blocks.next();
    if (next.done)
      return createJsonResponse(
        createMessageObject({ ...started, blocks: made, stop: next.value }),
        ids,
      );
    made.push(next.value);
  }
}

/** Streams events as they occur. An error before the first block is still sent as an HTTP error. */
async function respondWithStream(
  context: Context,
  started: StartedMessage,
  { messages, ids, onFault }: MessageRouteServices,
): Promise<Response> {
  const disconnect = new AbortController();
  const signal = AbortSignal.any([context.req.raw.signal, disconnect.signal]);
  const blocks = messages.createBlocks(started, signal);
  const first = await blocks.next();
  const requestId = ids.next("req_");
  const encoder = new TextEncoder();
  let dropped: unknown = null;
  // Wait until the client has read the written events: an error would discard them.
  const failIfDrained = (controller: ReadableStreamDefaultController) => {
    if (dropped !== null && Number(controller.desiredSize) > 0) controller.error(dropped);
  };
  const writeEvents = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const writer = new MessageWriter(started, (event) =>
      controller.enqueue(encoder.encode(formatMessageEvent(event))),
    );
    writer.writeStart();
    try {
      writer.writeEnd(await writeBlocks(writer, first, blocks));
      controller.close();
    } catch (error) {
      if (signal.aborted && !(error instanceof ApiProblem)) return controller.error(error);
      if (error instanceof ConnectionDroppedError) {
        dropped = error;
        return failIfDrained(controller);
      }
      if (!(error instanceof ApiProblem)) onFault(error);
      const problem =
        error instanceof ApiProblem ? error : new ApiProblem(500, getErrorMessage(error));
      writer.writeProblem(problem, requestId);
      controller.close();
    }
  };
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => void writeEvents(controller),
    pull: (controller) => failIfDrained(controller),
    cancel: () => disconnect.abort(new Error("The client disconnected.")),
  });
  context.header("request-id", requestId);
  context.header("content-type", "text/event-stream; charset=utf-8");
  context.header("cache-control", "no-cache");
  return context.body(body);
}

async function writeBlocks(
  writer: MessageWriter,
  first: IteratorResult<FinishedBlock, StopReason>,
  blocks: AsyncGenerator<FinishedBlock, StopReason, undefined>,
): Promise<StopReason> {
  let next = first;
  while (!next.done) {
    writer.writeBlock(next.value);
    next = await blocks.next();
  }
  return next.value;
}
