import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { BufferedResponse } from "./buffered-response.ts";
import { type Listening, listen } from "./listen.ts";

type Handle = (request: Request) => Response | Promise<Response>;

async function startListening(handle: Handle): Promise<Listening> {
  const listening = await listen(handle, {});
  onTestFinished(() => listening.close());
  return listening;
}

/** Sends raw bytes and returns the whole answer until the connection closes. */
async function sendRaw({ url }: Listening, request: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let heard = "";
  socket.setEncoding("utf8").on("data", (part) => {
    heard += part;
  });
  socket.write(request);
  await once(socket, "close");
  return heard;
}

const json = { "content-type": "application/json" };

describe("listen() with a buffered response", () => {
  test("sends the text unchanged with its length in bytes", async () => {
    const listening = await startListening(
      () => new BufferedResponse('{"owl":"\u00e9"}', json, 201),
    );
    const response = await fetch(listening.url);
    expect(response.status).toBe(201);
    expect(Object.fromEntries(response.headers)).toMatchObject({ ...json, "content-length": "12" });
    expect(await response.json()).toEqual({ owl: "\u00e9" });
  });

  test("sends several responses on one connection", async () => {
    const listening = await startListening(
      (request) => new BufferedResponse(new URL(request.url).pathname, {}),
    );
    const createRequest = (path: string, end: string) =>
      `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: ${end}\r\n\r\n`;
    const heard = await sendRaw(
      listening,
      createRequest("/a", "keep-alive") + createRequest("/b", "close"),
    );
    expect(heard.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
    expect(heard).toMatch(/\r\n\r\n\/aHTTP.*\r\n\r\n\/b$/s);
  });

  test("sends no body for HEAD", async () => {
    const listening = await startListening(() => new BufferedResponse("Hello.", {}));
    const asked = "HEAD / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    const heard = await sendRaw(listening, asked);
    expect(heard).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(heard).toMatch(/content-length: 6\r\n.*\r\n\r\n$/s);
  });

  test("keeps the connection usable if the request body was not read", async () => {
    const listening = await startListening(() => new BufferedResponse("No.", {}));
    const createRawRequest = (end: string) =>
      `POST / HTTP/1.1\r\nhost: localhost\r\nconnection: ${end}\r\ncontent-length: 90000\r\n\r\n${"x".repeat(90_000)}`;
    const heard = await sendRaw(
      listening,
      createRawRequest("keep-alive") + createRawRequest("close"),
    );
    expect(heard.match(/\r\n\r\nNo\./g)).toHaveLength(2);
  });

  test("discards a response if its client has disconnected, and serves the next one", async () => {
    const [asked, gone, answered] = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    const listening = await startListening(async (request) => {
      if (request.method === "GET") return new BufferedResponse("Still here.", {});
      await request.text();
      request.signal.addEventListener("abort", () => gone?.resolve());
      asked?.resolve();
      await gone?.promise;
      setImmediate(() => answered?.resolve());
      return new BufferedResponse("Too late.", {});
    });
    const controller = new AbortController();
    const { signal } = controller;
    const lost = fetch(listening.url, { method: "POST", body: "Hi.", signal });
    await asked?.promise;
    controller.abort();
    await expect(lost).rejects.toThrow("aborted");
    await answered?.promise;
    expect(await (await fetch(listening.url)).text()).toBe("Still here.");
  });
});

describe("listen() with an unusual request", () => {
  const createPlainRequest = (path: string, host = "localhost") =>
    `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`;

  test.each([
    ["/v1/%41", "http://localhost/v1/%41"],
    ["/v1/../a", "http://localhost/a"],
    ["http://other/v1", "http://other/v1"],
  ])("serves the unusual address %s", async (path, url) => {
    const listening = await startListening((request) => new BufferedResponse(request.url, {}));
    expect(await sendRaw(listening, createPlainRequest(path))).toMatch(
      new RegExp(`\r\n\r\n${url}$`),
    );
  });

  test.each([
    ["/v1", "a b"],
    ["/v1\\a", "localhost"],
  ])("rejects the path %s on the host %s", async (path, host) => {
    const listening = await startListening(() => expect.unreachable());
    expect(await sendRaw(listening, createPlainRequest(path, host))).toMatch(/^HTTP\/1\.1 400 /);
  });

  test("answers an unexpected error with 500", async () => {
    const listening = await startListening(() => {
      throw new Error("Oh.");
    });
    const heard = await sendRaw(listening, createPlainRequest("/"));
    expect(heard).toMatch(/^HTTP\/1\.1 500 /);
    expect(heard).not.toContain("Oh.");
  });

  test("does not send a response with an invalid header", async () => {
    const listening = await startListening(
      () => new BufferedResponse("Hello.", { "x-bad": "a\nb" }),
    );
    expect(await sendRaw(listening, createPlainRequest("/"))).toBe("");
  });
});

describe("listen() on a port in use", () => {
  test("throws an error with a remedy", async () => {
    const { url } = await startListening(() => new Response(null));
    const port = Number(new URL(url).port);
    await expect(listen(() => new Response(null), { port })).rejects.toThrow(
      /listen\(port\) must be free to listen on/,
    );
  });
});
