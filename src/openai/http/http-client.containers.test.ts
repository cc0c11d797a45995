import { describe, expect, test } from "vitest";
import { clientFactories } from "../../../tests/support/openai-clients.ts";
import { sendResponse, startRawServer } from "../../../tests/support/raw-server.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import { HttpClient } from "./http-client.ts";
import { getRequestId } from "./json-response.ts";

const ours = clientFactories.slice(0, 2);

describe.each(clientFactories)("the containers client of %s", (_name, make) => {
  test("creates, retrieves and deletes a container", async () => {
    const server = await startRawServer((_, response) =>
      sendResponse(response, 200, { id: "cntr_1" }),
    );
    const { containers } = make(server.url);
    const body = {
      name: "mine",
      memory_limit: "4g",
      expires_after: { anchor: "last_active_at", minutes: 20 },
      file_ids: ["file-1"],
      network_policy: { type: "disabled" },
    } as const;
    expect(await containers.create(body, { maxRetries: 0 })).toMatchObject({ id: "cntr_1" });
    expect(await containers.retrieve("cntr_1")).toMatchObject({ id: "cntr_1" });
    await containers.delete("cntr_1", { maxRetries: 0 });
    expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /containers",
      "GET /containers/cntr_1",
      "DELETE /containers/cntr_1",
    ]);
    expect(JSON.parse(server.requests[0]?.body.toString() ?? "")).toEqual(body);
    expect(server.requests[2]?.body.length).toBe(0);
  });

  test("requests one page of files, then the next", async () => {
    const page = { object: "list", data: [{ id: "cfile_1" }], has_more: true };
    const server = await startRawServer((_, response) => sendResponse(response, 200, page));
    const { files } = make(server.url).containers;
    expect(await files.list("cntr_1", {})).toMatchObject({ data: [{}], has_more: true });
    await files.list("cntr_1", { limit: 100, order: "asc", after: "cfile_ä&b" });
    const [first, second] = server.requests.map(({ path }) => new URL(path, "http://x"));
    expect(first?.pathname).toBe("/containers/cntr_1/files");
    expect([...(first?.searchParams ?? [])]).toEqual([]);
    expect(Object.fromEntries(second?.searchParams ?? [])).toEqual({
      limit: "100",
      order: "asc",
      after: "cfile_ä&b",
    });
    expect(server.requests).toHaveLength(2);
  });

  test("deletes a file and accepts an empty response", async () => {
    const server = await startRawServer((_, response) => response.writeHead(204).end());
    const { containers } = make(server.url);
    expect(await containers.files.delete("cfile_1", { container_id: "cntr_1" })).toBeNull();
    expect(await containers.delete("cntr_1")).toBeNull();
    expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "DELETE /containers/cntr_1/files/cfile_1",
      "DELETE /containers/cntr_1",
    ]);
  });
});

describe.each(ours)("the built-in containers client of %s", (_name, make) => {
  test("attaches the request id to each result", async () => {
    const server = await startRawServer((_, response) =>
      sendResponse(response, 200, { data: [] }, { "x-request-id": "req_1" }),
    );
    const { containers } = make(server.url);
    const file = new File(["x"], "a.txt");
    expect(getRequestId(await containers.create({ name: "a" }))).toBe("req_1");
    expect(getRequestId(await containers.files.create("cntr_1", { file }))).toBe("req_1");
    expect(getRequestId(await containers.files.list("cntr_1", {}))).toBe("req_1");
  });

  test("returns a deletion's response, and rejects an HTML page", async () => {
    const deleted = { id: "cntr_1", object: "container.deleted", deleted: true };
    const texts = [JSON.stringify(deleted), "<html>"];
    const server = await startRawServer((_, response) =>
      sendResponse(response, 200, texts.shift() ?? "", { "content-type": "text/html" }),
    );
    const { containers } = make(server.url);
    expect(await containers.delete("cntr_1")).toEqual(deleted);
    await expect(containers.delete("cntr_1")).rejects.toThrow(
      "DELETE /containers/cntr_1 returned status 200 and an HTML page. Check baseURL, and whether a proxy",
    );
  });

  test.each(["", "..", "a/b", "a\nb"])("sends no request with the id %j", async (id) => {
    const server = await startRawServer((_, response) => sendResponse(response, 200, {}));
    const { containers } = make(server.url);
    const { files } = containers;
    const file = new File(["x"], "a.txt");
    const calls = [
      () => containers.delete(id),
      () => files.create(id, { file }),
      () => files.list(id, {}),
      () => files.delete(id, { container_id: "c" }),
      () => files.delete("f", { container_id: id }),
    ];
    for (const call of calls) await expect(call()).rejects.toThrow(InvalidOptionError);
    expect(server.requests).toEqual([]);
  });
});

describe("HttpClient", () => {
  test("combines a call's query parameters with the configured ones", async () => {
    const server = await startRawServer((_, response) => sendResponse(response, 200, { data: [] }));
    const query = { "api-version": "2026-01-01" };
    const { files } = new HttpClient({ baseURL: server.url, query }).containers;
    await files.list("cntr_1", { limit: 3 });
    await files.list("cntr_1", {});
    expect(server.requests.map(({ path }) => path)).toEqual([
      "/containers/cntr_1/files?api-version=2026-01-01&limit=3",
      "/containers/cntr_1/files?api-version=2026-01-01",
    ]);
  });
});
