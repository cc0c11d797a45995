import OpenAI from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";
import { describe, expect, onTestFinished, test } from "vitest";
import type { LocalModel, ModelAction } from "weakincentives/local";
import type { WireItem } from "../../src/openai/wire.ts";
import { readAnswer, startProviderFixture } from "../support/local/provider-fixture.ts";
import { openSocketClient, type SocketClient } from "../support/local/socket-client.ts";

/** Connects to a provider whose first model call waits for `release`. Each call takes its actions from the script. */
async function openSteeredSocket(script: readonly (readonly ModelAction[])[], limits = {}) {
  const gate = Promise.withResolvers<void>();
  const seen: WireItem[][] = [];
  const model: LocalModel = {
    async respond({ items }) {
      seen.push(items as WireItem[]);
      if (seen.length > 1) await gate.promise;
      return script[seen.length - 1] ?? [{ say: "No script." }];
    },
  };
  const { url } = await startProviderFixture([], { model, limits, onFault: () => {} });
  const client = await openSocketClient(url);
  return { client, seen, release: gate.resolve };
}

/** Starts a response that runs until it is released. Returns its id. */
async function startResponse(client: SocketClient, body: WireItem = {}): Promise<string> {
  client.create({ input: "Plan.", store: false, ...body });
  const { response } = await client.next();
  await client.next(); // response.in_progress
  return String((response as WireItem)["id"]);
}

const steer = (target: string, input: unknown, rest: object = {}) => ({
  type: "response.steer",
  previous_response_id: target,
  input,
  ...rest,
});

async function skipTo(client: SocketClient, type: string) {
  for (;;) {
    const event = await client.next();
    if (event.type === type) return event;
  }
}

const thinkThen = (...rest: (readonly ModelAction[])[]) => [[{ think: "Hm." }], ...rest];
const look = { type: "function", name: "look", parameters: null, strict: false };

describe("steering a running response", () => {
  test("continues it with the input when it has completed", async () => {
    const { client, seen, release } = await openSteeredSocket(
      thinkThen([{ say: "A plan." }], [{ say: "A small plan." }]),
    );
    const id = await startResponse(client, { stream_id: "main", instructions: "Be brief." });
    client.send(steer(id, "Keep it small."));
    const accepted = await skipTo(client, "response.steer.accepted");
    expect(accepted).toEqual({
      type: "response.steer.accepted",
      sequence_number: expect.any(Number),
      stream_id: "main",
      steer: { id: expect.stringMatching(/^steer_/), previous_response_id: id },
    });
    release();
    expect((await skipTo(client, "response.completed"))["response"]).toMatchObject({ id });
    const second = await client.readResponse();
    expect(second).toMatchObject({ previous_response_id: id, instructions: "Be brief." });
    expect(readAnswer(second)).toBe("A small plan.");
    expect(seen.at(-1)).toMatchObject([
      { role: "user" },
      { type: "reasoning" },
      { role: "assistant" },
      { role: "user", content: "Keep it small." },
    ]);
  });

  test("numbers its events in the sequence of the response", async () => {
    const { client, release } = await openSteeredSocket(thinkThen([{ say: "A plan." }]));
    const id = await startResponse(client);
    const numbers = [0, 1];
    client.send(steer(id, "Small."));
    for (let last = ""; last !== "response.steer.accepted"; ) {
      const event = await client.next();
      numbers.push(Number(event["sequence_number"]));
      last = event.type;
    }
    release();
    for (let last = ""; last !== "response.completed"; ) {
      const event = await client.next();
      numbers.push(Number(event["sequence_number"]));
      last = event.type;
    }
    expect(numbers).toEqual(numbers.map((_, at) => at));
  });

  test("runs the continuation before the requests that wait in its lane", async () => {
    const { client, release } = await openSteeredSocket(
      thinkThen([{ say: "One." }], [{ say: "Steered." }], [{ say: "Two." }]),
    );
    const id = await startResponse(client);
    client.create({ input: "Next.", store: false });
    const content = [{ type: "input_text", text: "Small." }];
    client.send(steer(id, [{ role: "user", content }]));
    client.send(steer(id, [{ type: "message", role: "user", content: "Smaller." }]));
    for (let count = 0; count < 2; count++) await skipTo(client, "response.steer.accepted");
    release();
    await skipTo(client, "response.completed");
    expect(readAnswer(await client.readResponse())).toBe("Steered.");
    expect(readAnswer(await client.readResponse())).toBe("Two.");
  });

  test("waits for the client's tool outputs and precedes them", async () => {
    const { client, seen, release } = await openSteeredSocket(
      thinkThen([{ call: { name: "look", args: {}, callId: "call_1" } }], [{ say: "Done." }]),
    );
    const id = await startResponse(client, { tools: [look] });
    client.send(steer(id, "Small."));
    const { steer: accepted } = await skipTo(client, "response.steer.accepted");
    release();
    await skipTo(client, "response.completed");
    expect(await client.next()).toEqual({
      type: "response.steer.pending",
      sequence_number: expect.any(Number),
      steer: accepted,
      reason: "waiting_for_required_input",
      required_input: [{ type: "function_call_output", call_id: "call_1", name: "look" }],
    });
    const output = { type: "function_call_output", call_id: "call_1", output: "12" };
    client.create({ input: [output], store: false, previous_response_id: id, tools: [look] });
    expect(readAnswer(await client.readResponse())).toBe("Done.");
    expect(seen.at(-1)?.slice(-2)).toMatchObject([{ content: "Small." }, output]);
  });

  test("is rejected later if the client creates another response instead", async () => {
    const { client, release } = await openSteeredSocket(
      thinkThen([{ call: { name: "look", args: {} } }], [{ say: "Other." }]),
    );
    const id = await startResponse(client, { tools: [look] });
    client.send(steer(id, "Small."));
    await skipTo(client, "response.steer.accepted");
    release();
    await skipTo(client, "response.steer.pending");
    client.create({ input: "Other.", store: false });
    expect(await client.next()).toMatchObject({
      type: "response.steer.failed",
      steer: { id: expect.any(String), previous_response_id: id, input: "Small." },
      error: { code: "response_not_active" },
    });
    expect((await skipTo(client, "response.completed"))["response"]).toMatchObject({
      previous_response_id: null,
    });
  });

  test.each(["No output.", undefined])(
    "fails with the request that the input waits for, with the input %j",
    async (input) => {
      const { client, release } = await openSteeredSocket(
        thinkThen([{ call: { name: "look", args: {}, callId: "call_1" } }]),
      );
      const id = await startResponse(client, { tools: [look] });
      client.send(steer(id, "Small."));
      await skipTo(client, "response.steer.accepted");
      release();
      await skipTo(client, "response.steer.pending");
      client.create({ input, store: false, previous_response_id: id });
      expect(await client.next()).toMatchObject({
        type: "response.steer.failed",
        error: {
          code: "successor_creation_failed",
          message: expect.stringContaining("No tool output found"),
        },
      });
      expect(await client.next()).toMatchObject({ type: "error", status: 400 });
    },
  );

  test("fails with one event if the continuation cannot be created", async () => {
    const { client, release } = await openSteeredSocket(
      thinkThen([{ say: "A plan." }], [{ fail: { status: 500 } }]),
    );
    const id = await startResponse(client);
    client.send(steer(id, "Small."));
    await skipTo(client, "response.steer.accepted");
    release();
    await skipTo(client, "response.completed");
    expect(await client.next()).toMatchObject({
      type: "response.steer.failed",
      error: { type: "invalid_request_error", code: "successor_creation_failed" },
    });
    client.send(steer("resp_lost", "Small."));
    expect((await client.next()).type).toBe("response.steer.failed");
  });

  test("fails if the response fails", async () => {
    const { client, release } = await openSteeredSocket(thinkThen([{ fail: {} }]));
    const id = await startResponse(client);
    client.send(steer(id, "Small."));
    await skipTo(client, "response.steer.accepted");
    release();
    await skipTo(client, "response.failed");
    expect(await client.next()).toMatchObject({
      type: "response.steer.failed",
      error: { code: "response_not_active" },
    });
  });
});

describe("steering input that is rejected at once", () => {
  test("because the response is unknown or has completed", async () => {
    const { client, release } = await openSteeredSocket(thinkThen([{ say: "A plan." }]));
    const id = await startResponse(client);
    release();
    await skipTo(client, "response.completed");
    client.send(steer(id, "Small."));
    expect(await client.next()).toEqual({
      type: "response.steer.failed",
      sequence_number: 0,
      steer: { previous_response_id: id, input: "Small." },
      error: {
        type: "invalid_request_error",
        code: "response_already_completed",
        message: expect.stringContaining("response.create"),
      },
    });
    client.send(steer("resp_lost", "Small."));
    expect(await client.next()).toMatchObject({ error: { code: "response_not_found" } });
    client.send({ type: "response.steer", input: "Small." });
    expect(await client.next()).toMatchObject({
      type: "error",
      error: { code: "invalid_type", param: "previous_response_id" },
    });
  });

  test.each([
    { name: "an empty array", input: [] },
    { name: "a number", input: 1 },
    { name: "an item that is no object", input: ["Small."] },
    { name: "a message of the assistant", input: [{ role: "assistant", content: "Small." }] },
    { name: "a tool output", input: [{ type: "function_call_output", call_id: "1", output: "" }] },
    { name: "a message with an id", input: [{ role: "user", content: "Small.", id: "msg_1" }] },
    {
      name: "a message with audio",
      input: [{ role: "user", content: [{ type: "input_audio" }] }],
    },
    { name: "a stream_id", input: "Small.", rest: { stream_id: "main" } },
  ])("because it is $name", async ({ input, rest }) => {
    const { client } = await openSteeredSocket(thinkThen());
    const id = await startResponse(client);
    client.send(steer(id, input, rest));
    expect(await skipTo(client, "response.steer.failed")).toMatchObject({
      steer: { previous_response_id: id, input },
      error: { code: "invalid_input" },
    });
  });

  test("because the response compacts automatically", async () => {
    const { client } = await openSteeredSocket(thinkThen());
    const context_management = [{ type: "compaction", compact_threshold: 1000 }];
    const id = await startResponse(client, { context_management });
    client.send(steer(id, "Small."));
    expect(await skipTo(client, "response.steer.failed")).toMatchObject({
      error: { code: "steering_not_supported" },
    });
  });

  test("because 16 others wait, or their size exceeds the limit of a message", async () => {
    const { client } = await openSteeredSocket(thinkThen(), { maxBodyBytes: 10_000 });
    const id = await startResponse(client);
    for (let count = 0; count < 17; count++) client.send(steer(id, `${count}`));
    expect(await skipTo(client, "response.steer.failed")).toMatchObject({
      steer: { input: "16" },
      error: { code: "too_many_pending_steers" },
    });
    const other = await openSteeredSocket(thinkThen(), { maxBodyBytes: 10_000 });
    const target = await startResponse(other.client);
    for (const letter of ["a", "b"]) other.client.send(steer(target, letter.repeat(6000)));
    expect(await skipTo(other.client, "response.steer.failed")).toMatchObject({
      error: { code: "too_many_pending_steers" },
    });
  });
});

test("the OpenAI SDK steers a response, as in OpenAI's guide", async () => {
  const { url } = await startProviderFixture(({ text }) => [{ stall: 200 }, { say: text }]);
  const client = new OpenAI({ apiKey: "any", baseURL: url });
  const socket = new ResponsesWS(client);
  onTestFinished(() => socket.close());
  const ids: string[] = [];
  socket.send({ type: "response.create", model: "gpt-6-astra", input: "Plan." });
  for await (const event of socket) {
    if (event.type === "error") throw event.error;
    if (event.type !== "message") continue;
    const { message } = event;
    if (message.type === "response.created") {
      ids.push(message.response.id);
      if (ids.length === 1)
        socket.send({
          type: "response.steer",
          previous_response_id: message.response.id,
          input: "Keep it small.",
        });
    }
    if (message.type === "response.completed" && message.response.id === ids[1]) {
      expect(message.response.output).toMatchObject([{ content: [{ text: "Keep it small." }] }]);
      break;
    }
  }
});
