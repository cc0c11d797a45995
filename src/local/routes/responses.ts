import type { Context, Hono } from "hono";
import { messageOf } from "../../base/errors.ts";
import type { WireItem } from "../../openai/wire.ts";
import { ApiProblem, notFound } from "../api-problem.ts";
import { jsonBody } from "../json-body.ts";
import { Dropped } from "../responses/dropped.ts";
import { EventWriter, sse } from "../responses/events.ts";
import { responseObject } from "../responses/response-object.ts";
import type { Begun, Responses } from "../responses/responses.ts";
import type { ResponseStore } from "../store/response-store.ts";

export interface ResponseServices {
  readonly responses: Responses;
  readonly store: ResponseStore;
  readonly maxBodyBytes: number;
}

/** `/v1/responses` and what hangs on one. */
export function responseRoutes(
  app: Hono,
  { responses, store, maxBodyBytes }: ResponseServices,
): void {
  app.post("/v1/responses", async (context) => {
    const { raw } = context.req;
    limits(context);
    const begun = responses.begin(await jsonBody(raw, maxBodyBytes));
    if (begun.request.stream) return streamed(context, begun, responses);
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
    const data = items.slice(0, count).map((item, place) => ({ id: `item_${place}`, ...item }));
    if (context.req.query("order") !== "asc") data.reverse();
    const [first = null, last = null] = [data.at(0)?.id, data.at(-1)?.id];
    return context.json({ object: "list", data, first_id: first, last_id: last, has_more: false });
  });
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
function streamed(context: Context, begun: Begun, responses: Responses): Response {
  const gone = new AbortController();
  const signal = AbortSignal.any([context.req.raw.signal, gone.signal]);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const writer = new EventWriter((event) => controller.enqueue(encoder.encode(sse(event))));
      writer.begin(begun.response);
      try {
        writer.end(await responses.finish(begun, signal, (item) => writer.item(item)));
        controller.close();
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof Dropped) return controller.error(error);
        endFailed(writer, begun, error);
        controller.close();
      }
    },
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
