import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { testKey } from "../../../tests/support/openai-clients.ts";
import { startWireServer } from "../../../tests/support/wire-server.ts";
import { readSecrets } from "../secrets.ts";
import type { OpenAIClient } from "./client.ts";
import { EgressLog } from "./egress-log.ts";
import { openAIClient } from "./http-client.ts";
import { recordRequests } from "./record-requests.ts";

const file = () => new File(["abc"], "a.txt");
const gone = { status: 404, json: { error: { message: "No such file.", code: null } } };
const routes = {
  "GET /responses/r": { json: { id: "r", object: "response", output: [] } },
  "POST /responses/r/cancel": { json: { id: "r", object: "response", output: [] } },
  "POST /responses/compact": { json: { output: [] } },
  "POST /responses/input_tokens": { json: { input_tokens: 1 } },
  "POST /containers": { json: { id: "c", object: "container" } },
  "GET /containers/c": { json: { id: "c", status: "running" } },
  "POST /containers/c/files": { json: { id: "f", path: "/mnt/data/a.txt", bytes: 3 } },
  "GET /containers/c/files": { json: { object: "list", data: [], has_more: false } },
  "GET /containers/c/files/f/content": { bytes: "abc" },
  "DELETE /containers/c/files/f": { json: { id: "f", deleted: true } },
  "DELETE /containers/c": { json: { id: "c", deleted: true } },
  "POST /files": { json: { id: "s", object: "file" } },
  "GET /files/s/content": { bytes: "abc" },
  "DELETE /files/s": gone,
};

/** Sends one request of each kind. */
async function callAll(client: OpenAIClient): Promise<void> {
  const { responses, containers, files } = client;
  const options = { maxRetries: 0 };
  const where = { container_id: "c" };
  const body = { model: "m", input: "Hi." };
  await responses.create(body, options);
  await responses.retrieve?.("r", {}, options);
  await responses.cancel?.("r", options);
  await responses.compact?.(body, options);
  await responses.inputTokens?.count(body, options);
  await containers.create({ name: "n" }, options);
  await containers.retrieve("c", options);
  await containers.files.create("c", { file: file() }, options);
  await containers.files.create("c", { file_id: "s" }, options);
  await containers.files.list("c", {}, options);
  await (await containers.files.content.retrieve("f", where, options)).arrayBuffer();
  await containers.files.delete("f", where, options);
  await containers.delete("c", options);
  await files.create({ file: file(), purpose: "user_data" }, options);
  await (await files.content("s", options)).arrayBuffer();
  await expect(files.delete?.("s", options)).rejects.toMatchObject({ status: 404 });
}

describe.each<readonly [string, (baseURL: string) => OpenAIClient]>([
  ["the built-in client", (baseURL) => openAIClient({ apiKey: testKey, baseURL })],
  ["the official client", (baseURL) => new OpenAI({ apiKey: testKey, baseURL })],
])("recordRequests() with %s", (_, create) => {
  test("records every kind of request, and what was deleted", async () => {
    await using server = await startWireServer([[]], { routes, invalid: "allowed" });
    const log = new EgressLog();
    const client = recordRequests(create(server.url), log);
    await callAll(client);
    const { requests, verdict } = log.close()();
    expect(requests.map(({ endpoint }) => endpoint)).toEqual(
      server.requests.map(({ method, path }) => `${method} ${path}`),
    );
    const stored = requests.filter((request) => request.stored).map(({ endpoint }) => endpoint);
    expect([stored, verdict]).toEqual([["POST /responses"], "stored at the provider"]);
    expect(readSecrets(client)).toContain(testKey);
  });
});

test("recordRequests() offers no request that the client does not have", () => {
  const { responses, containers, files } = openAIClient({ apiKey: testKey });
  const { delete: _, ...some } = files;
  const client = recordRequests(
    { responses: { create: responses.create }, containers, files: some },
    new EgressLog(),
  );
  expect(Object.keys(client.responses)).toEqual(["create"]);
  expect(Object.keys(client.files)).toEqual(["create", "content"]);
});
