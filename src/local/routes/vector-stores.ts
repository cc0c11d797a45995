import { type Context, Hono } from "hono";
import { isPlainObject } from "../../base/freeze.ts";
import { numberAt, recordAt, textsAt, type UnknownRecord } from "../../base/reading.ts";
import { ApiProblem, invalidType, invalidValue } from "../api-problem.ts";
import { jsonBody } from "../http/json-body.ts";
import type { Attributes } from "../search/attribute-filter.ts";
import { type ChunkSizes, defaultSizes } from "../search/chunks.ts";
import {
  fileChangeShape,
  newBatchShape,
  newFileShape,
  newStoreShape,
  searchShape,
  storeChangeShape,
} from "../search/request-shapes.ts";
import type { NewStoreFile } from "../search/store-files.ts";
import type { VectorStoreChange, VectorStores } from "../search/vector-stores.ts";
import { pageQuery } from "../store/paging.ts";
import { assertShape, type Shape } from "../validators/shapes.ts";

/** `/vector_stores` and all below it, to be mounted under `/v1`. */
export function vectorStoreRoutes(stores: VectorStores): Hono {
  const app = new Hono();
  app.post("/vector_stores", async ({ req, json }) => {
    const body = await bodyOf(req.raw, newStoreShape);
    const created = stores.create({
      name: textOrNull(body["name"]),
      description: textOrNull(body["description"]),
      expiresDays: daysOf(body) ?? null,
      metadata: recordAt(body, "metadata"),
      fileIds: textsAt(body, "file_ids"),
      sizes: sizesOf(body),
    });
    return json(created);
  });
  app.get("/vector_stores", ({ req, json }) =>
    json(stores.list(pageQuery((name) => req.query(name)))),
  );
  app.get("/vector_stores/:store", ({ req, json }) => json(stores.get(req.param("store"))));
  app.post("/vector_stores/:store", async ({ req, json }) => {
    const body = await bodyOf(req.raw, storeChangeShape);
    return json(stores.update(req.param("store"), changeOf(body)));
  });
  app.delete("/vector_stores/:store", ({ req, json }) => {
    stores.delete(req.param("store"));
    return json({ id: req.param("store"), object: "vector_store.deleted", deleted: true });
  });
  app.post("/vector_stores/:store/search", (context) => search(stores, context));
  app.route("/vector_stores/:store/files", fileRoutes(stores));
  app.route("/vector_stores/:store/file_batches", batchRoutes(stores));
  return app;
}

async function search(stores: VectorStores, context: Context): Promise<Response> {
  const body = await bodyOf(context.req.raw, searchShape);
  const { query } = body;
  const queries = typeof query === "string" ? [query] : textsAt(body, "query");
  const hits = stores.search({
    vectorStoreIds: [storeOf(context)],
    query: queries,
    maxResults: numberAt(body, "max_num_results") ?? 10,
    filters: body["filters"] ?? null,
    scoreThreshold: numberAt(recordAt(body, "ranking_options"), "score_threshold") ?? 0,
  });
  return context.json({
    object: "vector_store.search_results.page",
    search_query: queries,
    data: hits.map(({ fileId, filename, score, attributes, text }) => ({
      file_id: fileId,
      filename,
      score,
      attributes,
      content: [{ type: "text", text }],
    })),
    has_more: false,
    next_page: null,
  });
}

function fileRoutes({ files }: VectorStores): Hono {
  const app = new Hono();
  app.post("/", async (context) => {
    const body = await bodyOf(context.req.raw, newFileShape);
    return context.json(files.attach(storeOf(context), fileOf(body)));
  });
  app.get("/", (context) => {
    const query = pageQuery((name) => context.req.query(name));
    return context.json(files.list(storeOf(context), query, { filter: filterOf(context) }));
  });
  app.get("/:file", (context) =>
    context.json(files.get(storeOf(context), context.req.param("file"))),
  );
  app.post("/:file", async (context) => {
    const body = await bodyOf(context.req.raw, fileChangeShape);
    return context.json(
      files.update(storeOf(context), context.req.param("file"), attributesOf(body)),
    );
  });
  app.delete("/:file", (context) => {
    const id = context.req.param("file");
    files.remove(storeOf(context), id);
    return context.json({ id, object: "vector_store.file.deleted", deleted: true });
  });
  app.get("/:file/content", (context) => {
    const text = files.content(storeOf(context), context.req.param("file"));
    return context.json({
      object: "vector_store.file_content.page",
      data: [{ type: "text", text }],
      has_more: false,
      next_page: null,
    });
  });
  return app;
}

function batchRoutes({ files }: VectorStores): Hono {
  const app = new Hono();
  app.post("/", async (context) => {
    const body = await bodyOf(context.req.raw, newBatchShape);
    return context.json(files.attachBatch(storeOf(context), batchOf(body)));
  });
  app.get("/:batch", (context) =>
    context.json(files.batch(storeOf(context), context.req.param("batch"))),
  );
  app.post("/:batch/cancel", (context) =>
    context.json(files.cancelBatch(storeOf(context), context.req.param("batch"))),
  );
  app.get("/:batch/files", (context) => {
    const query = pageQuery((name) => context.req.query(name));
    const scope = { batchId: context.req.param("batch"), filter: filterOf(context) };
    return context.json(files.list(storeOf(context), query, scope));
  });
  return app;
}

/** Ample for 2,000 files with 16 attributes of 512 characters each. */
const MOST_BODY_BYTES = 64 * 1024 * 1024;

async function bodyOf(request: Request, shape: Shape): Promise<UnknownRecord> {
  const body = await jsonBody(request, MOST_BODY_BYTES);
  if (!isPlainObject(body)) throw invalidType("", "an object", body);
  assertShape(shape, body, "");
  return body;
}

function storeOf(context: Context): string {
  return String(context.req.param("store"));
}

function filterOf(context: Context): string | undefined {
  const known = ["in_progress", "completed", "failed", "cancelled"];
  const filter = context.req.query("filter");
  if (filter === undefined || known.includes(filter)) return filter;
  throw invalidValue("filter", filter, known);
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function daysOf(body: UnknownRecord): number | null | undefined {
  if (body["expires_after"] === undefined) return undefined;
  return numberAt(recordAt(body, "expires_after"), "days");
}

function changeOf(body: UnknownRecord): VectorStoreChange {
  const has = (key: string) => body[key] !== undefined;
  return {
    name: has("name") ? textOrNull(body["name"]) : undefined,
    expiresDays: daysOf(body),
    metadata: has("metadata") ? recordAt(body, "metadata") : undefined,
  };
}

function sizesOf(body: UnknownRecord): ChunkSizes {
  const given = recordAt(recordAt(body, "chunking_strategy"), "static");
  return {
    maxTokens: numberAt(given, "max_chunk_size_tokens") ?? defaultSizes.maxTokens,
    overlapTokens: numberAt(given, "chunk_overlap_tokens") ?? defaultSizes.overlapTokens,
  };
}

function attributesOf(body: UnknownRecord): Attributes {
  return recordAt(body, "attributes") as Attributes; // their shape has been checked
}

function fileOf(body: UnknownRecord): NewStoreFile {
  return { fileId: String(body["file_id"]), attributes: attributesOf(body), sizes: sizesOf(body) };
}

/** `file_ids` share what is said beside them; each of `files` says its own. */
function batchOf(body: UnknownRecord): readonly NewStoreFile[] {
  const { files } = body;
  if (Array.isArray(files) === (body["file_ids"] !== undefined)) throw eitherOfBoth();
  if (Array.isArray(files)) return files.filter(isPlainObject).map(fileOf);
  return textsAt(body, "file_ids").map((file_id) => fileOf({ ...body, file_id }));
}

function eitherOfBoth(): ApiProblem {
  const message = "Exactly one of 'file_ids' and 'files' must be given.";
  return new ApiProblem(400, message, { param: "file_ids", code: "invalid_value" });
}
