import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import type { Server } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { startServer } from "../support/attacks/server-process.ts";
import { hostSandbox } from "../support/host-sandbox.ts";

const isLinux = process.platform === "linux";

const HALF_A_HEADER =
  "POST /v1/responses HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nx-half";
const HALF_A_BODY =
  "POST /v1/responses HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
const HALF_AN_UPLOAD = [
  "POST /v1/files HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n",
  "content-type: multipart/form-data; boundary=b\r\n\r\n--b\r\n",
  'content-disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhalf',
].join("");

/** Opens `count` connections and sends one of the texts in `sent` on each, in turn. */
async function openConnections(port: number, count: number, sent: readonly string[]) {
  const sockets = Array.from({ length: count }, () => connect(port, "127.0.0.1"));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (const socket of sockets) socket.on("error", () => undefined); // the server may close it first
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  for (const [place, socket] of sockets.entries()) socket.write(sent[place % sent.length] ?? "");
  return sockets;
}

async function closeAll(sockets: readonly Socket[]): Promise<void> {
  const ended = Promise.all(sockets.map((socket) => socket.closed || once(socket, "close")));
  for (const socket of sockets) socket.destroy();
  await ended;
}

describe("1,000 connections that send nothing or half a request", () => {
  const halves = ["", HALF_A_HEADER, HALF_A_BODY, HALF_AN_UPLOAD];

  test("do not delay other requests, and leave no sockets open after closing", async () => {
    const { port, requestTurn, countSockets } = await startServer();
    await requestTurn();
    const before = isLinux ? countSockets() : 0;
    const idle = await openConnections(port, 1_000, halves);
    if (isLinux) await expect.poll(countSockets).toBeGreaterThanOrEqual(1_000);
    for (let turns = 0; turns < 5; turns++) expect(await requestTurn()).toBeLessThan(1_000);
    expect(idle.filter(({ destroyed }) => destroyed)).toEqual([]);
    await closeAll(idle);
    if (isLinux) await expect.poll(countSockets).toBeLessThanOrEqual(before + 1);
    expect(await requestTurn()).toBeLessThan(1_000);
  });

  test("do not prevent the server from stopping", async () => {
    const { port, requestTurn, stop } = await startServer();
    await openConnections(port, 1_000, halves);
    await requestTurn();
    const started = performance.now();
    expect(await stop()).toEqual([0, null]);
    expect(performance.now() - started).toBeLessThan(1_500);
  });
});

describe("A slow client", () => {
  test("gets a response even if it sends single bytes, and does not delay others", async () => {
    const { port, requestTurn } = await startServer();
    const body = JSON.stringify({ model: "any", input: "Slowly." });
    const head = `POST /v1/responses HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n`;
    const request = `${head}content-length: ${body.length}\r\n\r\n${body}`;
    const slow = await openConnections(port, 20, [""]);
    const answers = slow.map((socket) => readAll(socket));
    for (const byte of request) {
      for (const socket of slow) socket.write(byte);
      await sleep(5);
    }
    expect(await requestTurn()).toBeLessThan(1_000);
    for (const answer of await Promise.all(answers)) expect(answer).toContain("You said: Slowly.");
  });

  test("has one minute to send its headers and five to send its request", async () => {
    const seen = Promise.withResolvers<Server>();
    const onRequestStart = (message: unknown) =>
      seen.resolve((message as { readonly server: Server }).server);
    subscribe("http.server.request.start", onRequestStart);
    onTestFinished(() => void unsubscribe("http.server.request.start", onRequestStart));
    await using provider = new LocalProvider({ sandbox: hostSandbox() });
    const { url } = await provider.listen();
    await fetch(`${url}/models`);
    const { headersTimeout, requestTimeout } = await seen.promise;
    // Node closes slower connections; the provider must not disable these timeouts.
    expect(headersTimeout).toBeGreaterThan(0);
    expect(headersTimeout).toBeLessThanOrEqual(60_000);
    expect(requestTimeout).toBeGreaterThan(0);
    expect(requestTimeout).toBeLessThanOrEqual(300_000);
  });
});

async function readAll(socket: Socket): Promise<string> {
  let text = "";
  for await (const chunk of socket) text += chunk;
  return text;
}

describe("A client that never reads", () => {
  const STREAM = JSON.stringify({ model: "any", input: "word ".repeat(50_000), stream: true });
  const request = [
    "POST /v1/responses HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n",
    `content-length: ${STREAM.length}\r\n\r\n${STREAM}`,
  ].join("");

  test("does not delay other clients, and its buffers are freed", async () => {
    const { port, requestTurn, countSockets, readPeakMemory } = await startServer();
    await requestTurn();
    const before = isLinux ? countSockets() : 0;
    const deaf = await openConnections(port, 20, [""]);
    for (const socket of deaf) socket.pause().write(request);
    for (let turns = 0; turns < 5; turns++) expect(await requestTurn()).toBeLessThan(2_000);
    await closeAll(deaf);
    if (!isLinux) return;
    await expect.poll(countSockets).toBeLessThanOrEqual(before + 1);
    // Later clients reuse the memory that the first ones freed.
    const peak = readPeakMemory();
    for (let rounds = 0; rounds < 5; rounds++) {
      const next = await openConnections(port, 20, [""]);
      for (const socket of next) socket.pause().write(request);
      await requestTurn();
      await closeAll(next);
    }
    expect(readPeakMemory() - peak).toBeLessThan(150 * 2 ** 20);
  });

  test("aborts its running turn when it disconnects", async () => {
    const aborted = Promise.withResolvers<unknown>();
    const { respond } = scriptedModel(() => [{ say: "x".repeat(5_000_000) }, { stall: 60_000 }]);
    await using provider = new LocalProvider({
      sandbox: hostSandbox(),
      model: {
        respond(request, options) {
          options?.signal?.addEventListener("abort", () => aborted.resolve(options.signal?.reason));
          return respond(request, options);
        },
      },
    });
    const { url } = await provider.listen();
    const [deaf] = await openConnections(Number(new URL(url).port), 1, [""]);
    deaf?.pause().write(request);
    await sleep(300);
    deaf?.destroy();
    expect(await aborted.promise).toBeDefined();
  });
});
