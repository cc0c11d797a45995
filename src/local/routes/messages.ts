import type { Context, Hono } from "hono";
import { messageOf } from "../../base/errors.ts";
import { ApiProblem } from "../api-problem.ts";
import { jsonBody } from "../http/json-body.ts";
import { WholeResponse } from "../http/whole-response.ts";
import type { Ids } from "../ids.ts";
import { MessageWriter, sse } from "../messages/message-events.ts";
import { messageObject } from "../messages/message-object.ts";
import type { Ended, MadeBlock } from "../messages/message-state.ts";
import type { BegunMessage, Messages } from "../messages/messages.ts";
import { Dropped } from "../turn/dropped.ts";

export interface MessageRouteServices {
  readonly messages: Messages;
  readonly ids: Ids;
  readonly maxBodyBytes: number;
  /** Told what must not happen and did, where an answer had begun. */
  readonly onFault: (error: unknown) => void;
}

/** `/v1/messages` as Anthropic has it, and what its clients look for besides. */
export function messageRoutes(app: Hono, services: MessageRouteServices): void {
  const { messages, ids, maxBodyBytes } = services;
  app.post("/v1/messages", async (context) => {
    const body = await jsonBody(context.req.raw, maxBodyBytes);
    const begun = messages.begin(body, { hasBetas: hasBetas(context) });
    return await (begun.request.stream ? streamed : whole)(context, begun, services);
  });
  app.post("/v1/messages/count_tokens", async (context) => {
    const body = await jsonBody(context.req.raw, maxBodyBytes);
    const options = { isCounting: true, hasBetas: hasBetas(context) };
    const { inputTokens } = messages.begin(body, options);
    return answered({ input_tokens: inputTokens }, ids);
  });
  app.get("/api/hello", () => answered({ message: "hello" }, ids));
}

function hasBetas(context: Context): boolean {
  return context.req.header("anthropic-beta") !== undefined;
}

function answered(body: object, ids: Ids): Response {
  const headers = { "content-type": "application/json", "request-id": ids.next("req_") };
  return new WholeResponse(JSON.stringify(body), headers);
}

async function whole(
  context: Context,
  begun: BegunMessage,
  { messages, ids }: MessageRouteServices,
): Promise<Response> {
  const made: MadeBlock[] = [];
  const blocks = messages.blocks(begun, context.req.raw.signal);
  for (;;) {
    const next = await blocks.next();
    if (next.done) return answered(messageObject({ ...begun, made, ended: next.value }), ids);
    made.push(next.value);
  }
}

/** Events as they come about. What fails before the first block is still an answer of its own. */
async function streamed(
  context: Context,
  begun: BegunMessage,
  { messages, ids, onFault }: MessageRouteServices,
): Promise<Response> {
  const gone = new AbortController();
  const signal = AbortSignal.any([context.req.raw.signal, gone.signal]);
  const blocks = messages.blocks(begun, signal);
  const first = await blocks.next();
  const requestId = ids.next("req_");
  const encoder = new TextEncoder();
  let dropped: unknown = null;
  // What was written is read first: an error would take it away.
  const endDropped = (controller: ReadableStreamDefaultController) => {
    if (dropped !== null && Number(controller.desiredSize) > 0) controller.error(dropped);
  };
  const run = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const writer = new MessageWriter(begun, (event) =>
      controller.enqueue(encoder.encode(sse(event))),
    );
    writer.begin();
    try {
      writer.end(await written(writer, first, blocks));
      controller.close();
    } catch (error) {
      if (signal.aborted && !(error instanceof ApiProblem)) return controller.error(error);
      if (error instanceof Dropped) {
        dropped = error;
        return endDropped(controller);
      }
      if (!(error instanceof ApiProblem)) onFault(error);
      const problem = error instanceof ApiProblem ? error : new ApiProblem(500, messageOf(error));
      writer.problem(problem, requestId);
      controller.close();
    }
  };
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => void run(controller),
    pull: (controller) => endDropped(controller),
    cancel: () => gone.abort(new Error("the client has gone")),
  });
  context.header("request-id", requestId);
  context.header("content-type", "text/event-stream; charset=utf-8");
  context.header("cache-control", "no-cache");
  return context.body(body);
}

async function written(
  writer: MessageWriter,
  first: IteratorResult<MadeBlock, Ended>,
  blocks: AsyncGenerator<MadeBlock, Ended, undefined>,
): Promise<Ended> {
  let next = first;
  while (!next.done) {
    writer.block(next.value);
    next = await blocks.next();
  }
  return next.value;
}
