import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { answer, rawServer } from "../../../tests/support/raw-server.ts";
import type { BinaryAnswer } from "./client.ts";
import type { OpenAIClientConfig } from "./client-config.ts";
import { HttpClient } from "./http-client.ts";

const ways = [
  ["undici", {}],
  ["fetch", { fetch }],
] as const;

/** Pours until somebody shuts the door, and tells how much went out. */
function pouring(response: ServerResponse): { readonly poured: number; readonly isOpen: boolean } {
  const state = { poured: 0, isOpen: true };
  response.on("close", () => {
    state.isOpen = false;
  });
  const part = Buffer.alloc(64 * 1024, "x");
  const pour = () => {
    let isWanted = true;
    while (state.isOpen && isWanted) {
      isWanted = response.write(part);
      state.poured += part.length;
    }
    if (state.isOpen) response.once("drain", pour);
  };
  pour();
  return state;
}

async function wait(milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function readerOf(file: BinaryAnswer): ReadableStreamDefaultReader<Uint8Array> {
  if (!file.body) throw new Error("there is no body");
  return file.body.getReader();
}

describe.each(ways)("a file over %s", (_way, transport) => {
  const clientOf = (baseURL: string, config: OpenAIClientConfig = {}) =>
    new HttpClient({ ...transport, baseURL, apiKey: "sk-test-0123456789", ...config });
  const open = async (baseURL: string, config?: OpenAIClientConfig, signal?: AbortSignal) =>
    await clientOf(baseURL, config).containers.files.content.retrieve(
      "cfile_1",
      { container_id: "cntr_1" },
      { signal },
    );

  test("is read as it comes, and not before it is wanted", async () => {
    let state: ReturnType<typeof pouring> | undefined;
    const server = await rawServer((_, response) => {
      state = pouring(response);
    });
    const reader = readerOf(await open(server.url));
    const { value } = await reader.read();
    expect(value?.length).toBeGreaterThan(0);
    await wait(100);
    const before = state?.poured ?? 0;
    await wait(100);
    expect(state?.poured).toBe(before); // the socket is full, and nobody reads
    expect(before).toBeLessThan(32 * 1024 * 1024);
    let read = 0;
    while (read < before + 1_000_000) read += (await reader.read()).value?.length ?? 0;
    expect(state?.poured).toBeGreaterThan(before);
    await reader.cancel();
    await expect.poll(() => state?.isOpen).toBe(false);
  });

  test("comes whole, byte for byte, and longer than an answer may be that is held", async () => {
    const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 7) % 256);
    const server = await rawServer((_, response) => response.end(bytes));
    const { body } = await open(server.url, { maxResponseBytes: 1_000 });
    const parts: Uint8Array[] = [];
    const reader = readerOf({ body: body ?? null, arrayBuffer: async () => new ArrayBuffer() });
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      parts.push(read.value);
    }
    expect(Buffer.concat(parts).equals(bytes)).toBe(true);
  });

  test("that is held may not be longer than an answer may be", async () => {
    const server = await rawServer((_, response) => response.end("x".repeat(1_001)));
    const file = await open(server.url, { maxResponseBytes: 1_000 });
    await expect(file.arrayBuffer()).rejects.toThrow(
      "GET /containers/cntr_1/files/cfile_1/content was answered with more than 1000 bytes: raise clientConfig.maxResponseBytes if that is right",
    );
    const whole = await (await open(server.url, { maxResponseBytes: 1_001 })).arrayBuffer();
    expect(whole).toBeInstanceOf(ArrayBuffer);
    expect(whole.byteLength).toBe(1_001);
  });

  test("that is empty has a body that ends at once", async () => {
    const server = await rawServer((_, response) => response.end());
    expect((await (await open(server.url)).arrayBuffer()).byteLength).toBe(0);
    expect(await readerOf(await open(server.url)).read()).toMatchObject({ done: true });
  });

  test("is there once, for one reader", async () => {
    const server = await rawServer((_, response) => response.end("x"));
    const file = await open(server.url);
    await file.arrayBuffer();
    await expect(file.arrayBuffer()).rejects.toThrow("locked");
    expect(() => file.body?.getReader()).toThrow("locked");
  });

  test("frees its connection when it is cancelled before anything was read", async () => {
    let state: ReturnType<typeof pouring> | undefined;
    const server = await rawServer((_, response) => {
      state = pouring(response);
    });
    const { body } = await open(server.url);
    await body?.cancel("enough");
    await expect.poll(() => state?.isOpen).toBe(false);
  });

  test("frees its connection when it is cancelled while more is waited for", async () => {
    let isOpen = true;
    const server = await rawServer((_, response) => {
      response.on("close", () => {
        isOpen = false;
      });
      response.write("x");
    });
    const reader = readerOf(await open(server.url));
    await reader.read();
    const next = reader.read();
    await reader.cancel();
    expect(await next).toMatchObject({ done: true });
    await expect.poll(() => isOpen).toBe(false);
  });

  test("leaves its client usable when it is cancelled", async () => {
    const server = await rawServer(({ path }, response) => {
      if (path.endsWith("content")) pouring(response);
      else answer(response, 200, { id: "cntr_1" });
    });
    const client = clientOf(server.url);
    const file = await client.files.content("file-1");
    await file.body?.cancel();
    for (let turn = 0; turn < 3; turn++) await client.containers.retrieve("cntr_1");
    expect(server.requests).toHaveLength(4);
  });

  test("that stops half way is given up on in time", async () => {
    const server = await rawServer((_, response) => void response.write("abc"));
    const reader = readerOf(await open(server.url, { timeoutMs: 80 }));
    expect((await reader.read()).value?.length).toBe(3);
    await expect(reader.read()).rejects.toMatchObject({
      name: "OpenAIRequestError",
      reason: "timeout",
      status: 200,
      message: expect.stringContaining("got no more of its answer within 80 ms"),
    });
  });

  test("is not given up on because its reader is slow", async () => {
    const server = await rawServer((_, response) => {
      response.write("abc");
      response.write(Buffer.alloc(4_000_000, "y"), () => response.end());
    });
    const reader = readerOf(await open(server.url, { timeoutMs: 80 }));
    await wait(300);
    let length = 0;
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      length += read.value.length;
      if (length < 200_000) await wait(150);
    }
    expect(length).toBe(4_000_003);
  });

  test("that is cut off is a failure of the network", async () => {
    const server = await rawServer((_, response) => {
      response.writeHead(200, { "content-length": "100", "x-request-id": "req_1" }).write("abc");
      setTimeout(() => response.destroy(), 20);
    });
    const reader = readerOf(await open(server.url));
    await reader.read();
    await expect(reader.read()).rejects.toMatchObject({
      name: "OpenAIRequestError",
      reason: "network",
      requestId: "req_1",
      message: expect.stringContaining("was cut off within the answer: other side closed"),
    });
  });

  test("that is aborted fails with the signal's reason, read or not", async () => {
    let isOpen = true;
    const server = await rawServer((_, response) => {
      response.on("close", () => {
        isOpen = false;
      });
      response.write("abc");
    });
    const controller = new AbortController();
    const reader = readerOf(await open(server.url, {}, controller.signal));
    await reader.read();
    const next = expect(reader.read()).rejects.toBe("enough");
    controller.abort("enough");
    await next;
    await expect.poll(() => isOpen).toBe(false);
    const later = new AbortController();
    const file = await open(server.url, {}, later.signal);
    later.abort("too late");
    await expect(file.arrayBuffer()).rejects.toBe("too late");
  });

  test("that is not there is an error before there is anything to read", async () => {
    const server = await rawServer((_, response) =>
      answer(response, 404, { error: { message: "No such file." } }),
    );
    await expect(open(server.url)).rejects.toThrow("was answered with status 404: No such file");
  });
});
