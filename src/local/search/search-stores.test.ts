import { describe, expect, test } from "vitest";
import { birds, defaultStore, openStores } from "../../../tests/support/vector-stores.ts";
import { defaultChunkSizes } from "./split-into-chunks.ts";

describe("searchStores()", () => {
  test.each([
    ["Which birds hunt mice at night in the dark?", "owl.md"],
    ["swimming in the sea", "penguin.txt"],
    ["What is the fastest bird?", "falcon.html"],
    ["how do I do an installation", "install.md"],
    ["CAFE", "install.md"],
    ["日本の首都", "tokyo.txt"],
    ["夜", "tokyo.txt"],
  ])("ranks the right passage first for %j", async (query, filename) => {
    await using opened = openStores();
    const { stores, attach, search } = opened;
    const { id } = stores.create(defaultStore);
    for (const [name, text] of Object.entries(birds)) attach(id, name, text);
    await stores.waitUntilIdle();
    const [first] = search(query, { vectorStoreIds: [id] });
    expect(first?.filename).toBe(filename);
  });

  test("returns scores between 0 and 1, best first, deterministically", async () => {
    await using opened = openStores();
    const { stores, attach, search } = opened;
    const { id } = stores.create(defaultStore);
    for (const [name, text] of Object.entries(birds)) attach(id, name, text);
    await stores.waitUntilIdle();
    const hits = search("birds that hunt and swim", { vectorStoreIds: [id] });
    expect(hits.length).toBeGreaterThan(2);
    expect(search("birds that hunt and swim", { vectorStoreIds: [id] })).toEqual(hits);
    const scores = hits.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    for (const score of scores) expect(score > 0 && score < 1).toBe(true);
    const half = ((scores[0] ?? 0) + (scores[1] ?? 0)) / 2;
    expect(
      search("birds that hunt and swim", { vectorStoreIds: [id], scoreThreshold: half }),
    ).toEqual([hits[0]]);
    expect(search("birds that hunt and swim", { vectorStoreIds: [id], maxResults: 2 })).toEqual(
      hits.slice(0, 2),
    );
  });

  test("returns a meaningful score even for a single file", async () => {
    await using opened = openStores();
    const { stores, attach, search } = opened;
    const { id } = stores.create(defaultStore);
    attach(id, "owl.md", birds["owl.md"]);
    await stores.waitUntilIdle();
    expect(search("nocturnal birds", { vectorStoreIds: [id] })[0]?.score).toBeGreaterThan(0.5);
  });

  test("searches several stores and queries, and returns each chunk once", async () => {
    await using opened = openStores();
    const { stores, attach, search } = opened;
    const [one, two] = [stores.create(defaultStore).id, stores.create(defaultStore).id];
    const owl = attach(one, "owl.md", birds["owl.md"]);
    stores.files.attach(two, { fileId: owl, attributes: { a: 1 }, sizes: defaultChunkSizes });
    const penguin = attach(two, "penguin.txt", birds["penguin.txt"]);
    await stores.waitUntilIdle();
    const hits = search(["owls hunt", "birds swim"], { vectorStoreIds: [one, two, one] });
    expect(hits.map(({ fileId }) => fileId).toSorted()).toEqual([owl, penguin].toSorted());
    expect(search("krill", { vectorStoreIds: [one] })).toEqual([]);
  });

  test("returns chunks that match the filter, even if better chunks do not", async () => {
    await using opened = openStores();
    const { stores, attach, search } = opened;
    const { id } = stores.create(defaultStore);
    attach(id, "owl.md", birds["owl.md"], { kind: "bird", year: 2020 });
    attach(id, "penguin.txt", birds["penguin.txt"], { kind: "bird", year: 2024 });
    attach(id, "falcon.html", birds["falcon.html"], { kind: "raptor", year: 2024 });
    await stores.waitUntilIdle();
    const filters = {
      type: "and",
      filters: [
        { type: "eq", key: "kind", value: "bird" },
        { type: "gte", key: "year", value: 2021 },
      ],
    };
    const hits = search("owls hunt birds", { vectorStoreIds: [id], filters, maxResults: 1 });
    expect(hits).toMatchObject([
      { filename: "penguin.txt", attributes: { kind: "bird", year: 2024 } },
    ]);
    expect(() => search("x", { vectorStoreIds: [id], filters: { type: "like" } })).toThrow(
      "Invalid value: 'like'.",
    );
  });

  test.each([
    ['"', "quotes"],
    ['owls" OR "x', "an expression"],
    ["NEAR(owls birds, 2)", "NEAR"],
    ["owls*", "a star"],
    ["^owls", "a caret"],
    ["text:owls", "a column"],
    ["{text}: owls", "braces"],
    ["AND OR NOT", "operators"],
    ["owls\0birds", "zero bytes"],
    ["(((((", "brackets"],
    ["'; DROP TABLE vector_stores; --", "SQL"],
    ["\ud800 owls \udc00", "half characters"],
    ["🦉🦉 e\u0301 ‮", "emoji and marks"],
    ["owls ".repeat(20_000), "10^5 characters"],
    [Array.from({ length: 20_000 }, (_, index) => `w${index}`).join(" "), "20,000 words"],
    ["x".repeat(100_000), "a word of 10^5 characters"],
    ["東".repeat(100_000), "10^5 characters without a space"],
  ])("treats %.20j as plain words (%s)", async (query) => {
    await using opened = openStores();
    const { stores, attach, search } = opened;
    const { id } = stores.create(defaultStore);
    attach(id, "owl.md", birds["owl.md"]);
    await stores.waitUntilIdle();
    const hits = search(query, { vectorStoreIds: [id] });
    expect(hits.length).toBe(/owls/.test(query) ? 1 : 0);
  });

  test.each(["finds nothing for %j", "   ", "?!…", "\0"])("for %j finds nothing", async (query) => {
    await using opened = openStores();
    const { stores, attach, search } = opened;
    const { id } = stores.create(defaultStore);
    attach(id, "owl.md", birds["owl.md"]);
    await stores.waitUntilIdle();
    expect(search(query, { vectorStoreIds: [id] })).toEqual([]);
  });

  test("finds stop words if the query contains only those", async () => {
    await using opened = openStores();
    const { stores, attach, search } = opened;
    const { id } = stores.create(defaultStore);
    attach(id, "owl.md", birds["owl.md"]);
    await stores.waitUntilIdle();
    expect(search("are the", { vectorStoreIds: [id] })).toHaveLength(1);
  });

  test("finds a single document among 2,000", async () => {
    await using opened = openStores();
    const { stores, upload, search } = opened;
    const fileIds = Array.from({ length: 2000 }, (_, index) =>
      upload(`${index}.txt`, `Report ${index}: bird number b${index} was seen near the lake.`),
    );
    const { id } = stores.create(defaultStore);
    const files = fileIds.map((fileId) => ({ fileId, attributes: {}, sizes: defaultChunkSizes }));
    const batch = stores.files.attachBatch(id, files);
    expect(batch.file_counts).toMatchObject({ in_progress: 2000, total: 2000 });
    await stores.waitUntilIdle();
    expect(stores.files.batch(id, batch.id)).toMatchObject({
      status: "completed",
      file_counts: { completed: 2000, total: 2000 },
    });
    expect(search("bird b1234", { vectorStoreIds: [id] })[0]?.fileId).toBe(fileIds[1234]);
  });
});
