import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { SocketRequest } from "./socket-request.ts";

interface Asked {
  readonly request: SocketRequest | null;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** The client's end. */
  readonly socket: Socket;
}

/** What a server has of these bytes as soon as their headers are there. */
async function asked(bytes: string | Buffer): Promise<Asked> {
  const arrived = Promise.withResolvers<Omit<Asked, "socket">>();
  const server = createServer((incoming, outgoing) => {
    arrived.resolve({ request: SocketRequest.from(incoming, outgoing), incoming, outgoing });
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

function post(body: string | Buffer, type = "application/json"): Buffer {
  const length = Buffer.byteLength(body);
  const head = `POST /v1/a?b=c HTTP/1.1\r\nhost: localhost:8080\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\nx-two: 1\r\nx-two: 2\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(body)]);
}

async function posted(body: string | Buffer, type?: string): Promise<SocketRequest> {
  const { request } = await asked(post(body, type));
  if (!request) return expect.unreachable();
  return request;
}

describe("a request on a socket", () => {
  test("says what was asked, and with which headers", async () => {
    const request = await posted("{}");
    expect(request).toMatchObject({
      method: "POST",
      url: "http://localhost:8080/v1/a?b=c",
      saidLength: 2,
      bodyUsed: false,
      isRead: false,
    });
    expect(Object.fromEntries(request.headers)).toEqual({
      host: "localhost:8080",
      "content-type": "application/json",
      "content-length": "2",
      "x-two": "1, 2",
    });
    expect(request.headers).toBe(request.headers);
  });

  test("without a body has none to wait for", async () => {
    const { request } = await asked("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
    expect(request).toMatchObject({ method: "GET", body: null, saidLength: null, isRead: true });
  });

  test.each([
    ["a host that is none", "GET / HTTP/1.1\r\nhost: a b\r\n\r\n"],
    ["a port that is none", "GET / HTTP/1.1\r\nhost: localhost:65536\r\n\r\n"],
    ["no host", "GET / HTTP/1.0\r\n\r\n"],
    ["a path with dots", "GET /v1/../a HTTP/1.1\r\nhost: localhost\r\n\r\n"],
    ["a path with a backslash", "GET /v1\\a HTTP/1.1\r\nhost: localhost\r\n\r\n"],
    ["a path in code", "GET /v1/%41 HTTP/1.1\r\nhost: localhost\r\n\r\n"],
    ["a whole address", "GET http://localhost/v1 HTTP/1.1\r\nhost: localhost\r\n\r\n"],
  ])("with %s is not taken as it stands", async (_what, bytes) => {
    expect(await asked(bytes)).toMatchObject({ request: null });
  });
});

describe("the body of a request on a socket", () => {
  test("is read as text, data or bytes", async () => {
    const text = '{"owl":"\u00e9"}';
    expect(await (await posted(text)).text()).toBe(text);
    expect(await (await posted(text)).json()).toEqual({ owl: "\u00e9" });
    expect(await (await posted("")).text()).toBe("");
    const bytes = new TextEncoder().encode(text);
    expect(await (await posted(text)).bytes()).toEqual(bytes);
    expect(new Uint8Array(await (await posted(text)).arrayBuffer())).toEqual(bytes);
    expect((await (await posted(text)).blob()).type).toBe("application/json");
    const form = await (await posted("owl=1", "application/x-www-form-urlencoded")).formData();
    expect(form.get("owl")).toBe("1");
  });

  test("is text without the mark that some begin with", async () => {
    expect(await (await posted("\uFEFF{}")).text()).toBe("{}");
  });

  test("is whole although it came in pieces that cut characters in two", async () => {
    const bytes = post("\u00e9".repeat(50_000));
    const { request, socket } = await asked(bytes.subarray(0, -1));
    const reading = request?.text();
    socket.write(bytes.subarray(-1));
    expect(await reading).toBe("\u00e9".repeat(50_000));
    expect(request).toMatchObject({ isRead: true, bodyUsed: true });
  });

  test("is read once", async () => {
    const request = await posted("{}");
    await request.text();
    await expect(request.text()).rejects.toThrow("Body is unusable");
    await expect(request.bytes()).rejects.toThrow(TypeError);
    expect(() => request.clone()).toThrow(TypeError);
  });

  test("is a stream for those who take it piece by piece, or whole after all", async () => {
    const request = await posted("x".repeat(100_000));
    let length = 0;
    for await (const part of request.body ?? []) length += part.length;
    expect(length).toBe(100_000);
    expect(request.isRead).toBe(true);
    const other = await posted("Hello.");
    expect(other.body).toBe(other.body);
    expect(await other.text()).toBe("Hello.");
  });

  test("waits in the client while nobody takes it", async () => {
    const { request, incoming, socket } = await asked(post("x".repeat(30_000_000)));
    const reader = request?.body?.getReader();
    await reader?.read();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(incoming.readableLength).toBeLessThan(1_000_000);
    expect(socket.writableLength).toBeGreaterThan(1_000_000);
    await reader?.cancel();
    expect(incoming.destroyed).toBe(false);
  });

  test("that does not come whole is an error", async () => {
    for (const read of ["text", "bytes"] as const) {
      const { request, socket } = await asked(post("Hello.").subarray(0, -1));
      const reading = request?.[read]();
      socket.destroy();
      await expect(reading).rejects.toThrow("aborted");
    }
  });

  test("is nobody's when the client has gone before it was read", async () => {
    const { request, incoming, socket } = await asked(post("Hello.").subarray(0, -1));
    const closed = new Promise((resolve) => incoming.on("close", resolve));
    socket.destroy();
    await closed;
    await expect(request?.text()).rejects.toThrow("the client has gone");
  });
});

describe("the signal of a request on a socket", () => {
  test("aborts when the client goes, whether it was asked for before or after", async () => {
    const { request, outgoing, socket } = await asked(post("{}"));
    const late = await asked(post("{}"));
    await Promise.all([request?.text(), late.request?.text()]);
    expect(request?.signal.aborted).toBe(false);
    const closed = [once(outgoing, "close"), once(late.outgoing, "close")];
    socket.destroy();
    late.socket.destroy();
    await Promise.all(closed);
    for (const signal of [request?.signal, late.request?.signal]) {
      expect(signal?.aborted).toBe(true);
      expect(signal?.reason).toEqual(new Error("the client has gone"));
    }
  });

  test("stays silent when the client has its answer", async () => {
    const { request, outgoing, socket } = await asked(post("{}"));
    await request?.text();
    const { signal } = request ?? {};
    const closed = once(outgoing, "close");
    outgoing.end("Hello.");
    await closed;
    socket.destroy();
    expect(signal?.aborted).toBe(false);
  });
});
