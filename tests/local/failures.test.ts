import { describe, expect, test } from "vitest";
import type { LocalModel } from "weakincentives/local";
import { readAnswer, startProviderFixture } from "../support/local/provider-fixture.ts";

const asked = { model: "any", input: "Hi." };

describe("a failing model", () => {
  test.each<[object, number, object]>([
    [{ status: 429, code: "rate_limit_exceeded" }, 429, { type: "requests" }],
    [{ status: 429, code: "insufficient_quota" }, 429, { type: "insufficient_quota" }],
    [{ status: 500, message: "Oh." }, 500, { type: "server_error", message: "Oh.", code: null }],
    [{ status: 400 }, 400, { type: "invalid_request_error", message: "The model failed." }],
  ])("fails the request with %j, whether or not it is streamed", async (fail, status, error) => {
    const { ask } = await startProviderFixture([[{ fail }], [{ fail }]]);
    for (const stream of [false, true])
      expect(await ask("POST /responses", { ...asked, stream })).toMatchObject({
        status,
        body: { error },
      });
  });

  test("fails a stream with an error event if fail is not the first action", async () => {
    const { ask, stream } = await startProviderFixture([
      [{ stall: 1 }, { fail: { status: 429 } }],
      [{ stall: 1 }, { fail: { status: 429 } }],
    ]);
    expect(await ask("POST /responses", asked)).toMatchObject({ status: 429 });
    expect((await stream({ input: "Hi." })).slice(-2)).toMatchObject([
      { type: "error", error: { type: "requests", message: "The model failed.", code: null } },
      { type: "response.failed", response: { error: { code: "server_error" } } },
    ]);
  });

  test("fails the response without a status, or after output", async () => {
    const { respond, stream } = await startProviderFixture([
      [{ fail: { code: "server_error", message: "Oh." } }],
      [{ think: "Hm." }, { fail: { status: 500 } }],
      [{ fail: {} }],
    ]);
    expect(await respond({ input: "Hi." })).toMatchObject({
      status: "failed",
      error: { code: "server_error", message: "Oh." },
      output: [],
    });
    expect(await respond({ input: "Hi." })).toMatchObject({
      status: "failed",
      output: [{ type: "reasoning" }],
    });
    const events = await stream({ input: "Hi." });
    expect(events.at(-1)).toMatchObject({ type: "response.failed" });
  });

  test("sends an error event and a failed response in a stream with failInStream", async () => {
    const failInStream = { status: 429, code: "rate_limit_exceeded", message: "Slow." };
    const { stream, respond } = await startProviderFixture([
      [{ failInStream }],
      [{ failInStream: {} }],
      [{ say: "Half" }, { failInStream }],
    ]);
    const events = await stream({ input: "Hi." });
    expect(events.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "error",
      "response.failed",
    ]);
    expect(events[2]).toMatchObject({ error: { type: "requests", code: "rate_limit_exceeded" } });
    expect(events[3]).toMatchObject({
      response: { status: "failed", error: { code: "rate_limit_exceeded", message: "Slow." } },
    });
    const error = { code: "server_error", message: "The model failed." };
    expect(await respond({ input: "Hi." })).toMatchObject({ status: "failed", output: [], error });
    const late = await stream({ input: "Hi." });
    expect(late.slice(-3).map(({ type }) => type)).toEqual([
      "response.output_item.done",
      "error",
      "response.failed",
    ]);
    expect(late.at(-1)).toMatchObject({ response: { output: [{ type: "message" }] } });
  });

  test("reports an exception to onFault and answers with 500", async () => {
    const faults: unknown[] = [];
    const onFault = (error: unknown) => void faults.push(error);
    const model: LocalModel = {
      async respond({ turn }) {
        if (turn === 2) return [{ think: "Hm." }];
        throw new Error("a bug");
      },
    };
    const { provider, ask, stream } = await startProviderFixture([], { model, onFault });
    const message = "The server had an error while processing your request: a bug";
    expect(await ask("POST /responses", asked)).toMatchObject({
      status: 500,
      body: { error: { message, type: "server_error" } },
    });
    expect(faults).toMatchObject([{ message: "a bug" }]);
    expect(await ask("POST /responses", { ...asked, stream: true })).toMatchObject({ status: 500 });
    const events = await stream({ input: "Hi." });
    expect(events.at(-1)).toMatchObject({ response: { error: { message: "a bug" } } });
    expect(faults).toHaveLength(3);
    expect(await provider.sandbox()).toMatchObject({ name: "host" });
  });

  test("is stopped after 100 calls without an answer", async () => {
    const { ask } = await startProviderFixture(() => [{ think: "Hm." }]);
    const answer = await ask("POST /responses", asked);
    expect(answer).toMatchObject({ status: 500, body: { error: { code: "model_error" } } });
    expect(JSON.stringify(answer.body)).toContain("100 times");
  });
});

describe("a stalling model", () => {
  test("delays its answer", async () => {
    const { respond } = await startProviderFixture([[{ stall: 50 }, { say: "At last." }]]);
    const started = performance.now();
    expect(readAnswer(await respond({ input: "Hi." }))).toBe("At last.");
    expect(performance.now() - started).toBeGreaterThanOrEqual(49);
  });

  test("starts its stream before it stalls", async () => {
    const { url } = await startProviderFixture([[{ stall: 60_000 }]]);
    const body = JSON.stringify({ ...asked, stream: true });
    const response = await fetch(`${url}/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    const reader = response.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(new TextDecoder().decode(value)).toContain("event: response.created");
    await reader?.cancel();
  });
});

describe("a model that drops the connection", () => {
  const body = JSON.stringify(asked);
  const streamed = JSON.stringify({ ...asked, stream: true });

  test("sends no response, over a socket or in process", async () => {
    const { url, provider } = await startProviderFixture([[{ drop: true }], [{ drop: true }]]);
    const at = `${url}/responses`;
    await expect(
      fetch(at, { method: "POST", headers: { "content-type": "application/json" }, body }),
    ).rejects.toThrow("fetch failed");
    await expect(provider.fetch(at, { method: "POST", body })).rejects.toThrow("fetch failed");
  });

  test("sends a partial stream, over a socket or in process", async () => {
    const { url, provider } = await startProviderFixture(() => [{ think: "Hm." }, { drop: true }]);
    for (const way of [fetch, provider.fetch]) {
      const response = await way(`${url}/responses`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: streamed,
      });
      let heard = "";
      const readStream = async () => {
        for await (const part of response.body ?? []) heard += new TextDecoder().decode(part);
      };
      await expect(readStream()).rejects.toThrow();
      expect(heard).toContain("event: response.output_item.done");
      expect(heard).not.toContain("the model dropped");
    }
  });
});

describe("an in-process client that aborts", () => {
  test("gets its abort reason, before a response and within a stream", async () => {
    const { provider } = await startProviderFixture([[{ stall: 60_000 }], [{ stall: 60_000 }]]);
    const at = "http://local/v1/responses";
    for (const stream of [false, true]) {
      const controller = new AbortController();
      const sent = JSON.stringify({ ...asked, stream });
      const { signal } = controller;
      const answer = provider.fetch(at, { method: "POST", body: sent, signal });
      const failed = expect(answer.then((response) => response.text())).rejects.toThrow("Enough");
      setTimeout(() => controller.abort(new Error("Enough")), 20);
      await failed;
    }
    await expect(provider.fetch("no address")).rejects.toThrow(TypeError);
  });
});
