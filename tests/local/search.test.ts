import { describe, expect, test } from "vitest";
import type { WireItem } from "../../src/openai/wire.ts";
import {
  createFolder,
  createVectorStore,
  findItem,
  readAnnotations,
  readOutput,
  startProviderFixture,
} from "../support/local/provider-fixture.ts";

const files = {
  "owls.md": { text: "Owls hunt at night.", attributes: { kind: "bird", legs: 2 } },
  "cats.md": { text: "Cats hunt at night too.", attributes: { kind: "cat", legs: 4 } },
};

describe("a file search", () => {
  test("finds passages that the answer cites", async () => {
    const on = await startProviderFixture([
      [{ search: "hunt" }],
      [{ say: "At night.", citations: [{ hit: 0 }, { hit: 1, at: [3, 8] }, { hit: 9 }] }],
    ]);
    const { id, fileIds } = await createVectorStore(on, files);
    const tools = [{ type: "file_search", vector_store_ids: [id] }];
    const include = ["file_search_call.results"];
    const response = await on.respond({ input: "Hi.", tools, include });
    const results = findItem(response, "file_search_call")["results"] as readonly WireItem[];
    expect(results.map((one) => one["file_id"]).toSorted()).toEqual(fileIds.toSorted());
    expect(readAnnotations(response)).toMatchObject([
      { type: "file_citation", file_id: results[0]?.["file_id"], index: 9 },
      { type: "file_citation", file_id: results[1]?.["file_id"], index: 3 },
    ]);
  });

  test("respects the tool's filters and limit, and hides its results", async () => {
    const on = await startProviderFixture((request) =>
      request.items.some((item) => "queries" in item) ? [{ say: "." }] : [{ search: "hunt" }],
    );
    const { id } = await createVectorStore(on, files);
    const searchFor = async (
      more: object,
      include: readonly string[] = ["file_search_call.results"],
    ) => {
      const tools = [{ type: "file_search", vector_store_ids: [id], ...more }];
      const response = await on.respond({ input: "Hi.", tools, include });
      const { results } = findItem(response, "file_search_call");
      return results && (results as readonly WireItem[]).map(({ filename }) => filename);
    };
    const eq = { type: "eq", key: "kind", value: "cat" };
    expect(await searchFor({ filters: eq })).toEqual(["cats.md"]);
    const few = { type: "and", filters: [{ type: "lt", key: "legs", value: 4 }] };
    expect(await searchFor({ filters: few })).toEqual(["owls.md"]);
    expect(await searchFor({ max_num_results: 1 })).toHaveLength(1);
    expect(await searchFor({}, [])).toBeNull();
  });

  test("rejects a missing vector store", async () => {
    const { ask } = await startProviderFixture([[{ search: { file: "owls" } }]]);
    const tools = [{ type: "file_search", vector_store_ids: ["vs_1"] }];
    const answer = await ask("POST /responses", { model: "any", input: "Hi.", tools });
    expect(answer.status).toBe(404);
  });
});

describe("a web search", () => {
  const pages = {
    "pages.json": JSON.stringify({
      "a.html": "https://owls.example/a",
      "b.html": "https://cats.test/b",
    }),
    "a.html": "<title>Owls</title><p>Owls hunt at night.</p>",
    "b.html": "<title>Cats</title><p>Cats hunt at night.</p>",
  };

  test("finds, opens and searches pages that the answer cites", async () => {
    const { respond } = await startProviderFixture(
      [
        [{ search: "hunt" }, { search: { open: "https://owls.example/a" } }],
        [{ search: { find: "NIGHT", in: "https://owls.example/a" } }],
        [{ search: { open: "https://nowhere.example/" } }],
        [{ say: "At night: https://owls.example/a", citations: [{ hit: 0 }] }],
      ],
      { web: createFolder(pages) },
    );
    const include = ["web_search_call.results", "web_search_call.action.sources"];
    const tools = [{ type: "web_search" }];
    const response = await respond({ input: "Hi.", tools, include });
    expect(readOutput(response)).toMatchObject([
      { action: { type: "search", query: "hunt", sources: [{}, {}] }, results: [{}, {}] },
      { action: { type: "open_page" }, results: [{ title: "Owls" }], status: "completed" },
      { action: { type: "find_in_page", pattern: "NIGHT" }, results: [{}] },
      { action: { type: "open_page" }, results: [], status: "failed" },
      { type: "message" },
    ]);
    expect(readAnnotations(response)).toEqual([
      {
        type: "url_citation",
        url: "https://owls.example/a",
        title: "Owls",
        start_index: 10,
        end_index: 32,
      },
    ]);
  });

  test.each([
    [{ filters: { allowed_domains: ["owls.example"] } }, ["https://owls.example/a"]],
    [{ filters: { blocked_domains: ["owls.example"] } }, ["https://cats.test/b"]],
    [{ filters: { allowed_domains: ["other.example"] } }, []],
  ])("respects the domains of %j", async (more, urls) => {
    const script = [[{ search: { web: "hunt" } }], [{ say: "." }]];
    const { respond } = await startProviderFixture(script, { web: createFolder(pages) });
    const tools = [{ type: "web_search", ...more }];
    const include = ["web_search_call.action.sources"];
    const response = await respond({ input: "Hi.", tools, include });
    expect(findItem(response, "web_search_call")).toMatchObject({
      action: { sources: urls.map((url) => ({ url })) },
    });
  });

  test("shows sources and results only if included, for all its types", async () => {
    const script = [[{ search: { web: "hunt" } }], [{ say: "." }]];
    const { respond } = await startProviderFixture(script, { web: createFolder(pages) });
    const tools = [{ type: "web_search_preview_2025_03_11" }];
    const call = findItem(await respond({ input: "Hi.", tools }), "web_search_call");
    expect(call).not.toHaveProperty("results");
    expect(call["action"]).not.toHaveProperty("sources");
  });

  test("fails without pages, with a remedy", async () => {
    const { ask } = await startProviderFixture([[{ search: { web: "owls" } }]]);
    const tools = [{ type: "web_search" }];
    const answer = await ask("POST /responses", { model: "any", input: "Hi.", tools });
    expect(answer).toMatchObject({
      status: 500,
      body: { error: { code: "web_search_unavailable" } },
    });
    expect(JSON.stringify(answer.body)).toContain("--web FOLDER");
  });
});
