import { describe, expect, test } from "vitest";
import { type LocalModel, scriptedModel } from "weakincentives/local";
import { readAnswer, startProviderFixture } from "../support/local/provider-fixture.ts";
import { openRecallSocket } from "../support/local/recall-socket.ts";
import { openSocketClient } from "../support/local/socket-client.ts";

describe("a response over WebSocket", () => {
  test("has the same events as a stream over HTTP, numbered from 0", async () => {
    const { stream, client } = await openRecallSocket();
    client.create({ input: "Owl." });
    const events = await client.readTurn();
    const types = (await stream({ input: "Owl." })).map(({ type }) => type);
    expect(events.map(({ type }) => type)).toEqual(types);
    expect(events.map((event) => event["sequence_number"])).toEqual(types.map((_, at) => at));
    expect(events.at(-1)).toMatchObject({ response: { status: "completed" } });
    expect(events.some((event) => "stream_id" in event)).toBe(false);
  });

  test("ignores the fields of the transport: stream, stream_options and background: false", async () => {
    const { client } = await openRecallSocket();
    const stream_options = { include_obfuscation: false };
    client.create({ input: "Owl.", stream: true, stream_options, background: false });
    expect(await client.readResponse()).toMatchObject({ status: "completed" });
  });

  test("is stored by default, and can be retrieved and continued over HTTP", async () => {
    const { client, ask, respond } = await openRecallSocket();
    client.create({ input: "Owl." });
    const { id } = await client.readResponse();
    expect(await ask(`GET /responses/${id}`)).toMatchObject({ status: 200, body: { id } });
    const next = await respond({ input: "Elk.", previous_response_id: id });
    expect(readAnswer(next)).toBe("Owl. | Owl. | Elk.");
  });

  const problem = { code: "server_error", message: "No owls." };
  test.each([
    { action: "fail", step: [{ think: "Hm." }, { fail: problem }] },
    { action: "failInStream", step: [{ failInStream: problem }] },
  ])("ends with response.failed only if the model fails with $action", async ({ step }) => {
    const fixture = await startProviderFixture([step, [{ say: "Owls." }]]);
    const client = await openSocketClient(fixture.url);
    client.create({ input: "Owl." });
    const events = await client.readTurn();
    expect(events.at(-1)).toMatchObject({
      type: "response.failed",
      response: { status: "failed", error: problem },
    });
    client.create({ input: "Owl." });
    expect(readAnswer(await client.readResponse())).toBe("Owls.");
  });

  test("ends with response.failed only if the model throws after the response has begun", async () => {
    const faults: unknown[] = [];
    let calls = 0;
    const model: LocalModel = {
      async respond() {
        calls += 1;
        if (calls > 1) throw new Error("Lost script.");
        return [{ think: "Hm." }];
      },
    };
    const onFault = (error: unknown) => void faults.push(error);
    const { url } = await startProviderFixture([], { model, onFault });
    const client = await openSocketClient(url);
    client.create({ input: "Owl." });
    const types = (await client.readTurn()).map(({ type }) => type);
    expect(types).not.toContain("error");
    expect(types.at(-1)).toBe("response.failed");
    expect(faults).toHaveLength(1);
  });

  test("is an error event with the HTTP status if the model fails first", async () => {
    const fixture = await startProviderFixture([
      [{ fail: { status: 429, code: "rate_limit_exceeded", message: "Slow down." } }],
    ]);
    const client = await openSocketClient(fixture.url);
    client.create({ input: "Owl.", stream_id: "main" });
    expect(await client.readTurn()).toEqual([
      {
        type: "error",
        status: 429,
        stream_id: "main",
        error: {
          type: "requests",
          code: "rate_limit_exceeded",
          message: "Slow down.",
          param: null,
        },
      },
    ]);
  });

  test("is an error event with the HTTP status if the model throws first", async () => {
    const model: LocalModel = { respond: () => Promise.reject(new Error("No owls.")) };
    const { url } = await startProviderFixture([], { model, onFault: () => {} });
    const client = await openSocketClient(url);
    client.create({ input: "Owl.", stream_id: "main" });
    expect(await client.readTurn()).toMatchObject([
      {
        type: "error",
        status: 500,
        stream_id: "main",
        error: { type: "server_error", message: expect.stringContaining("No owls.") },
      },
    ]);
  });

  test("closes the connection without a close frame if the model drops it", async () => {
    const fixture = await startProviderFixture([[{ think: "Hm." }, { drop: true }]]);
    const client = await openSocketClient(fixture.url);
    client.create({ input: "Owl." });
    expect(await client.closed).toEqual({ code: 1006, reason: "" });
  });
});

describe("requests on one connection", () => {
  test("run in order if they have the same stream_id, even if all are sent at once", async () => {
    const { client } = await openRecallSocket();
    for (const input of ["one", "two", "three"]) client.create({ input, store: false });
    const answers = [];
    for (let turn = 0; turn < 3; turn++) answers.push(readAnswer(await client.readResponse()));
    expect(answers).toEqual(["one", "two", "three"]);
  });

  test("run at the same time on different lanes, and events name their lane", async () => {
    const waiting = Promise.withResolvers<void>();
    const model: LocalModel = {
      async respond({ text }) {
        if (text === "slow") await waiting.promise;
        else waiting.resolve();
        return [{ say: text }];
      },
    };
    const { url } = await startProviderFixture([], { model });
    const client = await openSocketClient(url);
    client.create({ input: "slow", stream_id: "a" });
    client.create({ input: "fast", stream_id: "b.b-1" });
    const ends: unknown[] = [];
    while (ends.length < 2) {
      const { type, stream_id: lane } = await client.next();
      expect(["a", "b.b-1"]).toContain(lane);
      if (type === "response.completed") ends.push(lane);
    }
    expect(ends.toSorted()).toEqual(["a", "b.b-1"]);
  });

  test("run at most 16 at a time", async () => {
    const gate = Promise.withResolvers<void>();
    let [running, most] = [0, 0];
    const model: LocalModel = {
      async respond({ text }) {
        running += 1;
        most = Math.max(most, running);
        await gate.promise;
        running -= 1;
        return [{ say: text }];
      },
    };
    const { url } = await startProviderFixture([], { model });
    const client = await openSocketClient(url);
    for (let lane = 0; lane < 20; lane++)
      client.create({ input: `${lane}`, stream_id: `lane_${lane}`, store: false });
    await expect.poll(() => running).toBe(16);
    gate.resolve();
    let ended = 0;
    while (ended < 20) if ((await client.next()).type === "response.completed") ended += 1;
    expect(most).toBe(16);
  });

  test("may have 32 different stream_ids besides the default lane", async () => {
    const { client } = await openRecallSocket();
    for (let lane = 0; lane < 33; lane++) client.create({ input: "Owl.", stream_id: `${lane}` });
    let [ended, limit] = [0, {}];
    while (ended < 32 || !("type" in limit)) {
      const event = await client.next();
      if (event.type === "response.completed") ended += 1;
      if (event.type === "error") limit = event;
    }
    expect(limit).toMatchObject({
      status: 400,
      stream_id: "32",
      error: { code: "websocket_stream_limit_reached", param: "stream_id" },
    });
    client.create({ input: "Owl." });
    expect(await client.readResponse()).toMatchObject({ status: "completed" });
  });

  test("wait up to a limit of 256 requests", async () => {
    const gate = Promise.withResolvers<void>();
    const model: LocalModel = {
      async respond({ text }) {
        await gate.promise;
        return [{ say: text }];
      },
    };
    const { url } = await startProviderFixture([], { model });
    const client = await openSocketClient(url);
    for (let place = 0; place < 258; place++) client.create({ input: `${place}`, store: false });
    expect(await client.readError()).toMatchObject({
      status: 429,
      error: {
        code: "websocket_queue_limit_reached",
        message: expect.stringContaining("has 256 waiting requests"),
      },
    });
    gate.resolve();
    expect(readAnswer(await client.readResponse())).toBe("0");
  });

  test("wait up to the size of the largest message, all together", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const model: LocalModel = {
      async respond() {
        await promise;
        return [{ say: "Owl." }];
      },
    };
    const limits = { maxBodyBytes: 10_000 };
    const { url } = await startProviderFixture([], { model, limits });
    const client = await openSocketClient(url);
    for (let place = 0; place < 4; place++) client.create({ input: "x".repeat(4000) });
    expect(await client.readError()).toMatchObject({
      status: 429,
      error: { message: expect.stringContaining("has 2 waiting requests") },
    });
    resolve();
  });
});

test("a scripted model serves HTTP and WebSocket requests from one script", async () => {
  const model = scriptedModel([[{ say: "One." }], [{ say: "Two." }]]);
  const fixture = await startProviderFixture([], { model });
  const client = await openSocketClient(fixture.url);
  client.create({ input: "Owl." });
  expect(readAnswer(await client.readResponse())).toBe("One.");
  expect(readAnswer(await fixture.respond({ input: "Owl." }))).toBe("Two.");
});
