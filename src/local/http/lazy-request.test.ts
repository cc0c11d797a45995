import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { LazyRequest } from "./lazy-request.ts";

interface ReceivedRequest {
  readonly request: LazyRequest | null;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** The client's socket. */
  readonly socket: Socket;
}

/** Returns a server's view of these bytes as soon as the headers have arrived. */
async function receiveRequest(bytes: string | Buffer): Promise<ReceivedRequest> {
  const arrived = Promise.withResolvers<Omit<ReceivedRequest, "socket">>();
  const server = createServer((incoming, outgoing) => {
    arrived.resolve({ request: LazyRequest.from(incoming, outgoing), incoming, outgoing });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  onTestFinished(() => {
    socket.destroy();
    server.close();
    server.closeAllConnections();
  });
  socket.write(bytes);
  return { ...(await arrived.promise), socket };
}

function createPost(body: string | Buffer, type = "application/json"): Buffer {
  const length = Buffer.byteLength(body);
  const head = `POST /v1/a?b=c HTTP/1.1\r\nhost: localhost:8080\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\nx-two: 1\r\nx-two: 2\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(body)]);
}

async function receivePost(body: string | Buffer, type?: string): Promise<LazyRequest> {
  const { request } = await receiveRequest(createPost(body, type));
  if (!request) return expect.unreachable();
  return request;
}

describe("LazyRequest", () => {
  test("has the method, URL and headers of the request", async () => {
    const request = await receivePost("{}");
    expect(request).toMatchObject({
      method: "POST",
      url: "http://localhost:8080/v1/a?b=c",
      contentLength: 2,
      bodyUsed: false,
    });
    expect(Object.fromEntries(request.headers)).toEqual({
      host: "localhost:8080",
      "content-type": "application/json",
      "content-length": "2",
      "x-two": "1, 2",
    });
    expect(request.headers).toBe(request.headers);
  });

  test("has no body for GET", async () => {
    const { request } = await receiveRequest("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
    expect(request).toMatchObject({ method: "GET", body: null, contentLength: null });
  });

  test("is not created for a request with an invalid address", async () => {
    const bytes = "GET / HTTP/1.1\r\nhost: a b\r\n\r\n";
    expect(await receiveRequest(bytes)).toMatchObject({ request: null });
  });
});

describe("LazyRequest body", () => {
  test("can be read as text, JSON or bytes", async () => {
    const text = '{"owl":"\u00e9"}';
    expect(await (await receivePost(text)).text()).toBe(text);
    expect(await (await receivePost(text)).json()).toEqual({ owl: "\u00e9" });
    expect(await (await receivePost("")).text()).toBe("");
    const bytes = new TextEncoder().encode(text);
    expect(await (await receivePost(text)).bytes()).toEqual(bytes);
    expect(new Uint8Array(await (await receivePost(text)).arrayBuffer())).toEqual(bytes);
    expect((await (await receivePost(text)).blob()).type).toBe("application/json");
    const form = await (await receivePost("owl=1", "application/x-www-form-urlencoded")).formData();
    expect(form.get("owl")).toBe("1");
  });

  test("is read as text without a byte order mark", async () => {
    expect(await (await receivePost("\uFEFF{}")).text()).toBe("{}");
  });

  test("is complete if its chunks split characters", async () => {
    const bytes = createPost("\u00e9".repeat(50_000));
    const { request, socket } = await receiveRequest(bytes.subarray(0, -1));
    const reading = request?.text();
    socket.write(bytes.subarray(-1));
    expect(await reading).toBe("\u00e9".repeat(50_000));
    expect(request).toMatchObject({ bodyUsed: true });
  });

  test("can be read only once", async () => {
    const request = await receivePost("{}");
    await request.text();
    await expect(request.text()).rejects.toThrow("Body is unusable");
    await expect(request.bytes()).rejects.toThrow(TypeError);
    expect(() => request.clone()).toThrow(TypeError);
  });

  test("can be streamed, or read whole from the stream", async () => {
    const request = await receivePost("x".repeat(100_000));
    let length = 0;
    for await (const part of request.body ?? []) length += part.length;
    expect(length).toBe(100_000);
    const other = await receivePost("Hello.");
    expect(other.body).toBe(other.body);
    expect(await other.text()).toBe("Hello.");
  });

  test("applies backpressure while it is not read", async () => {
    const { request, incoming, socket } = await receiveRequest(createPost("x".repeat(30_000_000)));
    const reader = request?.body?.getReader();
    await reader?.read();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(incoming.readableLength).toBeLessThan(1_000_000);
    expect(socket.writableLength).toBeGreaterThan(1_000_000);
    await reader?.cancel();
    expect(incoming.destroyed).toBe(false);
  });

  test("rejects if the client sends only a part", async () => {
    for (const read of ["text", "bytes"] as const) {
      const { request, socket } = await receiveRequest(createPost("Hello.").subarray(0, -1));
      const reading = request?.[read]();
      socket.destroy();
      await expect(reading).rejects.toThrow("aborted");
    }
  });

  test("rejects if the client disconnected before it was read", async () => {
    const { request, incoming, socket } = await receiveRequest(
      createPost("Hello.").subarray(0, -1),
    );
    const closed = new Promise((resolve) => incoming.on("close", resolve));
    socket.destroy();
    await closed;
    await expect(request?.text()).rejects.toThrow("The client disconnected.");
  });
});

describe("LazyRequest signal", () => {
  test("aborts when the client disconnects, even if it is first read afterward", async () => {
    const { request, outgoing, socket } = await receiveRequest(createPost("{}"));
    const late = await receiveRequest(createPost("{}"));
    await Promise.all([request?.text(), late.request?.text()]);
    expect(request?.signal.aborted).toBe(false);
    const closed = [once(outgoing, "close"), once(late.outgoing, "close")];
    socket.destroy();
    late.socket.destroy();
    await Promise.all(closed);
    for (const signal of [request?.signal, late.request?.signal]) {
      expect(signal?.aborted).toBe(true);
      expect(signal?.reason).toEqual(new Error("The client disconnected."));
    }
  });

  test("does not abort after the response was sent", async () => {
    const { request, outgoing, socket } = await receiveRequest(createPost("{}"));
    await request?.text();
    const { signal } = request ?? {};
    const closed = once(outgoing, "close");
    outgoing.end("Hello.");
    await closed;
    socket.destroy();
    expect(signal?.aborted).toBe(false);
  });
});
