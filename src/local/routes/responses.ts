import type { Context, Hono } from "hono";
import { messageOf } from "../../base/errors.ts";
import type { WireItem } from "../../openai/wire.ts";
import { ApiProblem, notFound } from "../api-problem.ts";
import { jsonBody } from "../http/json-body.ts";
import { WholeResponse } from "../http/whole-response.ts";
import { withIncludes } from "../responses/check/includes.ts";
import { EventWriter, sse } from "../responses/events/events.ts";
import { responseObject } from "../responses/response-object.ts";
import type { Begun, Responses } from "../responses/responses.ts";
import { pageQuery, toPage } from "../store/paging.ts";
import type { ResponseStore, StoredResponse } from "../store/response-store.ts";
import type { ToolCatalog } from "../tools/tool-catalog.ts";
import { Dropped } from "../turn/dropped.ts";

export interface ResponseServices {
  readonly responses: Responses;
  readonly store: ResponseStore;
  readonly catalog: ToolCatalog;
  readonly maxBodyBytes: number;
  /** Told what must not happen and did, where an answer had begun. */
  readonly onFault: (error: unknown) => void;
}

/** `/v1/responses` and what hangs on one. */
export function responseRoutes(
  app: Hono,
  { responses, store, catalog, maxBodyBytes, onFault }: ResponseServices,
): void {
  app.post("/v1/responses", async (context) => {
    const { raw } = context.req;
    try {
      const begun = responses.begin(await jsonBody(raw, maxBodyBytes));
      if (begun.request.stream) return streamed(context, begun, { responses, catalog, onFault });
      const response = await responses.finish(begun, raw.signal);
      return new WholeResponse(JSON.stringify(response), ANSWERED);
    } catch (error) {
      limits(context);
      throw error;
    }
  });
  app.get("/v1/responses", (context) => {
    const isSocket = context.req.header("upgrade")?.toLowerCase() === "websocket";
    throw isSocket
      ? new ApiProblem(426, "WebSockets are not supported by this server: use POST.")
      : new ApiProblem(405, "Not allowed to GET on /v1/responses: use POST.");
  });
  app.get("/v1/responses/:id", (context) => {
    const id = context.req.param("id");
    const found = store.get(id);
    if (!found) throw notFound("Response", id);
    return context.json(asAnswered(found, catalog));
  });
  app.delete("/v1/responses/:id", (context) => {
    const id = context.req.param("id");
    if (!store.delete(id)) throw notFound("Response", id);
    return context.json({ id, object: "response", deleted: true });
  });
  app.post("/v1/responses/:id/cancel", (context) => {
    const id = context.req.param("id");
    if (!store.has(id)) throw notFound("Response", id);
    throw new ApiProblem(400, "Only responses with background=true can be cancelled.");
  });
  app.get("/v1/responses/:id/input_items", (context) => {
    const id = context.req.param("id");
    if (!store.has(id)) throw notFound("Response", id);
    const include = new Set([
      ...(context.req.queries("include") ?? []),
      ...(context.req.queries("include[]") ?? []),
    ]);
    const query = pageQuery((name) => context.req.query(name));
    const { items, hasMore } = store.input(id, query);
    const shown = items.map(({ item, id: itemId }) => ({
      ...inputMessage(withIncludes(item, include, catalog)),
      id: itemId,
    }));
    return context.json(toPage(shown, hasMore));
  });
}

/** With the output as the client asked to see it. */
function asAnswered({ response, include, output }: StoredResponse, catalog: ToolCatalog): WireItem {
  if (include === null) return response;
  return { ...response, output: output.map((item) => withIncludes(item, include, catalog)) };
}

/** A message as it is shown: in parts, and done. */
function inputMessage(item: WireItem): WireItem {
  const { type, role, content } = item;
  if (type !== "message") return item;
  const part = role === "assistant" ? "output_text" : "input_text";
  const parts = typeof content === "string" ? [{ type: part, text: content }] : content;
  return { status: "completed", ...item, content: parts };
}

/** As the real API says them: only here and on compactions. */
export function limits(context: Context): void {
  for (const [name, value] of Object.entries(LIMITS)) context.header(name, value);
}

const LIMITS = {
  "x-ratelimit-limit-requests": "1000000",
  "x-ratelimit-remaining-requests": "999999",
  "x-ratelimit-reset-requests": "1ms",
  "x-ratelimit-limit-tokens": "1000000",
  "x-ratelimit-remaining-tokens": "999999",
  "x-ratelimit-reset-tokens": "1ms",
};
const ANSWERED = { ...LIMITS, "content-type": "application/json" };

/** Events as they come about. A client that goes away ends the turn. */
function streamed(
  context: Context,
  begun: Begun,
  { responses, catalog, onFault }: Pick<ResponseServices, "responses" | "catalog" | "onFault">,
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
    const writer = new EventWriter(catalog, (event) =>
      controller.enqueue(encoder.encode(sse(event))),
    );
    writer.begin(begun.response);
    try {
      writer.end(await responses.finish(begun, signal, (item) => writer.item(item)));
      controller.close();
    } catch (error) {
      if (signal.aborted && !(error instanceof ApiProblem)) return controller.error(error);
      if (error instanceof Dropped) {
        dropped = error;
        endDropped(controller);
        return;
      }
      if (!(error instanceof ApiProblem)) onFault(error);
      writer.problem(toProblem(error));
      writer.end(failedResponse(begun, toProblem(error), catalog));
      controller.close();
    }
  };
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => void run(controller),
    pull: (controller) => endDropped(controller),
    cancel: () => gone.abort(new Error("the client has gone")),
  });
  limits(context);
  context.header("content-type", "text/event-stream; charset=utf-8");
  context.header("cache-control", "no-cache");
  return context.body(body);
}

function toProblem(error: unknown): ApiProblem {
  return error instanceof ApiProblem ? error : new ApiProblem(500, messageOf(error));
}

/** An error after the stream has begun is an event, followed by a response that failed. */
function failedResponse(
  { request, response }: Begun,
  { code, message }: ApiProblem,
  catalog: ToolCatalog,
): WireItem {
  return responseObject(
    {
      id: String(response["id"]),
      createdAt: Number(response["created_at"]),
      status: "failed",
      output: [],
      error: { code: code ?? "server_error", message },
      echo: request.echo,
    },
    catalog,
  );
}
