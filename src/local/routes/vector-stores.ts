import { isPlainObject } from "../../base/freeze.ts";
import { readNumber, readRecord, readStrings, type UnknownRecord } from "../../base/json.ts";
import { ApiProblem, invalidType, invalidValue } from "../api-problem.ts";
import { checkQuery, readListQuery } from "../http/check-query.ts";
import { readJsonBody } from "../http/read-json-body.ts";
import type { RouteContext } from "../http/route-context.ts";
import type { RouteRequest } from "../http/route-request.ts";
import type { RouteTable } from "../http/route-table.ts";
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

/** `/v1/vector_stores`, their files and their batches. */
export function vectorStoreRoutes(routes: RouteTable, stores: VectorStores): void {
  routes.post("/v1/vector_stores", async (context) => {
    const body = await readValidBody(context.req, newStoreValidator);
    const created = stores.create({
      name: toStringOrNull(body["name"]),
      description: toStringOrNull(body["description"]),
      expiresDays: readExpiryDays(body) ?? null,
      metadata: readRecord(body, "metadata"),
      fileIds: readStrings(body, "file_ids"),
      sizes: readChunkSizes(body),
    });
    return context.json(created);
  });
  routes.get("/v1/vector_stores", (context) =>
    context.json(stores.list(readListQuery(context.req))),
  );
  routes.get("/v1/vector_stores/:store", (context) => {
    checkQuery(context.req);
    return context.json(stores.get(readStoreId(context)));
  });
  routes.post("/v1/vector_stores/:store", async (context) => {
    const body = await readValidBody(context.req, storeChangeValidator);
    return context.json(stores.update(readStoreId(context), readStoreChange(body)));
  });
  routes.delete("/v1/vector_stores/:store", (context) => {
    checkQuery(context.req);
    stores.delete(readStoreId(context));
    return context.json({
      id: readStoreId(context),
      object: "vector_store.deleted",
      deleted: true,
    });
  });
  routes.post("/v1/vector_stores/:store/search", (context) => searchStore(stores, context));
  storeFileRoutes(routes, stores);
  batchRoutes(routes, stores);
}

async function searchStore(stores: VectorStores, context: RouteContext): Promise<Response> {
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

function storeFileRoutes(routes: RouteTable, { files }: VectorStores): void {
  const path = "/v1/vector_stores/:store/files";
  routes.post(path, async (context) => {
    const body = await readValidBody(context.req, newFileValidator);
    return context.json(files.attach(readStoreId(context), readStoreFile(body)));
  });
  routes.get(path, (context) => {
    const query = readListQuery(context.req, ["filter"]);
    return context.json(files.list(readStoreId(context), query, { filter: readFilter(context) }));
  });
  routes.get(`${path}/:file`, (context) => {
    checkQuery(context.req);
    return context.json(files.get(readStoreId(context), context.req.param("file")));
  });
  routes.post(`${path}/:file`, async (context) => {
    const body = await readValidBody(context.req, fileChangeValidator);
    return context.json(
      files.update(readStoreId(context), context.req.param("file"), readAttributes(body)),
    );
  });
  routes.delete(`${path}/:file`, (context) => {
    checkQuery(context.req);
    const id = context.req.param("file");
    files.remove(readStoreId(context), id);
    return context.json({ id, object: "vector_store.file.deleted", deleted: true });
  });
  routes.get(`${path}/:file/content`, (context) => {
    checkQuery(context.req);
    const text = files.getContent(readStoreId(context), context.req.param("file"));
    return context.json({
      object: "vector_store.file_content.page",
      data: [{ type: "text", text }],
      has_more: false,
      next_page: null,
    });
  });
}

function batchRoutes(routes: RouteTable, { files }: VectorStores): void {
  const path = "/v1/vector_stores/:store/file_batches";
  routes.post(path, async (context) => {
    const body = await readValidBody(context.req, newBatchValidator);
    return context.json(files.attachBatch(readStoreId(context), readBatch(body)));
  });
  routes.get(`${path}/:batch`, (context) => {
    checkQuery(context.req);
    return context.json(files.batch(readStoreId(context), context.req.param("batch")));
  });
  routes.post(`${path}/:batch/cancel`, (context) => {
    checkQuery(context.req);
    return context.json(files.cancelBatch(readStoreId(context), context.req.param("batch")));
  });
  routes.get(`${path}/:batch/files`, (context) => {
    const query = readListQuery(context.req, ["filter"]);
    const scope = { batchId: context.req.param("batch"), filter: readFilter(context) };
    return context.json(files.list(readStoreId(context), query, scope));
  });
}

/** Enough for 2,000 files with 16 attributes of 512 characters each. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

async function readValidBody(request: RouteRequest, shape: Validator): Promise<UnknownRecord> {
  checkQuery(request);
  const body = await readJsonBody(request.raw, MAX_BODY_BYTES);
  if (!isPlainObject(body)) throw invalidType("", "an object", body);
  assertValid(shape, body, "");
  return body;
}

function readStoreId(context: RouteContext): string {
  return context.req.param("store");
}

function readFilter(context: RouteContext): string | undefined {
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
