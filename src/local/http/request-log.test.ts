import { request as sendRequest } from "node:http";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openSocketClient } from "../../../tests/support/local/socket-client.ts";
import { systemClock } from "../../base/clock.ts";
import type { LocalModel } from "../models/local-model.ts";
import { type ModelScript, scriptedModel } from "../models/scripted-model.ts";
import { LocalProvider } from "../provider.ts";
import type { LocalProviderOptions } from "../provider-options.ts";
import type { RequestEntry } from "./request-entry.ts";
import { RequestLog } from "./request-log.ts";

/** Starts a provider that collects its entries. */
async function startProvider(script: ModelScript | LocalModel, options: LocalProviderOptions = {}) {
  const entries: RequestEntry[] = [];
  const model = "respond" in script ? script : scriptedModel(script);
  const onRequest = (entry: RequestEntry) => void entries.push(entry);
  const provider = new LocalProvider({ model, onRequest, ...options });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const { url } = await provider.listen();
  const post = async (path: string, body: object, query = "") => {
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "any", ...body }),
    };
    const response = await fetch(`${url}${path}${query}`, init);
    await response.text().catch(() => "");
  };
  const takeEntry = async (): Promise<RequestEntry> => {
    await vi.waitFor(() => expect(entries).not.toEqual([]), 5000);
    const [entry] = entries.splice(0);
    if (!entry) throw new Error("There is no entry");
    return entry;
  };
  return { provider, url, post, entries, takeEntry };
}

const messages = [{ role: "user", content: "Hi." }];
const usage = { inputTokens: 9, outputTokens: 5 };
const reporting: LocalModel = {
  respond: async (_request, options) => {
    options?.onUsage?.({ ...usage, cachedTokens: 4 });
    return [{ say: "Hello." }];
  },
};

const apis = [
  { path: "/responses", body: { input: "Hi." } },
  { path: "/chat/completions", body: { messages } },
  { path: "/messages", body: { messages, max_tokens: 100 } },
] as const;

describe.each(apis)("onRequest of a LocalProvider, for POST $path", ({ path, body }) => {
  const full = `/v1${path}`;

  test("reports a turn with its tokens", async () => {
    const { post, takeEntry } = await startProvider(reporting);
    await post(path, body);
    expect(await takeEntry()).toEqual({
      method: "POST",
      path: full,
      status: 200,
      elapsedMs: expect.any(Number),
      isStream: false,
      outcome: "complete",
      usage,
      error: null,
    });
    await post(path, { ...body, stream: true });
    expect(await takeEntry()).toMatchObject({
      status: 200,
      isStream: true,
      outcome: "complete",
      usage,
      error: null,
    });
  });

  test("reports the error of a request and of a stream", async () => {
    const { post, takeEntry } = await startProvider([
      [{ fail: { status: 429, message: "Slow\ndown." } }],
      [{ say: "Hello." }, { fail: { message: "Oh." } }],
    ]);
    await post(path, body);
    expect(await takeEntry()).toMatchObject({ status: 429, usage: null, error: "Slow" });
    await post(path, { ...body, stream: true });
    expect(await takeEntry()).toMatchObject({ status: 200, isStream: true, error: "Oh." });
    await post(path, { ...body, owl: 1 });
    expect(await takeEntry()).toMatchObject({ status: 400, error: expect.stringContaining("owl") });
  });

  test("reports a dropped connection", async () => {
    const { post, takeEntry } = await startProvider([
      [{ drop: true }],
      [{ say: "Hello." }, { drop: true }],
    ]);
    await post(path, body).catch(() => undefined);
    expect(await takeEntry()).toMatchObject({ status: null, outcome: "dropped", isStream: false });
    await post(path, { ...body, stream: true });
    expect(await takeEntry()).toMatchObject({ status: 200, outcome: "dropped", isStream: true });
  });

  test("reports a client that disconnects", async () => {
    const stalled = [{ say: "Hello." }, { stall: 60_000 }] as const;
    const { url, takeEntry } = await startProvider([stalled, stalled]);
    for (const stream of [false, true]) {
      const sent = sendRequest(url + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
      });
      sent.on("error", () => undefined);
      const isAnswered = new Promise((resolve) => sent.on("response", resolve));
      sent.end(JSON.stringify({ model: "any", ...body, stream }));
      if (stream) await isAnswered;
      else await new Promise((resolve) => setTimeout(resolve, 50));
      sent.destroy();
      const status = stream ? 200 : 499;
      expect(await takeEntry()).toMatchObject({ status, outcome: "aborted", isStream: stream });
    }
  });
});

describe("onRequest of a LocalProvider, for a WebSocket", () => {
  test("reports each turn and no handshake", async () => {
    const { url, entries, takeEntry } = await startProvider(({ text }) => {
      if (text === "fail") return [{ code: "1" }];
      if (text === "drop") return [{ drop: true }];
      return [{ say: "Hello." }, ...(text === "stall" ? [{ stall: 60_000 }] : [])];
    });
    const body = { model: "any", input: "Hi.", store: false };
    const client = await openSocketClient(url);
    expect(entries).toEqual([]);
    client.create(body);
    await client.readResponse();
    expect(await takeEntry()).toMatchObject({
      method: "WS",
      path: "/v1/responses",
      status: 200,
      isStream: true,
      outcome: "complete",
      usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number) },
      error: null,
    });
    client.create({ ...body, input: "fail" });
    await client.readError();
    const error = expect.stringContaining("Step 2 failed: the model ran code");
    expect(await takeEntry()).toMatchObject({ status: 500, outcome: "complete", error });
    client.create({ ...body, input: "stall" });
    await client.next();
    client.socket.terminate();
    expect(await takeEntry()).toMatchObject({ status: null, outcome: "aborted", error: null });
    const other = await openSocketClient(url);
    other.create({ ...body, input: "drop" });
    await other.closed;
    expect(await takeEntry()).toMatchObject({ status: null, outcome: "dropped" });
  });
});

describe("onRequest of a LocalProvider", () => {
  test("reports other requests, with the path but not the query", async () => {
    const { url, post, takeEntry } = await startProvider([]);
    await fetch(`${url}/models?api_key=s3cret`);
    const entry = await takeEntry();
    expect(entry).toMatchObject({ method: "GET", path: "/v1/models", usage: null });
    expect(JSON.stringify(entry)).not.toContain("s3cret");
    await post(`/${"owls/".repeat(100)}`, {});
    const { path, status } = await takeEntry();
    expect({ status, length: path.length }).toEqual({ status: 404, length: 200 });
  });

  test("shortens error messages", async () => {
    const message = "x".repeat(1000);
    const { post, takeEntry } = await startProvider([[{ fail: { status: 500, message } }]]);
    await post("/responses", { input: "Hi." });
    expect((await takeEntry()).error).toBe(`${"x".repeat(299)}…`);
  });

  test("reports requests in process, once each", async () => {
    const { provider, entries } = await startProvider(reporting);
    const body = JSON.stringify({ model: "any", input: "Hi.", stream: true });
    const init = { method: "POST", body };
    const response = await provider.fetch("http://local/v1/responses", init);
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect(entries).toMatchObject([{ outcome: "aborted", isStream: true }]);
  });

  test("passes errors of the listener to onFault, and the request succeeds", async () => {
    const faults: unknown[] = [];
    const onRequest = () => {
      throw new Error("a bug");
    };
    const onFault = (error: unknown) => void faults.push(error);
    const { url } = await startProvider(reporting, { onRequest, onFault });
    expect((await fetch(`${url}/models`)).status).toBe(200);
    expect(faults).toEqual([new Error("a bug")]);
  });
});

describe("RequestLog", () => {
  function createLog() {
    const entries: RequestEntry[] = [];
    const onRequest = (entry: RequestEntry) => void entries.push(entry);
    const onFault = (error: unknown) => expect.unreachable(String(error));
    return { entries, log: new RequestLog({ clock: systemClock, onRequest, onFault }) };
  }

  test("reports a turn that no HTTP request has started, only once", () => {
    const { log, entries } = createLog();
    const turn = log.start("WS", "/v1/responses?key=s3cret");
    turn.addAnswer({ response: { usage: { input_tokens: 1, output_tokens: 2 } } });
    const ending = { status: 200, isStream: true, outcome: "complete" } as const;
    turn.end(ending);
    turn.end({ ...ending, outcome: "dropped" });
    expect(entries).toMatchObject([
      {
        method: "WS",
        path: "/v1/responses",
        usage: { inputTokens: 1, outputTokens: 2 },
        ...ending,
      },
    ]);
  });

  test("reports an event stream without a body, and ignores answers of unknown requests", async () => {
    const { log, entries } = createLog();
    const headers = { "content-type": "text/event-stream" };
    const request = new Request("http://local/v1/responses", { method: "HEAD" });
    log.addAnswer(request, { error: { message: "Oh." } });
    await log.observe(request, () => new Response(null, { headers }));
    expect(entries).toMatchObject([{ method: "HEAD", outcome: "complete", error: null }]);
  });

  test("reports a request that the client has left as aborted when its handler throws", async () => {
    const { log, entries } = createLog();
    const request = new Request("http://local/v1/models", { signal: AbortSignal.abort() });
    const handle = () => Promise.reject(new Error("gone"));
    await expect(log.observe(request, handle)).rejects.toThrow("gone");
    expect(entries).toMatchObject([{ status: null, outcome: "aborted" }]);
  });
});
