import type { Context, Hono } from "hono";
import { messageOf } from "../../base/errors.ts";
import type { WireItem } from "../../openai/wire.ts";
import { ApiProblem, notFound } from "../api-problem.ts";
import { jsonBody } from "../json-body.ts";
import { listPage, pageQuery } from "../list-page.ts";
import { Dropped } from "../responses/dropped.ts";
import { EventWriter, sse } from "../responses/events.ts";
import { withIncludes } from "../responses/includes.ts";
import { responseObject } from "../responses/response-object.ts";
import type { Begun, Responses } from "../responses/responses.ts";
import type { ResponseStore } from "../store/response-store.ts";

export interface ResponseServices {
  readonly responses: Responses;
  readonly store: ResponseStore;
  readonly maxBodyBytes: number;
  /** Told what must not happen and did, where an answer had begun. */
  readonly onFault: (error: unknown) => void;
}

/** `/v1/responses` and what hangs on one. */
export function responseRoutes(
  app: Hono,
  { responses, store, maxBodyBytes, onFault }: ResponseServices,
): void {
  app.post("/v1/responses", async (context) => {
    const { raw } = context.req;
    limits(context);
    const begun = responses.begin(await jsonBody(raw, maxBodyBytes));
    if (begun.request.stream) return streamed(context, begun, { responses, onFault });
    return context.json(await responses.finish(begun, raw.signal));
  });
  app.get("/v1/responses", (context) => {
    const isSocket = context.req.header("upgrade")?.toLowerCase() === "websocket";
    throw isSocket
      ? new ApiProblem(426, "WebSockets are not supported by this server: use POST.")
      : new ApiProblem(405, "Not allowed to GET on /v1/responses: use POST.");
  });
  app.get("/v1/responses/:id", (context) => {
    return context.json(stored(context.req.param("id"), store).response as WireItem);
  });
  app.delete("/v1/responses/:id", (context) => {
    const id = context.req.param("id");
    stored(id, store);
    store.delete(id);
    return context.json({ id, object: "response", deleted: true });
  });
  app.post("/v1/responses/:id/cancel", (context) => {
    stored(context.req.param("id"), store);
    throw new ApiProblem(400, "Only responses with background=true can be cancelled.");
  });
  app.get("/v1/responses/:id/input_items", (context) => {
    const { response, items } = stored(context.req.param("id"), store);
    const output = (response as WireItem)["output"];
    const count = items.length - (Array.isArray(output) ? output.length : 0);
    const include = new Set([
      ...(context.req.queries("include") ?? []),
      ...(context.req.queries("include[]") ?? []),
    ]);
    const shown = items
      .slice(0, count)
      .map((item, place) => inputItem({ ...item }, place, include));
    return context.json(
      listPage(
        shown,
        pageQuery((name) => context.req.query(name)),
      ),
    );
  });
}

/** What came without an id gets one, by its place. */
function inputItem(item: WireItem, place: number, include: ReadonlySet<string>) {
  const { id } = item;
  return {
    ...inputMessage(withIncludes(item, include)),
    id: typeof id === "string" ? id : `msg_${place}`,
  };
}

/** A message as it is shown: in parts, and done. */
function inputMessage(item: WireItem): WireItem {
  const { type, role, content } = item;
  if (type !== "message") return item;
  const part = role === "assistant" ? "output_text" : "input_text";
  const parts = typeof content === "string" ? [{ type: part, text: content }] : content;
  return { status: "completed", ...item, content: parts };
}

function stored(id: string, store: ResponseStore) {
  const found = store.get(id);
  if (found?.stored) return found;
  throw notFound("Response", id);
}

/** As the real API says them: only here and on compactions. */
export function limits(context: Context): void {
  for (const what of ["requests", "tokens"]) {
    context.header(`x-ratelimit-limit-${what}`, "1000000");
    context.header(`x-ratelimit-remaining-${what}`, "999999");
    context.header(`x-ratelimit-reset-${what}`, "1ms");
  }
}

/** Events as they come about. A client that goes away ends the turn. */
function streamed(
  context: Context,
  begun: Begun,
  { responses, onFault }: Pick<ResponseServices, "responses" | "onFault">,
): Response {
  const gone = new AbortController();
  const signal = AbortSignal.any([context.req.raw.signal, gone.signal]);
  const encoder = new TextEncoder();
  let dropped: unknown = null;
  // What was written is read first: an error would take it away.
  const endDropped = (controller: ReadableStreamDefaultController) => {
    if (dropped !== null && Number(controller.desiredSize) > 0) controller.error(dropped);
  };
  const run = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const writer = new EventWriter((event) => controller.enqueue(encoder.encode(sse(event))));
    writer.begin(begun.response);
    try {
      writer.end(await responses.finish(begun, signal, (item) => writer.item(item)));
      controller.close();
    } catch (error) {
      if (signal.aborted) return controller.error(error);
      if (error instanceof Dropped) {
        dropped = error;
        endDropped(controller);
        return;
      }
      if (!(error instanceof ApiProblem)) onFault(error);
      endFailed(writer, begun, error);
      controller.close();
    }
  };
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => void run(controller),
    pull: (controller) => endDropped(controller),
    cancel: () => gone.abort(new Error("the client has gone")),
  });
  context.header("content-type", "text/event-stream; charset=utf-8");
  context.header("cache-control", "no-cache");
  return context.body(body);
}

/** What goes wrong midway is an event, and then a response that failed. */
function endFailed(writer: EventWriter, { request, response }: Begun, error: unknown): void {
  const problem = error instanceof ApiProblem ? error : new ApiProblem(500, messageOf(error));
  writer.problem(problem);
  writer.end(
    responseObject({
      id: String(response["id"]),
      createdAt: Number(response["created_at"]),
      status: "failed",
      output: [],
      error: { code: problem.code ?? "server_error", message: problem.message },
      echo: request.echo,
    }),
  );
}
