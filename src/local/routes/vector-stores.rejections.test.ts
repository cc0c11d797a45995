import { describe, expect, test } from "vitest";
import { serveStores } from "../../../tests/support/vector-store-server.ts";
import { defaultStore } from "../../../tests/support/vector-stores.ts";

describe("the vector stores API rejects", () => {
  const sizes = (max: unknown, overlap: unknown) => ({
    chunking_strategy: {
      type: "static",
      static: { max_chunk_size_tokens: max, chunk_overlap_tokens: overlap },
    },
  });
  const many = (count: number) => Array.from({ length: count }, (_, index) => `file-${index}`);

  test.each([
    ["POST /vector_stores", { nam: "x" }, 400, "Unknown parameter: 'nam'."],
    [
      "POST /vector_stores",
      { name: 1 },
      400,
      "Invalid type for 'name': expected a string, but got an integer instead.",
    ],
    [
      "POST /vector_stores",
      [],
      400,
      "Invalid type for '': expected an object, but got an array instead.",
    ],
    [
      "POST /vector_stores",
      { file_ids: ["file-none"] },
      404,
      "Files ['file-none'] were not found.",
    ],
    ["POST /vector_stores", { file_ids: many(501) }, 400, "Invalid 'file_ids': array too long."],
    [
      "POST /vector_stores",
      { expires_after: { anchor: "created_at", days: 1 } },
      400,
      "Invalid value: 'created_at'.",
    ],
    [
      "POST /vector_stores",
      { expires_after: { anchor: "last_active_at", days: 0 } },
      400,
      "Invalid 'expires_after.days': integer below minimum value.",
    ],
    [
      "POST /vector_stores",
      sizes(99, 0),
      400,
      "Invalid 'chunking_strategy.static.max_chunk_size_tokens': integer below minimum value.",
    ],
    [
      "POST /vector_stores",
      sizes(100, 51),
      400,
      "Invalid 'chunking_strategy.static.chunk_overlap_tokens': integer above maximum value. Expected a value <= 50, half of 'max_chunk_size_tokens', but got 51 instead.",
    ],
    [
      "POST /vector_stores",
      sizes("a", 0),
      400,
      "Invalid type for 'chunking_strategy.static.max_chunk_size_tokens'",
    ],
    ["POST /vector_stores", { metadata: { a: 1 } }, 400, "Invalid type for 'metadata.a'"],
    ["POST /vector_stores/$", { description: "x" }, 400, "Unknown parameter: 'description'."],
    [
      "GET /vector_stores?limit=101",
      undefined,
      400,
      "Invalid 'limit': integer above maximum value.",
    ],
    ["GET /vector_stores?order=up", undefined, 400, "Invalid value: 'up'."],
    ["GET /vector_stores/vs_none", undefined, 404, "Vector store with id 'vs_none' not found."],
    ["DELETE /vector_stores/vs_none", undefined, 404, "Vector store with id 'vs_none' not found."],
    ["POST /vector_stores/$/files", {}, 400, "Missing required parameter: 'file_id'."],
    [
      "POST /vector_stores/$/files",
      { file_id: "file-none" },
      404,
      "Files ['file-none'] were not found.",
    ],
    [
      "POST /vector_stores/$/files",
      { file_id: "f", attributes: { a: "x".repeat(513) } },
      400,
      "Invalid 'attributes.a': string too long.",
    ],
    ["GET /vector_stores/$/files?filter=new", undefined, 400, "Invalid value: 'new'."],
    [
      "GET /vector_stores/vs_none/files",
      undefined,
      404,
      "Vector store with id 'vs_none' not found.",
    ],
    [
      "GET /vector_stores/$/files/file-none",
      undefined,
      404,
      "No file found with id 'file-none' in vector store '$'.",
    ],
    [
      "GET /vector_stores/$/files/file-none/content",
      undefined,
      404,
      "No file found with id 'file-none' in vector store '$'.",
    ],
    ["POST /vector_stores/$/files/file-none", {}, 400, "Missing required parameter: 'attributes'."],
    [
      "POST /vector_stores/$/file_batches",
      {},
      400,
      "Exactly one of 'file_ids' and 'files' must be given.",
    ],
    [
      "POST /vector_stores/$/file_batches",
      { file_ids: ["a"], files: [{ file_id: "a" }] },
      400,
      "Exactly one of 'file_ids' and 'files' must be given.",
    ],
    [
      "POST /vector_stores/$/file_batches",
      { file_ids: [] },
      400,
      "Invalid 'file_ids': empty array.",
    ],
    [
      "POST /vector_stores/$/file_batches",
      { file_ids: many(2001) },
      400,
      "Invalid 'file_ids': array too long.",
    ],
    [
      "GET /vector_stores/$/file_batches/vsfb_none",
      undefined,
      404,
      "File batch with id 'vsfb_none' not found.",
    ],
    ["POST /vector_stores/$/search", {}, 400, "Missing required parameter: 'query'."],
    ["POST /vector_stores/$/search", { query: 1 }, 400, "Invalid type for 'query'"],
    ["POST /vector_stores/$/search", { query: [] }, 400, "Invalid 'query': empty array."],
    [
      "POST /vector_stores/$/search",
      { query: "x", max_num_results: 51 },
      400,
      "Invalid 'max_num_results': integer above maximum value.",
    ],
    [
      "POST /vector_stores/$/search",
      { query: "x", ranking_options: { score_threshold: 2 } },
      400,
      "Invalid 'ranking_options.score_threshold': decimal above maximum value.",
    ],
    [
      "POST /vector_stores/$/search",
      { query: "x", ranking_options: { ranker: "best" } },
      400,
      "Invalid value: 'best'.",
    ],
    [
      "POST /vector_stores/$/search",
      { query: "x", filters: { type: "eq", key: "a" } },
      400,
      "Missing required parameter: 'filters.value'.",
    ],
    [
      "POST /vector_stores/vs_none/search",
      { query: "x" },
      404,
      "Vector store with id 'vs_none' not found.",
    ],
  ])("%s %.80j", async (route, body, status, message) => {
    const { stores, send } = await serveStores();
    const { id } = stores.create(defaultStore);
    const got = await send(route.replace("$", id), body);
    expect(got.status).toBe(status);
    expect(got.answer.error.type).toBe("invalid_request_error");
    expect(got.answer.error.message).toContain(message.replace("$", id));
  });

  test("no valid weights of a hybrid search", async () => {
    const { client, send } = await serveStores();
    const { id } = await client.vectorStores.create({});
    const ranking_options = { hybrid_search: { embedding_weight: 1, text_weight: 0.5 } };
    expect(
      (await send(`POST /vector_stores/${id}/search`, { query: "x", ranking_options })).answer.data,
    ).toEqual([]);
  });
});
