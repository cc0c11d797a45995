import { type Context, Hono, type HonoRequest } from "hono";
import { isPlainObject } from "../../base/freeze.ts";
import { readNumber, readRecord, readStrings, type UnknownRecord } from "../../base/json.ts";
import { ApiProblem, invalidType, invalidValue } from "../api-problem.ts";
import { checkQuery, readListQuery } from "../http/check-query.ts";
import { readJsonBody } from "../http/read-json-body.ts";
import type { Attributes } from "../search/attribute-filter.ts";
import { type ChunkSizes, defaultChunkSizes } from "../search/split-into-chunks.ts";
import type { NewStoreFile } from "../search/store-files.ts";
import {
  fileChangeValidator,
  newBatchValidator,
  newFileValidator,
  newStoreValidator,
  searchValidator,
  storeChangeValidator,
} from "../search/store-validators.ts";
import type { VectorStoreChange, VectorStores } from "../search/vector-stores.ts";
import { assertValid, type Validator } from "../validators/validator.ts";

/** `/vector_stores` and everything below. Mount it under `/v1`. */
export function vectorStoreRoutes(stores: VectorStores): Hono {
  const app = new Hono();
  app.post("/vector_stores", async ({ req, json }) => {
    const body = await readValidBody(req, newStoreValidator);
    const created = stores.create({
      name: toStringOrNull(body["name"]),
      description: toStringOrNull(body["description"]),
      expiresDays: readExpiryDays(body) ?? null,
      metadata: readRecord(body, "metadata"),
      fileIds: readStrings(body, "file_ids"),
      sizes: readChunkSizes(body),
    });
    return json(created);
  });
  app.get("/vector_stores", ({ req, json }) => json(stores.list(readListQuery(req))));
  app.get("/vector_stores/:store", ({ req, json }) => {
    checkQuery(req);
    return json(stores.get(req.param("store")));
  });
  app.post("/vector_stores/:store", async ({ req, json }) => {
    const body = await readValidBody(req, storeChangeValidator);
    return json(stores.update(req.param("store"), readStoreChange(body)));
  });
  app.delete("/vector_stores/:store", ({ req, json }) => {
    checkQuery(req);
    stores.delete(req.param("store"));
    return json({ id: req.param("store"), object: "vector_store.deleted", deleted: true });
  });
  app.post("/vector_stores/:store/search", (context) => searchStore(stores, context));
  app.route("/vector_stores/:store/files", storeFileRoutes(stores));
  app.route("/vector_stores/:store/file_batches", batchRoutes(stores));
  return app;
}

async function searchStore(stores: VectorStores, context: Context): Promise<Response> {
  const body = await readValidBody(context.req, searchValidator);
  const { query } = body;
  const queries = typeof query === "string" ? [query] : readStrings(body, "query");
  const hits = stores.search({
    vectorStoreIds: [readStoreId(context)],
    query: queries,
    maxResults: readNumber(body, "max_num_results") ?? 10,
    filters: body["filters"] ?? null,
    scoreThreshold: readNumber(readRecord(body, "ranking_options"), "score_threshold") ?? 0,
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

function storeFileRoutes({ files }: VectorStores): Hono {
  const app = new Hono();
  app.post("/", async (context) => {
    const body = await readValidBody(context.req, newFileValidator);
    return context.json(files.attach(readStoreId(context), readStoreFile(body)));
  });
  app.get("/", (context) => {
    const query = readListQuery(context.req, ["filter"]);
    return context.json(files.list(readStoreId(context), query, { filter: readFilter(context) }));
  });
  app.get("/:file", (context) => {
    checkQuery(context.req);
    return context.json(files.get(readStoreId(context), context.req.param("file")));
  });
  app.post("/:file", async (context) => {
    const body = await readValidBody(context.req, fileChangeValidator);
    return context.json(
      files.update(readStoreId(context), context.req.param("file"), readAttributes(body)),
    );
  });
  app.delete("/:file", (context) => {
    checkQuery(context.req);
    const id = context.req.param("file");
    files.remove(readStoreId(context), id);
    return context.json({ id, object: "vector_store.file.deleted", deleted: true });
  });
  app.get("/:file/content", (context) => {
    checkQuery(context.req);
    const text = files.getContent(readStoreId(context), context.req.param("file"));
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
    const body = await readValidBody(context.req, newBatchValidator);
    return context.json(files.attachBatch(readStoreId(context), readBatch(body)));
  });
  app.get("/:batch", (context) => {
    checkQuery(context.req);
    return context.json(files.batch(readStoreId(context), context.req.param("batch")));
  });
  app.post("/:batch/cancel", (context) => {
    checkQuery(context.req);
    return context.json(files.cancelBatch(readStoreId(context), context.req.param("batch")));
  });
  app.get("/:batch/files", (context) => {
    const query = readListQuery(context.req, ["filter"]);
    const scope = { batchId: context.req.param("batch"), filter: readFilter(context) };
    return context.json(files.list(readStoreId(context), query, scope));
  });
  return app;
}

/** Enough for 2,000 files with 16 attributes of 512 characters each. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

async function readValidBody(request: HonoRequest, shape: Validator): Promise<UnknownRecord> {
  checkQuery(request);
  const body = await readJsonBody(request.raw, MAX_BODY_BYTES);
  if (!isPlainObject(body)) throw invalidType("", "an object", body);
  assertValid(shape, body, "");
  return body;
}

function readStoreId(context: Context): string {
  return String(context.req.param("store"));
}

function readFilter(context: Context): string | undefined {
  const known = ["in_progress", "completed", "failed", "cancelled"];
  const filter = context.req.query("filter");
  if (filter === undefined || known.includes(filter)) return filter;
  throw invalidValue("filter", filter, known);
}

function toStringOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function readExpiryDays(body: UnknownRecord): number | null | undefined {
  if (body["expires_after"] === undefined) return undefined;
  return readNumber(readRecord(body, "expires_after"), "days");
}

function readStoreChange(body: UnknownRecord): VectorStoreChange {
  const has = (key: string) => body[key] !== undefined;
  return {
    name: has("name") ? toStringOrNull(body["name"]) : undefined,
    expiresDays: readExpiryDays(body),
    metadata: has("metadata") ? readRecord(body, "metadata") : undefined,
  };
}

function readChunkSizes(body: UnknownRecord): ChunkSizes {
  const sizes = readRecord(readRecord(body, "chunking_strategy"), "static");
  return {
    maxTokens: readNumber(sizes, "max_chunk_size_tokens") ?? defaultChunkSizes.maxTokens,
    overlapTokens: readNumber(sizes, "chunk_overlap_tokens") ?? defaultChunkSizes.overlapTokens,
  };
}

function readAttributes(body: UnknownRecord): Attributes {
  return readRecord(body, "attributes") as Attributes; // already validated
}

function readStoreFile(body: UnknownRecord): NewStoreFile {
  return {
    fileId: String(body["file_id"]),
    attributes: readAttributes(body),
    sizes: readChunkSizes(body),
  };
}

/** `file_ids` share the attributes of the body; each entry of `files` has its own. */
function readBatch(body: UnknownRecord): readonly NewStoreFile[] {
  const { files } = body;
  if (Array.isArray(files) === (body["file_ids"] !== undefined))
    throw createExclusiveFieldsProblem();
  if (Array.isArray(files)) return files.filter(isPlainObject).map(readStoreFile);
  return readStrings(body, "file_ids").map((file_id) => readStoreFile({ ...body, file_id }));
}

function createExclusiveFieldsProblem(): ApiProblem {
  const message = "Exactly one of 'file_ids' and 'files' must be given.";
  return new ApiProblem(400, message, { param: "file_ids", code: "invalid_value" });
}
