import { APIError } from "openai";
import { describe, expect, test } from "vitest";
import { serveStores } from "../../../tests/support/vector-store-server.ts";
import { birds } from "../../../tests/support/vector-stores.ts";

describe("the vector stores API with the official client", () => {
  test("creates, fills, searches and deletes a store", async () => {
    const { client, upload, send } = await serveStores();
    const store = await client.vectorStores.create({ name: "Birds", metadata: { of: "me" } });
    expect(store).toMatchObject({
      object: "vector_store",
      name: "Birds",
      status: "completed",
      metadata: { of: "me" },
    });
    const file = await client.vectorStores.files.createAndPoll(
      store.id,
      { file_id: upload("owl.md", birds["owl.md"]), attributes: { kind: "owl", year: 2024 } },
      { pollIntervalMs: 5 },
    );
    expect(file).toMatchObject({
      object: "vector_store.file",
      status: "completed",
      last_error: null,
    });
    const penguin = upload("penguin.txt", birds["penguin.txt"]);
    await client.vectorStores.files.createAndPoll(
      store.id,
      { file_id: penguin },
      { pollIntervalMs: 5 },
    );

    const page = await client.vectorStores.search(store.id, { query: "Who hunts mice at night?" });
    expect(page.object).toBe("vector_store.search_results.page");
    expect(page.data[0]).toMatchObject({
      file_id: file.id,
      filename: "owl.md",
      attributes: { kind: "owl", year: 2024 },
      content: [{ type: "text", text: birds["owl.md"] }],
    });
    const bare = await send(`POST /vector_stores/${store.id}/search`, { query: ["owls", "hens"] });
    expect(bare.answer).toMatchObject({
      search_query: ["owls", "hens"],
      has_more: false,
      next_page: null,
    });
    const filtered = await client.vectorStores.search(store.id, {
      query: ["birds", "owls"],
      filters: { type: "ne", key: "kind", value: "owl" },
      max_num_results: 5,
      ranking_options: { ranker: "auto", score_threshold: 0.0001 },
      rewrite_query: true,
    });
    expect(filtered.data.map(({ filename }) => filename)).toEqual(["penguin.txt"]);

    const updated = await client.vectorStores.files.update(penguin, {
      vector_store_id: store.id,
      attributes: { kind: "owl" },
    });
    expect(updated.attributes).toEqual({ kind: "owl" });
    const content = await client.vectorStores.files.content(penguin, { vector_store_id: store.id });
    expect(content.data).toEqual([{ type: "text", text: birds["penguin.txt"] }]);
    expect(await client.vectorStores.files.delete(penguin, { vector_store_id: store.id })).toEqual({
      id: penguin,
      object: "vector_store.file.deleted",
      deleted: true,
    });
    const renamed = await client.vectorStores.update(store.id, {
      name: "Owls",
      expires_after: { anchor: "last_active_at", days: 3 },
    });
    expect(renamed).toMatchObject({
      name: "Owls",
      metadata: { of: "me" },
      expires_at: renamed.created_at + 3 * 86_400,
    });
    expect(
      await client.vectorStores.update(store.id, {
        name: null,
        expires_after: null,
        metadata: null,
      }),
    ).toMatchObject({
      name: null,
      expires_after: null,
      expires_at: null,
      metadata: {},
    });
    expect(await client.vectorStores.delete(store.id)).toEqual({
      id: store.id,
      object: "vector_store.deleted",
      deleted: true,
    });
    await expect(client.vectorStores.retrieve(store.id)).rejects.toThrow(
      `404 Vector store with id '${store.id}' not found.`,
    );
  });

  test("attaches a batch and lists its files by status", async () => {
    const { client, upload, stores } = await serveStores();
    const store = await client.vectorStores.create({});
    const file_ids = [upload("owl.md", birds["owl.md"]), upload("a.png", "x")];
    const batch = await client.vectorStores.fileBatches.createAndPoll(
      store.id,
      { file_ids, attributes: { a: 1 } },
      { pollIntervalMs: 5 },
    );
    expect(batch).toMatchObject({
      object: "vector_store.file_batch",
      status: "completed",
      file_counts: { in_progress: 0, completed: 1, failed: 1, cancelled: 0, total: 2 },
    });
    const failed = await client.vectorStores.fileBatches.listFiles(batch.id, {
      vector_store_id: store.id,
      filter: "failed",
    });
    expect(failed.data).toMatchObject([
      { id: file_ids[1], attributes: { a: 1 }, last_error: { code: "unsupported_file" } },
    ]);
    const files = [
      { file_id: upload("b.txt", "b"), attributes: { b: 2 } },
      { file_id: upload("c.txt", "c") },
    ];
    const second = await client.vectorStores.fileBatches.create(store.id, { files });
    const cancelled = await client.vectorStores.fileBatches.cancel(second.id, {
      vector_store_id: store.id,
    });
    expect(cancelled).toMatchObject({
      status: "cancelled",
      file_counts: { cancelled: 2, total: 2 },
    });
    await stores.waitUntilIdle();
    const all = [];
    for await (const file of client.vectorStores.files.list(store.id, { limit: 1, order: "asc" }))
      all.push(file.status);
    expect(all).toEqual(["completed", "failed", "cancelled", "cancelled"]);
  });

  test("lists all stores page by page in both orders", async () => {
    const { client, send } = await serveStores();
    const names = ["a", "b", "c", "d", "e"];
    for (const name of names) await client.vectorStores.create({ name });
    const listed = [];
    for await (const { name } of client.vectorStores.list({ limit: 2 })) listed.push(name);
    expect(listed).toEqual(names.toReversed());
    const { answer } = await send("GET /vector_stores?order=asc&limit=2");
    expect(answer).toMatchObject({
      object: "list",
      has_more: true,
      first_id: answer.data[0].id,
      last_id: answer.data[1].id,
    });
    const after = await send(`GET /vector_stores?order=asc&limit=2&after=${answer.last_id}`);
    expect(after.answer.data.map((one: { name: string }) => one.name)).toEqual(["c", "d"]);
    const before = await send(
      `GET /vector_stores?order=asc&limit=1&before=${after.answer.last_id}`,
    );
    expect(before.answer.data.map((one: { name: string }) => one.name)).toEqual(["c"]);
    expect((await send("GET /vector_stores?after=vs_none")).answer.error.message).toBe(
      "Invalid 'after': no item with id 'vs_none' is in this list.",
    );
  });

  test("splits files with the requested chunk sizes", async () => {
    const { client, upload, stores } = await serveStores();
    const chunking_strategy = {
      type: "static",
      static: { max_chunk_size_tokens: 100, chunk_overlap_tokens: 0 },
    } as const;
    const file = upload("a.txt", "owls hoot ".repeat(100));
    const store = await client.vectorStores.create({ file_ids: [file], chunking_strategy });
    await stores.waitUntilIdle();
    expect(
      (await client.vectorStores.files.retrieve(file, { vector_store_id: store.id }))
        .chunking_strategy,
    ).toEqual(chunking_strategy);
    expect((await client.vectorStores.search(store.id, { query: "owls" })).data).toHaveLength(3);
    const auto = await client.vectorStores.files.create(store.id, {
      file_id: file,
      chunking_strategy: { type: "auto" },
    });
    expect(auto.chunking_strategy).toMatchObject({
      static: { max_chunk_size_tokens: 800, chunk_overlap_tokens: 400 },
    });
  });

  test("returns OpenAI's errors", async () => {
    const { client } = await serveStores();
    const error = await client.vectorStores.files
      .create("vs_none", { file_id: "file-1" })
      .catch((it) => it);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ status: 404, type: "invalid_request_error" });
  });
});
