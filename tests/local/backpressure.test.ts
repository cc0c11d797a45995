import { request as sendRequest } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { type LocalModel, LocalProvider } from "weakincentives/local";

const STEPS = 60;
const BYTES = 300_000;

/** Starts a provider whose model thinks 300,000 characters in each of 60 steps if the input is "flood". */
function startFlood() {
  const seen = { calls: 0, signal: new AbortController().signal };
  const model: LocalModel = {
    async respond({ text }, { signal } = {}) {
      if (!text.includes("flood")) return [{ say: "pong" }];
      seen.calls += 1;
      if (signal) seen.signal = signal;
      return seen.calls <= STEPS ? [{ think: "x".repeat(BYTES) }] : [{ say: "done" }];
    },
  };
  const provider = new LocalProvider({ model });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  return { provider, seen };
}

const apis = [
  {
    name: "the Responses API",
    path: "/v1/responses",
    body: (text: string) => ({ model: "any", input: text }),
    end: "event: response.completed",
  },
  {
    name: "the Messages API",
    path: "/v1/messages",
    body: (text: string) => ({
      model: "any",
      max_tokens: 100_000_000,
      thinking: { type: "adaptive" },
      messages: [{ role: "user", content: text }],
    }),
    end: "event: message_stop",
  },
] as const;

/** Sends other requests, each of which takes longer than a step of the flood. */
async function ping(send: typeof fetch, url: string, { path, body }: (typeof apis)[number]) {
  for (let place = 0; place < 20; place++) {
    const response = await send(url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body("ping")),
    });
    expect(await response.text()).toContain("pong");
  }
}

describe.each(apis)("a stream of $name that the client does not read", (api) => {
  const createFlood = () => JSON.stringify({ ...api.body("flood"), stream: true });

  test("pauses the turn in process, and continues when it is read", async () => {
    const { provider, seen } = startFlood();
    const init = { method: "POST", body: createFlood() };
    const response = await provider.fetch(`http://local${api.path}`, init);
    await ping(provider.fetch, "http://local", api);
    expect(seen.calls).toBeLessThanOrEqual(2);
    const text = await response.text();
    expect(text).toContain(api.end);
    expect(text.length).toBeGreaterThan(STEPS * BYTES);
    expect(seen.calls).toBe(STEPS + 1);
  });

  test("ends the turn in process when it is cancelled", async () => {
    const { provider, seen } = startFlood();
    const init = { method: "POST", body: createFlood() };
    const { body } = await provider.fetch(`http://local${api.path}`, init);
    await body?.cancel();
    expect(seen.signal.aborted).toBe(true);
    await ping(provider.fetch, "http://local", api);
    expect(seen.calls).toBeLessThanOrEqual(2);
  });

  test("does not keep the provider from closing", async () => {
    const { provider, seen } = startFlood();
    const init = { method: "POST", body: createFlood() };
    const response = await provider.fetch(`http://local${api.path}`, init);
    await provider[Symbol.asyncDispose]();
    expect(seen.calls).toBeLessThanOrEqual(2);
    await response.text().catch(() => {}); // it has ended, with an error or without
  });

  test("pauses the turn on a socket, and ends it when the client disconnects", async () => {
    const { provider, seen } = startFlood();
    const { url } = await provider.listen();
    const origin = new URL(url).origin;
    const client = sendRequest(origin + api.path, {
      method: "POST",
      headers: { "content-type": "application/json" },
    });
    client.on("error", () => {}); // destroyed below
    const paused = new Promise<void>((resolve) => client.once("response", () => resolve()));
    client.end(createFlood());
    await paused;
    await ping(fetch, origin, api);
    // The operating system holds some megabytes for both ends of the connection.
    expect(seen.calls).toBeLessThan(STEPS / 2);
    expect(seen.signal.aborted).toBe(false);
    client.destroy();
    await expect.poll(() => seen.signal.aborted).toBe(true);
    expect(seen.calls).toBeLessThan(STEPS / 2);
  });
});
