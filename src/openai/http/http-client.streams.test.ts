import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { sendResponse, startRawServer } from "../../../tests/support/raw-server.ts";
import type { BinaryAnswer } from "./client.ts";
import type { OpenAIClientConfig } from "./client-config.ts";
import { HttpClient } from "./http-client.ts";

const ways = [
  ["node", {}],
  ["fetch", { fetch }],
] as const;

/** Writes until the connection is closed, and counts the bytes. */
function writeEndlessly(response: ServerResponse): {
  readonly poured: number;
  readonly isOpen: boolean;
} {
  const state = { poured: 0, isOpen: true };
  response.on("close", () => {
    state.isOpen = false;
  });
  const part = Buffer.alloc(64 * 1024, "x");
  const write = () => {
    let isWanted = true;
    while (state.isOpen && isWanted) {
      isWanted = response.write(part);
      state.poured += part.length;
    }
    if (state.isOpen) response.once("drain", write);
  };
  write();
  return state;
}

async function wait(milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function getReader(file: BinaryAnswer): ReadableStreamDefaultReader<Uint8Array> {
  if (!file.body) throw new Error("The response has no body");
  return file.body.getReader();
}

describe.each(ways)("a streamed file over %s", (_way, transport) => {
  const createClient = (baseURL: string, config: OpenAIClientConfig = {}) =>
    new HttpClient({ ...transport, baseURL, apiKey: "sk-test-0123456789", ...config });
  const openFile = async (baseURL: string, config?: OpenAIClientConfig, signal?: AbortSignal) =>
    await createClient(baseURL, config).containers.files.content.retrieve(
      "cfile_1",
      { container_id: "cntr_1" },
      { signal },
    );

  test("is fetched on demand", async () => {
    let state: ReturnType<typeof writeEndlessly> | undefined;
    const server = await startRawServer((_, response) => {
      state = writeEndlessly(response);
    });
    const reader = getReader(await openFile(server.url));
    const { value } = await reader.read();
    expect(value?.length).toBeGreaterThan(0);
    await wait(100);
    const before = state?.poured ?? 0;
    await wait(100);
    expect(state?.poured).toBe(before); // the socket is full and not being read
    expect(before).toBeLessThan(32 * 1024 * 1024);
    let read = 0;
    while (read < before + 1_000_000) read += (await reader.read()).value?.length ?? 0;
    expect(state?.poured).toBeGreaterThan(before);
    await reader.cancel();
    await expect.poll(() => state?.isOpen).toBe(false);
  });

  test("arrives unchanged, even if it is longer than maxResponseBytes", async () => {
    const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 7) % 256);
    const server = await startRawServer((_, response) => response.end(bytes));
    const { body } = await openFile(server.url, { maxResponseBytes: 1_000 });
    const parts: Uint8Array[] = [];
    const reader = getReader({ body: body ?? null, arrayBuffer: async () => new ArrayBuffer() });
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      parts.push(read.value);
    }
    expect(Buffer.concat(parts).equals(bytes)).toBe(true);
  });

  test("is limited to maxResponseBytes in arrayBuffer()", async () => {
    const server = await startRawServer((_, response) => response.end("x".repeat(1_001)));
    const file = await openFile(server.url, { maxResponseBytes: 1_000 });
    await expect(file.arrayBuffer()).rejects.toThrow(
      "GET /containers/cntr_1/files/cfile_1/content returned more than 1000 bytes. Raise clientConfig.maxResponseBytes if you expect this size.",
    );
    const whole = await (await openFile(server.url, { maxResponseBytes: 1_001 })).arrayBuffer();
    expect(whole).toBeInstanceOf(ArrayBuffer);
    expect(whole.byteLength).toBe(1_001);
  });

  test("has a body that ends immediately if it is empty", async () => {
    const server = await startRawServer((_, response) => response.end());
    expect((await (await openFile(server.url)).arrayBuffer()).byteLength).toBe(0);
    expect(await getReader(await openFile(server.url)).read()).toMatchObject({ done: true });
  });

  test("can be read only once", async () => {
    const server = await startRawServer((_, response) => response.end("x"));
    const file = await openFile(server.url);
    await file.arrayBuffer();
    await expect(file.arrayBuffer()).rejects.toThrow("locked");
    expect(() => file.body?.getReader()).toThrow("locked");
  });

  test("frees its connection if it is canceled before reading", async () => {
    let state: ReturnType<typeof writeEndlessly> | undefined;
    const server = await startRawServer((_, response) => {
      state = writeEndlessly(response);
    });
    const { body } = await openFile(server.url);
    await body?.cancel("enough");
    await expect.poll(() => state?.isOpen).toBe(false);
  });

  test("frees its connection if it is canceled while waiting for data", async () => {
    let isOpen = true;
    const server = await startRawServer((_, response) => {
      response.on("close", () => {
        isOpen = false;
      });
      response.write("x");
    });
    const reader = getReader(await openFile(server.url));
    await reader.read();
    const next = reader.read();
    await reader.cancel();
    expect(await next).toMatchObject({ done: true });
    await expect.poll(() => isOpen).toBe(false);
  });

  test("leaves its client usable after it is canceled", async () => {
    const server = await startRawServer(({ path }, response) => {
      if (path.endsWith("content")) writeEndlessly(response);
      else sendResponse(response, 200, { id: "cntr_1" });
    });
    const client = createClient(server.url);
    const file = await client.files.content("file-1");
    await file.body?.cancel();
    for (let turn = 0; turn < 3; turn++) await client.containers.retrieve("cntr_1");
    expect(server.requests).toHaveLength(4);
  });

  test("times out if it stalls", async () => {
    const server = await startRawServer((_, response) => void response.write("abc"));
    const reader = getReader(await openFile(server.url, { timeoutMs: 80 }));
    expect((await reader.read()).value?.length).toBe(3);
    await expect(reader.read()).rejects.toMatchObject({
      name: "OpenAIRequestError",
      reason: "timeout",
      status: 200,
      message: expect.stringContaining("timed out: the response stalled, no data within 80 ms"),
    });
  });

  test("does not time out because its reader is slow", async () => {
    const server = await startRawServer((_, response) => {
      response.write("abc");
      response.write(Buffer.alloc(4_000_000, "y"), () => response.end());
    });
    const reader = getReader(await openFile(server.url, { timeoutMs: 80 }));
    await wait(300);
    let length = 0;
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      length += read.value.length;
      if (length < 200_000) await wait(150);
    }
    expect(length).toBe(4_000_003);
  });

  test("is a network failure if the connection is lost", async () => {
    const server = await startRawServer((_, response) => {
      response.writeHead(200, { "content-length": "100", "x-request-id": "req_1" }).write("abc");
      setTimeout(() => response.destroy(), 20);
    });
    const reader = getReader(await openFile(server.url));
    await reader.read();
    await expect(reader.read()).rejects.toMatchObject({
      name: "OpenAIRequestError",
      reason: "network",
      requestId: "req_1",
      message: expect.stringContaining(
        "lost its connection during the response: other side closed",
      ),
    });
  });

  test("rejects with the signal's reason, whether it was read or not", async () => {
    let isOpen = true;
    const server = await startRawServer((_, response) => {
      response.on("close", () => {
        isOpen = false;
      });
      response.write("abc");
    });
    const controller = new AbortController();
    const reader = getReader(await openFile(server.url, {}, controller.signal));
    await reader.read();
    const next = expect(reader.read()).rejects.toBe("enough");
    controller.abort("enough");
    await next;
    await expect.poll(() => isOpen).toBe(false);
    const later = new AbortController();
    const file = await openFile(server.url, {}, later.signal);
    later.abort("too late");
    await expect(file.arrayBuffer()).rejects.toBe("too late");
  });

  test("throws before reading if the file does not exist", async () => {
    const server = await startRawServer((_, response) =>
      sendResponse(response, 404, { error: { message: "No such file." } }),
    );
    await expect(openFile(server.url)).rejects.toThrow("failed with status 404: No such file");
  });
});
