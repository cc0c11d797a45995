import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import type { OpenAIClient } from "./client.ts";
import { ContainerCalls } from "./container-calls.ts";
import { openAIClient } from "./http-client.ts";

/** Creates a client with other implementations of these container file methods. */
function createClient(files: Partial<OpenAIClient["containers"]["files"]>): OpenAIClient {
  const { responses, containers, files: stored } = openAIClient({ baseURL: "http://127.0.0.1:9" });
  return {
    responses,
    files: stored,
    containers: { ...containers, files: { ...containers.files, ...files } },
  };
}

const bytes = new TextEncoder().encode("hello");
const item = { id: "cfile_1", path: "/mnt/data/a", bytes: 5, created_at: 7, source: "assistant" };

describe("ContainerCalls with a custom client", () => {
  test("reads a file without a stream", async () => {
    const retrieve = async () => ({ arrayBuffer: async () => new Uint8Array(bytes).buffer });
    const calls = new ContainerCalls(createClient({ content: { retrieve } }));
    const path = join(temporaryTree(), "a");
    expect(await calls.downloadTo("c", "f", path)).toBe(5);
    expect(readFileSync(path, "utf8")).toBe("hello");
    expect(await calls.download("c", "f", { maxBytes: 5 })).toEqual(bytes);
    await expect(calls.download("c", "f", { maxBytes: 4 })).rejects.toThrow("more than 4 bytes");
  });

  test("reads a page that is a class instance", async () => {
    class Page {
      readonly data = [item];
      readonly has_more = false;
    }
    const calls = new ContainerCalls(createClient({ list: async () => new Page() }));
    const files: unknown[] = [];
    for await (const file of calls.list("c")) files.push(file);
    expect(files).toEqual([
      { id: "cfile_1", path: "/mnt/data/a", bytes: 5, createdAt: 7, source: "assistant" },
    ]);
  });

  test.each([[class Other {}], [Map]])("rejects a result that is not a page: %o", async (Other) => {
    const calls = new ContainerCalls(createClient({ list: async () => new Other() }));
    await expect(calls.list("c").next()).rejects.toThrow(
      "GET /containers/c/files returned a class instance instead of an object",
    );
  });

  test("accepts files without a creation time and source", async () => {
    const { id, path } = item;
    const calls = new ContainerCalls(
      createClient({ list: async () => ({ data: [{ id, path, bytes: 5 }], has_more: false }) }),
    );
    expect((await calls.list("c").next()).value).toMatchObject({ createdAt: 0, source: "" });
  });

  test("converts any error it throws", async () => {
    const thrown = new TypeError("fetch failed");
    const create = () => Promise.reject(thrown);
    const calls = new ContainerCalls(createClient({ create }));
    await expect(calls.upload("c", new File(["x"], "a"))).rejects.toMatchObject({
      name: "OpenAIRequestError",
      reason: "network",
      message: "POST /containers/c/files failed: fetch failed. Check baseURL and the network.",
    });
  });
});
