import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import OpenAI from "openai";
import { describe, expect, test, vi } from "vitest";
import { sendResponse, startRawServer } from "../../../tests/support/raw-server.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import type { OpenAIClient } from "./client.ts";
import { HttpClient, openAIClient } from "./http-client.ts";
import { getRequestId } from "./json-response.ts";

const key = "sk-test-0123456789abcdef";
const ways = [
  ["node", {}],
  ["fetch", { fetch }],
] as const;

describe.each(ways)("HttpClient request over %s", (way, transport) => {
  test("sends the key, organization, project, headers and query", async () => {
    const server = await startRawServer((_, response) =>
      sendResponse(response, 200, { id: "resp_1" }),
    );
    const client = new HttpClient({
      ...transport,
      apiKey: key,
      baseURL: `${server.url}/v1/`,
      organization: "org-1",
      project: "proj-1",
      headers: { "X-Trace": "abc" },
      query: { "api-version": "2026-01-01" },
    });
    await client.post("/responses", '{"model":"m"}');
    const [request] = server.requests;
    expect(request).toMatchObject({ method: "POST", path: "/v1/responses?api-version=2026-01-01" });
    expect(request?.body.toString()).toBe('{"model":"m"}');
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${key}`,
      "openai-organization": "org-1",
      "openai-project": "proj-1",
      "content-type": "application/json",
      "content-length": "13",
      accept: "application/json",
      "x-trace": "abc",
    });
    expect(request?.headers["api-key"]).toBeUndefined();
    if (way === "node") expect(request?.headers["user-agent"]).toBe("weakincentives");
  });

  test("retrieves and cancels responses", async () => {
    const server = await startRawServer((_, response) =>
      sendResponse(response, 200, { id: "resp_1" }, { "x-request-id": "req_1" }),
    );
    const { responses } = openAIClient({ ...transport, baseURL: server.url });
    const include = ["reasoning.encrypted_content", "web_search_call.action.sources"];
    const found = await responses.retrieve?.("resp_1", { include, stream: undefined });
    expect(found).toEqual({ id: "resp_1" });
    expect(getRequestId(found)).toBe("req_1");
    await responses.cancel?.("resp_1");
    expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `GET /responses/resp_1?${include.map((field) => `include%5B%5D=${field}`).join("&")}`,
      "POST /responses/resp_1/cancel",
    ]);
    await expect(responses.cancel?.("../containers")).rejects.toThrow("responseId must be an id");
  });

  test("accepts bytes and non-ASCII text as body", async () => {
    const server = await startRawServer((_, response) => sendResponse(response, 200, {}));
    const client = new HttpClient({ ...transport, baseURL: server.url });
    await client.post("/responses", new TextEncoder().encode('{"a":"é"}'));
    await client.post("/responses", '{"a":"é🙂"}');
    expect(server.requests.map(({ body }) => body.toString())).toEqual([
      '{"a":"é"}',
      '{"a":"é🙂"}',
    ]);
  });

  test("sends no authorization to another server without a key", async () => {
    vi.stubEnv("OPENAI_API_KEY", undefined);
    const server = await startRawServer((_, response) => sendResponse(response, 200, {}));
    await openAIClient({ ...transport, baseURL: server.url }).responses.create({});
    vi.unstubAllEnvs();
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  test("returns the object with a non-enumerable request id", async () => {
    const body = { id: "resp_1", output: [] };
    const server = await startRawServer((_, response) =>
      sendResponse(response, 200, body, { "x-request-id": "req_1" }),
    );
    const client = new HttpClient({ ...transport, baseURL: server.url });
    const result = await client.responses.create({ model: "m" });
    expect(result).toEqual(body);
    expect(Object.keys(result as object)).toEqual(["id", "output"]);
    expect(getRequestId(result)).toBe("req_1");
    expect(await client.post("/responses", "{}")).toEqual({ value: body, requestId: "req_1" });
    expect(getRequestId(await client.containers.retrieve("cntr_1"))).toBe("req_1");
    expect(server.requests[2]).toMatchObject({ method: "GET", path: "/containers/cntr_1" });
  });

  test("parses JSON with a plain text type or a byte order mark", async () => {
    const server = await startRawServer((_, response) =>
      sendResponse(response, 200, '\ufeff{"id":"resp_1"}', { "content-type": "text/plain" }),
    );
    const client = new HttpClient({ ...transport, baseURL: server.url });
    expect(await client.responses.create({})).toEqual({ id: "resp_1" });
  });

  test("returns an error object in a response with status 200", async () => {
    const body = { error: { code: "server_error", message: "x" } };
    const server = await startRawServer((_, response) => sendResponse(response, 200, body));
    const client = new HttpClient({ ...transport, baseURL: server.url });
    expect(await client.responses.create({})).toEqual(body);
  });

  test("reuses one connection for sequential requests", async () => {
    const server = await startRawServer((_, response) => sendResponse(response, 200, {}));
    const client = new HttpClient({ ...transport, baseURL: server.url });
    for (let turn = 0; turn < 5; turn++) await client.responses.create({ turn });
    expect(server.requests).toHaveLength(5);
    // Node's fetch may start before its last connection is free.
    expect(server.connections).toBeLessThanOrEqual(way === "fetch" ? 2 : 1);
  });

  test("does not wait for concurrent requests", async () => {
    const { promise: all, resolve } = Promise.withResolvers<void>();
    let waiting = 0;
    const server = await startRawServer(async ({ body }, response) => {
      if (++waiting === 5) resolve();
      await all;
      sendResponse(response, 200, body.toString());
    });
    const client = new HttpClient({ ...transport, baseURL: server.url });
    const turns = [0, 1, 2, 3, 4].map((turn) => ({ turn }));
    expect(await Promise.all(turns.map((turn) => client.responses.create(turn)))).toEqual(turns);
  });

  test.each([
    ["%2e%2e", "%252e%252e"],
    ["a?b#c", "a%3Fb%23c"],
    ["…", "%E2%80%A6"],
  ])("encodes the hostile id %j as one path segment", async (id, part) => {
    const server = await startRawServer((_, response) => sendResponse(response, 200, {}));
    const client = new HttpClient({ ...transport, baseURL: `${server.url}/v1` });
    await client.containers.retrieve(id);
    await client.containers.files.content.retrieve(id, { container_id: id });
    await client.files.content(id);
    expect(server.requests.map(({ path }) => path)).toEqual([
      `/v1/containers/${part}`,
      `/v1/containers/${part}/files/${part}/content`,
      `/v1/files/${part}/content`,
    ]);
  });

  test.each(["", ".", "..", "../x", "a/b", "a\\b", "a\nb", "a\u0000", "\ud800"])(
    "is not sent with the id %j",
    async (id) => {
      const server = await startRawServer((_, response) => sendResponse(response, 200, {}));
      const client = new HttpClient({ ...transport, baseURL: server.url });
      const calls = [
        () => client.containers.retrieve(id),
        () => client.files.content(id),
        () => client.containers.files.content.retrieve("f", { container_id: id }),
        () => client.containers.files.content.retrieve(id, { container_id: "c" }),
      ];
      for (const call of calls) {
        const rule =
          'must be an id: not empty, "." or "..", without slashes and control characters';
        await expect(call()).rejects.toThrow(rule);
        await expect(call()).rejects.toThrow(InvalidOptionError);
      }
      expect(server.requests).toEqual([]);
    },
  );
});

describe("openAIClient()", () => {
  test("has the same interface as the official client", async () => {
    const server = await startRawServer((_, response) =>
      sendResponse(response, 200, { id: "resp_1" }, { "x-request-id": "req_1" }),
    );
    const client: OpenAIClient = new OpenAI({ apiKey: key, baseURL: server.url });
    const result = await client.responses.create({ model: "m" }, { maxRetries: 0, timeout: 1_000 });
    expect(result).toEqual({ id: "resp_1" });
    expect(getRequestId(result)).toBe("req_1");
  });

  test("sends no request to OpenAI without a key, and names the setting", async () => {
    vi.stubEnv("OPENAI_API_KEY", undefined);
    vi.stubEnv("OPENAI_BASE_URL", undefined);
    const client = openAIClient();
    vi.unstubAllEnvs();
    await expect(client.responses.create({})).rejects.toThrow(
      "clientConfig.apiKey must be set for https://api.openai.com, got undefined. Set OPENAI_API_KEY or clientConfig.apiKey.",
    );
  });

  test("uses the runtime's fetch outside Node", async () => {
    const server = await startRawServer((_, response) => sendResponse(response, 200, {}));
    vi.stubGlobal("Deno", {});
    const client = openAIClient({ baseURL: server.url });
    vi.unstubAllGlobals();
    await client.responses.create({});
    expect(server.requests[0]?.headers["user-agent"]).toBe("node");
  });

  test("lets the process exit while its connection is open", async () => {
    const server = await startRawServer((_, response) =>
      sendResponse(response, 200, { id: "resp_1" }),
    );
    const script = `
      const { openAIClient } = await import(${JSON.stringify(new URL("./http-client.ts", import.meta.url))});
      const client = openAIClient({ baseURL: ${JSON.stringify(server.url)} });
      const start = performance.now();
      const { id } = await client.responses.create({});
      process.on("exit", () => console.log(id, performance.now() - start < 3000 ? "at once" : "late"));
    `;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script]);
    const [output] = await Promise.all([text(child.stdout), once(child, "exit")]);
    expect(output).toBe("resp_1 at once\n");
  });
});

describe("getRequestId()", () => {
  test("reads the id from any client's result", () => {
    expect(getRequestId({ _request_id: "req_1" })).toBe("req_1");
    expect(getRequestId({ _request_id: 1 })).toBeNull();
    expect(getRequestId({})).toBeNull();
    expect(getRequestId(null)).toBeNull();
    expect(getRequestId("<html>")).toBeNull();
  });

  test("does not change a field with that name", async () => {
    const server = await startRawServer((_, response) =>
      sendResponse(response, 200, { _request_id: "mine" }),
    );
    const result = await openAIClient({ baseURL: server.url }).responses.create({});
    expect(Object.keys(result as object)).toEqual(["_request_id"]);
  });
});
