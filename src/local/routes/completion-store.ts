import { readRecord } from "../../base/json.ts";
import { notFound } from "../api-problem.ts";
import type { CompletionStore, StoredCompletion } from "../chat/completion-store.ts";
import { checkQuery } from "../http/check-query.ts";
import { readValidBody } from "../http/read-valid-body.ts";
import type { RouteRequest } from "../http/route-request.ts";
import type { RouteTable } from "../http/route-table.ts";
import { metadata } from "../responses/check/common-fields.ts";
import { findPositionPage, type PageQuery, readPageQuery, toPage } from "../store/paging.ts";
import { object } from "../validators/validator.ts";

/** Services of the routes of stored completions. */
export interface CompletionStoreServices {
  readonly store: CompletionStore;
  readonly maxBodyBytes: number;
}

/** `/v1/chat/completions` and its subresources, for completions that were created with `store: true`. */
export function completionStoreRoutes(
  routes: RouteTable,
  { store, maxBodyBytes }: CompletionStoreServices,
): void {
  routes.get("/v1/chat/completions", (context) => {
    const { req } = context;
    const filters = readMetadataFilters(req);
    checkQuery(req, ...PAGE, "model", ...filters.map(({ name }) => name));
    const wanted = Object.fromEntries(filters.map(({ key, value }) => [key, value]));
    const filter = { model: req.query("model") ?? null, metadata: wanted };
    return context.json(store.list(filter, readAscendingQuery(req)));
  });
  routes.get("/v1/chat/completions/:id", (context) => {
    const { req } = context;
    checkQuery(req);
    return context.json(requireFound(store.get(req.param("id")), req));
  });
  routes.post("/v1/chat/completions/:id", async (context) => {
    const { req } = context;
    checkQuery(req);
    const body = await readValidBody(req.raw, updateBody, { maxBytes: maxBodyBytes });
    return context.json(
      requireFound(store.update(req.param("id"), readRecord(body, "metadata")), req),
    );
  });
  routes.delete("/v1/chat/completions/:id", (context) => {
    const { req } = context;
    checkQuery(req);
    const id = req.param("id");
    requireFound(store.delete(id) || null, req);
    return context.json({ id, object: "chat.completion.deleted", deleted: true });
  });
  routes.get("/v1/chat/completions/:id/messages", (context) => {
    const { req } = context;
    checkQuery(req, ...PAGE);
    const messages = requireFound(store.listMessages(req.param("id")), req);
    return context.json(toMessagePage(messages, readAscendingQuery(req)));
  });
}

const PAGE = ["limit", "order", "after"];
const updateBody = object({ metadata });

/** Reads the parameters of a page. Unlike other lists, these start with the oldest item. */
function readAscendingQuery(request: RouteRequest): PageQuery {
  return readPageQuery((name) => request.query(name) ?? (name === "order" ? "asc" : undefined));
}

/** Reads parameters such as `metadata[farm]=north`. */
function readMetadataFilters(request: RouteRequest) {
  return [...new Set(request.search.keys())].flatMap((name) => {
    const [, key] = /^metadata\[([^\]]+)\]$/.exec(name) ?? [];
    const value = request.query(name);
    return key === undefined || value === undefined ? [] : [{ name, key, value }];
  });
}

function requireFound<Found>(found: Found | null, request: RouteRequest): Found {
  if (found === null) throw notFound("Chat completion", request.param("id"));
  return found;
}

function toMessagePage(messages: readonly StoredCompletion[], query: PageQuery) {
  const places = new Map(messages.map(({ id }, place) => [id, [place]]));
  const { from, to, hasMore } = findPositionPage(
    { from: 0, to: messages.length },
    query,
    (id) => places.get(id) ?? [],
  );
  const page = messages.slice(from, to);
  return toPage(query.order === "asc" ? page : page.reverse(), hasMore);
}
