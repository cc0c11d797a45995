import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "../http/listen.ts";
import { Upgrades, type UpgradesOptions } from "./upgrades.ts";

/** Serves handshakes that `fetch` decides on. No handshake of these tests succeeds. */
async function startListening(fetch: UpgradesOptions["fetch"]) {
  const services = { maxBodyBytes: 1000 } as UpgradesOptions;
  const upgrades = new Upgrades({ ...services, fetch });
  const listening = await listen(fetch, {}, { upgrades });
  onTestFinished(() => listening.close());
  return { listening, upgrades };
}

/** Sends a handshake. */
function shakeHands(url: string): Socket {
  const { port } = new URL(url);
  const socket = connect(Number(port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  const lines = ["GET /v1/responses HTTP/1.1", "host: owl", "connection: upgrade"];
  socket.write([...lines, "upgrade: WebSocket", "", ""].join("\r\n"));
  return socket;
}

test("Upgrades sends the answer of the API over HTTP and ends the connection", async () => {
  const headers = { "x-owl": "hoot" };
  const { listening } = await startListening(() => new Response("No.", { status: 404, headers }));
  const answer = await text(shakeHands(listening.url));
  expect(answer).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
  expect(answer).toContain("x-owl: hoot\r\n");
  expect(answer).toContain("Connection: close\r\n");
  expect(answer).toContain("No.");
});

test("Upgrades drops the connection if the API throws", async () => {
  const { listening } = await startListening(() => Promise.reject(new Error("No.")));
  expect(await text(shakeHands(listening.url))).toBe("");
});

test("Upgrades rejects a handshake that the WebSocket library cannot complete", async () => {
  const { listening } = await startListening(() => new Response(null, { status: 426 }));
  expect(await text(shakeHands(listening.url))).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
});

test("Upgrades drops a handshake that is still being decided when it closes", async () => {
  const { promise, resolve } = Promise.withResolvers<Response>();
  let count = 0;
  const { listening } = await startListening(() => {
    count += 1;
    return promise;
  });
  const socket = shakeHands(listening.url);
  await expect.poll(() => count).toBe(1);
  const closed = once(socket, "close");
  await listening.close();
  await closed;
  resolve(new Response(null, { status: 426 }));
});

test("Upgrades ignores a client that resets the connection during the handshake", async () => {
  const { promise, resolve } = Promise.withResolvers<Response>();
  let count = 0;
  const { listening } = await startListening(() => {
    count += 1;
    return count === 1 ? promise : new Response("No.", { status: 404 });
  });
  const socket = shakeHands(listening.url);
  await expect.poll(() => count).toBe(1);
  socket.resetAndDestroy();
  await once(socket, "close");
  expect(await text(shakeHands(listening.url))).toContain("No.");
  resolve(new Response("No.", { status: 404 }));
});
