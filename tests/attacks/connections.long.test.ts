import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import type { Server } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { servedProcess } from "../support/attacks/served-process.ts";
import { hostSandbox } from "../support/host-sandbox.ts";

const isLinux = process.platform === "linux";

const HALF_A_HEADER = "POST /v1/responses HTTP/1.1\r\nhost: local\r\nx-half";
const HALF_A_BODY = "POST /v1/responses HTTP/1.1\r\nhost: local\r\ncontent-length: 100\r\n\r\n{";
const HALF_AN_UPLOAD = [
  "POST /v1/files HTTP/1.1\r\nhost: local\r\ncontent-length: 1000\r\n",
  "content-type: multipart/form-data; boundary=b\r\n\r\n--b\r\n",
  'content-disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhalf',
].join("");

/** So many connections, of which each has sent one of these. */
async function connections(port: number, count: number, sent: readonly string[]) {
  const sockets = Array.from({ length: count }, () => connect(port, "127.0.0.1"));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (const socket of sockets) socket.on("error", () => undefined); // the server may end it first
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  for (const [place, socket] of sockets.entries()) socket.write(sent[place % sent.length] ?? "");
  return sockets;
}

async function closed(sockets: readonly Socket[]): Promise<void> {
  const ended = Promise.all(sockets.map((socket) => socket.closed || once(socket, "close")));
  for (const socket of sockets) socket.destroy();
  await ended;
}

describe("1,000 connections that send nothing, or half of something,", () => {
  const halves = ["", HALF_A_HEADER, HALF_A_BODY, HALF_AN_UPLOAD];

  test("keep nobody waiting, and leave nothing when they go", async () => {
    const { port, turn, sockets } = await servedProcess();
    await turn();
    const before = isLinux ? sockets() : 0;
    const idle = await connections(port, 1_000, halves);
    if (isLinux) await expect.poll(sockets).toBeGreaterThanOrEqual(1_000);
    for (let turns = 0; turns < 5; turns++) expect(await turn()).toBeLessThan(1_000);
    expect(idle.filter(({ destroyed }) => destroyed)).toEqual([]);
    await closed(idle);
    if (isLinux) await expect.poll(sockets).toBeLessThanOrEqual(before + 1);
    expect(await turn()).toBeLessThan(1_000);
  });

  test("do not keep the server from ending", async () => {
    const { port, turn, stop } = await servedProcess();
    await connections(port, 1_000, halves);
    await turn();
    const started = performance.now();
    expect(await stop()).toEqual([0, null]);
    expect(performance.now() - started).toBeLessThan(1_500);
  });
});

describe("a slow client", () => {
  test("that sends a byte now and then is answered, and holds up no other", async () => {
    const { port, turn } = await servedProcess();
    const body = JSON.stringify({ model: "any", input: "Slowly." });
    const head = `POST /v1/responses HTTP/1.1\r\nhost: local\r\nconnection: close\r\n`;
    const request = `${head}content-length: ${body.length}\r\n\r\n${body}`;
    const slow = await connections(port, 20, [""]);
    const answers = slow.map((socket) => allOf(socket));
    for (const byte of request) {
      for (const socket of slow) socket.write(byte);
      await sleep(5);
    }
    expect(await turn()).toBeLessThan(1_000);
    for (const answer of await Promise.all(answers)) expect(answer).toContain("You said: Slowly.");
  });

  test("has a minute for its header and five for its request", async () => {
    const seen = Promise.withResolvers<Server>();
    const see = (message: unknown) => seen.resolve((message as { readonly server: Server }).server);
    subscribe("http.server.request.start", see);
    onTestFinished(() => void unsubscribe("http.server.request.start", see));
    await using provider = new LocalProvider({ sandbox: hostSandbox() });
    const { url } = await provider.listen();
    await fetch(`${url}/models`);
    const { headersTimeout, requestTimeout } = await seen.promise;
    // Node ends what takes longer, and nothing in front of it turns that off.
    expect(headersTimeout).toBeGreaterThan(0);
    expect(headersTimeout).toBeLessThanOrEqual(60_000);
    expect(requestTimeout).toBeGreaterThan(0);
    expect(requestTimeout).toBeLessThanOrEqual(300_000);
  });
});

async function allOf(socket: Socket): Promise<string> {
  let text = "";
  for await (const chunk of socket) text += chunk;
  return text;
}

describe("a client that never reads", () => {
  const STREAM = JSON.stringify({ model: "any", input: "word ".repeat(50_000), stream: true });
  const request = [
    "POST /v1/responses HTTP/1.1\r\nhost: local\r\n",
    `content-length: ${STREAM.length}\r\n\r\n${STREAM}`,
  ].join("");

  test("a stream holds up no other, and what is kept for it is freed", async () => {
    const { port, turn, sockets, peakMemory } = await servedProcess();
    await turn();
    const before = isLinux ? sockets() : 0;
    const deaf = await connections(port, 20, [""]);
    for (const socket of deaf) socket.pause().write(request);
    for (let turns = 0; turns < 5; turns++) expect(await turn()).toBeLessThan(2_000);
    await closed(deaf);
    if (!isLinux) return;
    await expect.poll(sockets).toBeLessThanOrEqual(before + 1);
    // What another twenty need was freed by the first.
    const peak = peakMemory();
    for (let rounds = 0; rounds < 5; rounds++) {
      const next = await connections(port, 20, [""]);
      for (const socket of next) socket.pause().write(request);
      await turn();
      await closed(next);
    }
    expect(peakMemory() - peak).toBeLessThan(150 * 2 ** 20);
  });

  test("ends a turn that still runs when it goes", async () => {
    const over = Promise.withResolvers<unknown>();
    const { respond } = scriptedModel(() => [{ say: "x".repeat(5_000_000) }, { stall: 60_000 }]);
    await using provider = new LocalProvider({
      sandbox: hostSandbox(),
      model: {
        respond(asked, options) {
          options?.signal?.addEventListener("abort", () => over.resolve(options.signal?.reason));
          return respond(asked, options);
        },
      },
    });
    const { url } = await provider.listen();
    const [deaf] = await connections(Number(new URL(url).port), 1, [""]);
    deaf?.pause().write(request);
    await sleep(300);
    deaf?.destroy();
    expect(await over.promise).toBeDefined();
  });
});
