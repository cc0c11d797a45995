import { describe, expect, test } from "vitest";
import type { LocalModel } from "weakincentives/local";
import { readAnswer, startProviderFixture } from "../support/local/provider-fixture.ts";
import { openRecallSocket } from "../support/local/recall-socket.ts";
import { openSocketClient } from "../support/local/socket-client.ts";

const notFound = (id: string) => ({
  type: "error",
  status: 400,
  error: {
    type: "invalid_request_error",
    code: "previous_response_not_found",
    message: `Previous response with id '${id}' not found.`,
    param: "previous_response_id",
  },
});

describe("a continuation on the connection", () => {
  test("of a response that is not stored sends only new input", async () => {
    const { client, ask } = await openRecallSocket();
    client.create({ input: "Owl.", store: false });
    const { id } = await client.readResponse();
    expect(await ask(`GET /responses/${id}`)).toMatchObject({ status: 404 });
    client.create({ input: "Elk.", store: false, previous_response_id: id });
    const second = await client.readResponse();
    expect(second).toMatchObject({ previous_response_id: id });
    expect(readAnswer(second)).toBe("Owl. | Owl. | Elk.");
  });

  test("answers a tool call of a response that is not stored", async () => {
    const fixture = await startProviderFixture([
      [{ call: { name: "look", args: {}, callId: "call_1" } }],
      [{ say: "Twelve owls." }],
    ]);
    const client = await openSocketClient(fixture.url);
    const tools = [{ type: "function", name: "look", parameters: null, strict: false }];
    client.create({ input: "How many owls?", tools, store: false });
    const { id } = await client.readResponse();
    const output = { type: "function_call_output", call_id: "call_1", output: "12" };
    client.create({ input: [output], tools, store: false, previous_response_id: id });
    expect(readAnswer(await client.readResponse())).toBe("Twelve owls.");
  });

  test("keeps hidden reasoning of a response that is not stored", async () => {
    const fixture = await startProviderFixture([
      [{ think: "Owls hoot." }, { say: "Owl." }],
      [{ say: "Elk." }],
    ]);
    const client = await openSocketClient(fixture.url);
    client.create({ input: "One.", store: false });
    const { id, output } = await client.readResponse();
    expect(output).toMatchObject([{ type: "reasoning" }, { type: "message" }]);
    client.create({ input: "Two.", store: false, previous_response_id: id });
    expect(readAnswer(await client.readResponse())).toBe("Elk.");
  });

  test("is possible only from the latest response that is not stored", async () => {
    const { client } = await openRecallSocket();
    client.create({ input: "Owl.", store: false });
    const { id } = await client.readResponse();
    client.create({ input: "Elk.", store: false });
    await client.readTurn();
    client.create({ input: "Fox.", store: false, previous_response_id: id });
    expect(await client.readError()).toEqual(notFound(String(id)));
  });

  test("is possible from any stored response", async () => {
    const { client } = await openRecallSocket();
    client.create({ input: "Owl." });
    const { id } = await client.readResponse();
    client.create({ input: "Elk." });
    await client.readTurn();
    client.create({ input: "Fox.", store: false, previous_response_id: id });
    expect(readAnswer(await client.readResponse())).toBe("Owl. | Owl. | Fox.");
  });

  test("that is stored keeps the whole conversation", async () => {
    const { client, ask, respond } = await openRecallSocket();
    client.create({ input: "Owl.", store: false });
    const { id } = await client.readResponse();
    client.create({ input: "Elk.", previous_response_id: id });
    const { id: stored } = await client.readResponse();
    const { body } = await ask(`GET /responses/${stored}/input_items`);
    expect(body).toMatchObject({ data: { length: 3 } });
    const next = await respond({ input: "Fox.", previous_response_id: stored });
    expect(readAnswer(next)).toContain("Elk. | Owl. | Owl. | Elk. | Fox.");
  });

  test("is not possible on another connection if the response is not stored", async () => {
    const { client, url } = await openRecallSocket();
    client.create({ input: "Owl.", store: false });
    const { id } = await client.readResponse();
    const other = await openSocketClient(url);
    other.create({ input: "Elk.", store: false, previous_response_id: id });
    expect(await other.readError()).toEqual(notFound(String(id)));
    other.create({ input: "Owl. Elk.", store: false });
    expect(readAnswer(await other.readResponse())).toBe("Owl. Elk.");
  });

  test.each([
    {
      failure: "is invalid",
      request: {
        input: [{ type: "function_call_output", call_id: "call_lost", output: "12" }],
      },
      end: "error",
    },
    { failure: "fails at the model", request: { input: "fail" }, end: "error" },
    { failure: "fails after it has begun", request: { input: "break" }, end: "response.failed" },
  ])("that $failure discards the response that it continued", async ({ request, end }) => {
    const model: LocalModel = {
      async respond({ text }) {
        if (text === "fail") throw new Error("No.");
        return text === "break" ? [{ think: "Hm." }, { fail: {} }] : [{ say: text }];
      },
    };
    const { url } = await startProviderFixture([], { model, onFault: () => {} });
    const client = await openSocketClient(url);
    client.create({ input: "Owl.", store: false });
    const { id: previous_response_id } = await client.readResponse();
    client.create({ ...request, store: false, previous_response_id });
    expect((await client.readTurn()).at(-1)).toMatchObject({ type: end });
    client.create({ input: "Fox.", store: false, previous_response_id });
    expect(await client.readError()).toEqual(notFound(String(previous_response_id)));
  });

  test("is still possible after a failed request that continued nothing", async () => {
    const { client } = await openRecallSocket();
    client.create({ input: "Owl.", store: false });
    const { id } = await client.readResponse();
    client.create({ input: [], store: false });
    expect(await client.readError()).toMatchObject({
      error: { code: "missing_required_parameter" },
    });
    client.create({ input: "Elk.", store: false, previous_response_id: id });
    expect(readAnswer(await client.readResponse())).toBe("Owl. | Owl. | Elk.");
  });

  test("on another lane forks the conversation, and its failure keeps the response", async () => {
    const { client } = await openRecallSocket();
    client.create({ input: "Owl.", store: false, stream_id: "main" });
    const { id: previous_response_id } = await client.readResponse();
    const fork = { store: false, stream_id: "fork", previous_response_id };
    client.create({ ...fork, input: [{ type: "item_reference", id: "msg_lost" }] });
    expect(await client.readError()).toMatchObject({ status: 404, stream_id: "fork" });
    client.create({ ...fork, input: "Fork." });
    expect(readAnswer(await client.readResponse())).toBe("Owl. | Owl. | Fork.");
    client.create({ input: "Main.", store: false, stream_id: "main", previous_response_id });
    expect(readAnswer(await client.readResponse())).toBe("Owl. | Owl. | Main.");
  });
});

describe("compaction over WebSocket", () => {
  test("starts a new chain from the output of /responses/compact", async () => {
    const { client, ask } = await openRecallSocket();
    const conversation = [
      { role: "user", content: "The code word is slate." },
      { role: "assistant", content: "OK." },
    ];
    const { body } = await ask("POST /responses/compact", { model: "any", input: conversation });
    const input = [...(body["output"] as object[]), { role: "user", content: "Continue." }];
    client.create({ input, store: false });
    const first = await client.readResponse();
    expect(readAnswer(first)).toBe("The code word is slate. | OK. | Continue.");
    client.create({ input: "Go on.", store: false, previous_response_id: first["id"] });
    expect(readAnswer(await client.readResponse())).toContain("slate. | OK. | Continue.");
  });

  test("of the server continues from the compaction of a response that is not stored", async () => {
    const { client } = await openRecallSocket();
    const context_management = [{ type: "compaction", compact_threshold: 1000 }];
    client.create({ input: `Slate. ${"x".repeat(8000)}`, store: false, context_management });
    const { id, output } = await client.readResponse();
    expect(output).toMatchObject([{ type: "message" }, { type: "compaction" }]);
    client.create({ input: "Go on.", store: false, previous_response_id: id });
    const next = await client.readResponse();
    expect(readAnswer(next)).toMatch(/^Slate\..*Go on\.$/);
  });
});

describe("generate: false", () => {
  test("returns a response without output that the next request continues", async () => {
    const { client } = await openRecallSocket();
    client.create({ instructions: "Count.", input: "Owl.", store: false, generate: false });
    const events = await client.readTurn();
    expect(events.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.completed",
    ]);
    const warm = events.at(-1)?.["response"] as Record<string, unknown>;
    expect(warm).toMatchObject({ status: "completed", output: [] });
    client.create({ input: "Elk.", store: false, previous_response_id: warm["id"] });
    expect(readAnswer(await client.readResponse())).toBe("Owl. | Elk.");
  });

  test("needs no input, and its response can be stored", async () => {
    const { client, respond } = await openRecallSocket();
    client.create({ instructions: "Count.", generate: false });
    const { id } = await client.readResponse();
    expect(readAnswer(await respond({ input: "Elk.", previous_response_id: id }))).toBe("Elk.");
    client.create({ input: "Fox.", previous_response_id: id, generate: null });
    expect(readAnswer(await client.readResponse())).toBe("Fox.");
  });

  test("is unknown over HTTP", async () => {
    const { ask } = await openRecallSocket();
    const request = { model: "any", input: "Owl.", generate: false };
    expect(await ask("POST /responses", request)).toMatchObject({
      status: 400,
      body: { error: { code: "unknown_parameter", param: "generate" } },
    });
  });
});
