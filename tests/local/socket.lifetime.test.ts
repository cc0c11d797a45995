import { describe, expect, test } from "vitest";
import type { LocalModel } from "weakincentives/local";
import { fakeClock } from "weakincentives/testing";
import { readAnswer, startProviderFixture } from "../support/local/provider-fixture.ts";
import { openRecallSocket } from "../support/local/recall-socket.ts";
import { openSocketClient } from "../support/local/socket-client.ts";

describe("the lifetime of a connection", () => {
  test("ends after 60 minutes with an event that names the limit", async () => {
    const clock = fakeClock();
    const model: LocalModel = { respond: () => new Promise(() => {}) };
    const { url } = await startProviderFixture([], { model, clock });
    const before = clock.sleeping;
    const client = await openSocketClient(url);
    client.create({ input: "Owl." });
    expect(clock.sleeping).toBe(before + 1);
    await clock.advance(60 * 60_000);
    expect(await client.readError()).toEqual({
      type: "error",
      status: 400,
      error: {
        type: "invalid_request_error",
        code: "websocket_connection_limit_reached",
        message:
          "Responses websocket connection limit reached (60 minutes). Create a new websocket connection to continue.",
        param: null,
      },
    });
    expect(await client.closed).toMatchObject({ code: 1001 });
    expect(clock.sleeping).toBe(before);
  });

  test("ends when the provider is disposed, and its turn is aborted", async () => {
    const signals: AbortSignal[] = [];
    const model: LocalModel = {
      respond(_, { signal } = {}) {
        if (signal) signals.push(signal);
        return new Promise(() => {});
      },
    };
    const { url, provider } = await startProviderFixture([], { model });
    const client = await openSocketClient(url);
    client.create({ input: "Owl." });
    await expect.poll(() => signals.length).toBe(1);
    await provider[Symbol.asyncDispose]();
    expect(await client.closed).toEqual({ code: 1001, reason: "The local provider was closed." });
    expect(signals[0]?.aborted).toBe(true);
  });

  test("ends when the client does not answer the close frame of the provider", async () => {
    const { provider, client } = await openRecallSocket();
    client.socket.pause();
    await provider[Symbol.asyncDispose]();
  });

  test("ends the turn when the client disconnects, and drops waiting requests", async () => {
    const signals: AbortSignal[] = [];
    const model: LocalModel = {
      respond(_, { signal } = {}) {
        if (signal) signals.push(signal);
        return new Promise(() => {});
      },
    };
    const { url } = await startProviderFixture([], { model });
    const client = await openSocketClient(url);
    client.create({ input: "One." });
    client.create({ input: "Two." });
    await expect.poll(() => signals.length).toBe(1);
    client.socket.terminate();
    await expect.poll(() => signals[0]?.aborted).toBe(true);
    expect(signals).toHaveLength(1);
  });

  test("answers pings", async () => {
    const { client } = await openRecallSocket();
    const pong = new Promise((resolve) => client.socket.once("pong", resolve));
    client.socket.ping("owl");
    expect(String(await pong)).toBe("owl");
  });
});

describe("a client that does not read", () => {
  test("pauses the turn until it reads", async () => {
    let calls = 0;
    const model: LocalModel = {
      async respond() {
        calls += 1;
        return calls <= 60 ? [{ think: "x".repeat(300_000) }] : [{ say: "done" }];
      },
    };
    const { url } = await startProviderFixture([], { model });
    const client = await openSocketClient(url);
    client.socket.pause();
    client.create({ input: "flood" });
    await expect.poll(() => calls).toBeGreaterThan(1);
    const stalled = await waitUntilStable(() => calls);
    expect(stalled).toBeLessThan(60);
    client.socket.resume();
    expect(readAnswer(await client.readResponse())).toBe("done");
    expect(calls).toBe(61);
  });

  test("pauses the answers to invalid messages and pings until it reads", async () => {
    const { client } = await openRecallSocket();
    client.socket.pause();
    const [messages, pings] = [20_000, 1000];
    let pongs = 0;
    client.socket.on("pong", () => {
      pongs += 1;
    });
    // 40 MB: the buffers of the system hold up to 10 MB for the two sockets.
    for (let sent = 0; sent < messages; sent++) client.send(`{"type":"${"x".repeat(2_000)}"}`);
    for (let sent = 0; sent < pings; sent++) client.socket.ping();
    await waitUntilStable(() => client.socket.bufferedAmount);
    expect(client.socket.bufferedAmount).toBeGreaterThan(0);
    client.socket.resume();
    for (let read = 0; read < messages; read++) expect((await client.next()).type).toBe("error");
    await expect.poll(() => pongs).toBe(pings);
  });
});

/** Returns a value once it has not changed for a while. */
async function waitUntilStable(read: () => number): Promise<number> {
  for (;;) {
    const before = read();
    await new Promise((resolve) => setTimeout(resolve, 150));
    if (read() === before) return before;
  }
}
