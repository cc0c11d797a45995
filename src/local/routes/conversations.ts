import { isPlainObject } from "../../base/freeze.ts";
import type { UnknownRecord } from "../../base/json.ts";
import type { StoredConversation } from "../conversations/conversation-store.ts";
import { checkQuery, readQueryList } from "../http/check-query.ts";
import { readValidBody } from "../http/read-valid-body.ts";
import type { RouteRequest } from "../http/route-request.ts";
import type { RouteTable } from "../http/route-table.ts";
import { applyIncludes } from "../responses/check/apply-includes.ts";
import { createIncludeValidator } from "../responses/check/body.ts";
import { createConversationValidators } from "../responses/check/conversation-validators.ts";
import { toItems } from "../responses/check/request.ts";
import type { NamedConversations } from "../responses/conversation/named-conversations.ts";
import { toListedItem } from "../responses/to-listed-item.ts";
import { readPageQuery, toPage } from "../store/paging.ts";
import type { SerializedItem } from "../store/serialized-item.ts";
import type { ToolCatalog } from "../tools/tool-catalog.ts";
import { assertValid, type Validator } from "../validators/validator.ts";

/** Services of the conversation routes. */
export interface ConversationServices {
  readonly conversations: NamedConversations;
  readonly catalog: ToolCatalog;
  readonly maxBodyBytes: number;
}

/** `/v1/conversations` and their items. */
export function conversationRoutes(routes: RouteTable, services: ConversationServices): void {
  const { conversations, catalog, maxBodyBytes } = services;
  const validators = createConversationValidators(catalog);
  const readBody = (request: Request, validator: Validator, emptyBody?: UnknownRecord) =>
    readValidBody(request, validator, { maxBytes: maxBodyBytes, emptyBody });
  routes.post("/v1/conversations", async (context) => {
    checkQuery(context.req);
    const body = await readBody(context.req.raw, validators.create, {});
    const created = conversations.create(readMetadata(body), toItems(body["items"]));
    return context.json(toWireConversation(created));
  });
  routes.get("/v1/conversations/:id", (context) => {
    checkQuery(context.req);
    return context.json(toWireConversation(conversations.find(context.req.param("id"))));
  });
  routes.post("/v1/conversations/:id", async (context) => {
    checkQuery(context.req);
    const body = await readBody(context.req.raw, validators.update);
    const updated = conversations.update(context.req.param("id"), readMetadata(body));
    return context.json(toWireConversation(updated));
  });
  routes.delete("/v1/conversations/:id", (context) => {
    checkQuery(context.req);
    const id = context.req.param("id");
    conversations.delete(id);
    return context.json({ id, object: "conversation.deleted", deleted: true });
  });
  itemRoutes(routes, services, (request) => readBody(request, validators.addItems));
}

function itemRoutes(
  routes: RouteTable,
  { conversations, catalog }: ConversationServices,
  readNewItems: (request: Request) => Promise<UnknownRecord>,
): void {
  const isIncludable = createIncludeValidator(catalog);
  /** Reads the parameter `include`. Returns a function that converts items to the form for the client. */
  const createView = (request: RouteRequest) => {
    const values = readQueryList(request, "include");
    assertValid(isIncludable, values, "include");
    const include = new Set(values);
    return ({ item }: SerializedItem) => ({
      ...toListedItem(applyIncludes(item, include, catalog)),
      id: String(item["id"]),
    });
  };
  const path = "/v1/conversations/:id/items";
  routes.post(path, async (context) => {
    checkQuery(context.req, "include[]");
    const toShown = createView(context.req);
    const body = await readNewItems(context.req.raw);
    const added = conversations.addItems(context.req.param("id"), toItems(body["items"]));
    return context.json(toPage(added.map(toShown), false));
  });
  routes.get(path, (context) => {
    checkQuery(context.req, "limit", "order", "after", "include[]");
    const query = readPageQuery((name) => context.req.query(name));
    const toShown = createView(context.req);
    const { items, hasMore } = conversations.readPage(context.req.param("id"), query);
    return context.json(toPage(items.map(toShown), hasMore));
  });
  routes.get(`${path}/:item`, (context) => {
    checkQuery(context.req, "include[]");
    const [id, item] = [context.req.param("id"), context.req.param("item")];
    const toShown = createView(context.req);
    return context.json(toShown(conversations.findItem(id, item)));
  });
  routes.delete(`${path}/:item`, (context) => {
    checkQuery(context.req);
    const [id, item] = [context.req.param("id"), context.req.param("item")];
    return context.json(toWireConversation(conversations.deleteItem(id, item)));
  });
}

function readMetadata({ metadata }: UnknownRecord): StoredConversation["metadata"] {
  return isPlainObject(metadata) ? metadata : {};
}

function toWireConversation({ id, createdAt, metadata }: StoredConversation) {
  return { id, object: "conversation", created_at: createdAt, metadata };
}
