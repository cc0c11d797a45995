import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { sendResponse, startRawServer } from "../../../tests/support/raw-server.ts";
import type { OpenAIClient } from "./client.ts";
import { downloadContainerFile, downloadStoredFile } from "./download.ts";
import { HttpClient } from "./http-client.ts";

const key = "sk-test-0123456789abcdef";
const clients: readonly (readonly [string, (baseURL: string) => OpenAIClient])[] = [
  ["node", (baseURL) => new HttpClient({ baseURL, apiKey: key })],
  ["fetch", (baseURL) => new HttpClient({ baseURL, apiKey: key, fetch })],
  ["the official client", (baseURL) => new OpenAI({ apiKey: key, baseURL, logLevel: "off" })],
];

describe.each(clients)("downloads over %s", (_way, make) => {
  test("return the file's bytes unchanged", async () => {
    const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256);
    const server = await startRawServer((_, response) => response.end(bytes));
    const client = make(server.url);
    expect(await downloadContainerFile(client, "cntr_1", "cfile_1")).toEqual(bytes);
    expect(await downloadStoredFile(client, "file-1", { timeoutMs: 2_000 })).toEqual(bytes);
    expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /containers/cntr_1/files/cfile_1/content",
      "GET /files/file-1/content",
    ]);
  });

  test("return an empty file", async () => {
    const server = await startRawServer((_, response) => response.end());
    expect(await downloadStoredFile(make(server.url), "file-1")).toEqual(new Uint8Array());
  });

  test("name the missing file in the error, but not the key", async () => {
    const server = await startRawServer((_, response) =>
      sendResponse(response, 404, { error: { message: `Container not found for ${key}.` } }),
    );
    const failed = downloadContainerFile(make(server.url), "cntr_1", "cfile_1");
    await expect(failed).rejects.toThrow(
      "GET /containers/cntr_1/files/cfile_1/content failed with status 404: Container not found for <redacted>",
    );
    expect(server.requests).toHaveLength(1);
  });

  test("report a lost connection as a network failure", async () => {
    const server = await startRawServer((_, response) => {
      response.writeHead(200, { "content-length": "100" }).write("abc");
      setTimeout(() => response.destroy(), 10);
    });
    await expect(downloadStoredFile(make(server.url), "file-1")).rejects.toMatchObject({
      name: "OpenAIRequestError",
      reason: "network",
    });
  });

  test("reject with the signal's reason", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const server = await startRawServer((_, response) => {
      response.writeHead(200, { "content-length": "100" }).write("abc");
      setTimeout(() => controller.abort("enough"), 20);
    });
    const failed = downloadContainerFile(make(server.url), "c", "f", { signal });
    await expect(failed).rejects.toBe("enough");
  });

  test.each(["", "..", "../files", "a\nb"])(
    "reject the id %j without sending a request",
    async (id) => {
      const server = await startRawServer((_, response) => response.end());
      const client = make(server.url);
      await expect(downloadStoredFile(client, id)).rejects.toThrow(/^fileId must be an id/);
      await expect(downloadContainerFile(client, "c", id)).rejects.toThrow(/^fileId must be an id/);
      await expect(downloadContainerFile(client, id, "f")).rejects.toThrow(/^containerId must be/);
      expect(server.requests).toEqual([]);
    },
  );

  test("encode a hostile id as one path segment", async () => {
    const server = await startRawServer((_, response) => response.end("x"));
    await downloadContainerFile(make(server.url), "c?d", "a#b");
    expect(server.requests[0]?.path).toBe("/containers/c%3Fd/files/a%23b/content");
  });
});
