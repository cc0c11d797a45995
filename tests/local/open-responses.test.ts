import { describe, expect, test } from "vitest";
import type { WireItem } from "../../src/openai/wire.ts";
import { findItem, readOutput, startProviderFixture } from "../support/local/provider-fixture.ts";
import { openSocketClient } from "../support/local/socket-client.ts";

/**
 * The requirements of the OpenResponses compliance suite (openresponses.org). Each test has the id of the suite's
 * case in its title.
 */

const startDefaultProvider = () => startProviderFixture([], { model: undefined });

async function openDefaultSocket() {
  const fixture = await startDefaultProvider();
  return { ...fixture, client: await openSocketClient(fixture.url) };
}

/** The fields of a response that the OpenResponses schema requires. */
const REQUIRED_FIELDS = [
  "id",
  "object",
  "created_at",
  "completed_at",
  "status",
  "incomplete_details",
  "model",
  "previous_response_id",
  "instructions",
  "output",
  "error",
  "tools",
  "tool_choice",
  "truncation",
  "parallel_tool_calls",
  "text",
  "top_p",
  "presence_penalty",
  "frequency_penalty",
  "top_logprobs",
  "temperature",
  "reasoning",
  "usage",
  "max_output_tokens",
  "max_tool_calls",
  "store",
  "background",
  "service_tier",
  "metadata",
  "safety_identifier",
  "prompt_cache_key",
];

function expectCompleted(response: WireItem): void {
  expect(Object.keys(response)).toEqual(expect.arrayContaining(REQUIRED_FIELDS));
  expect(response).toMatchObject({ object: "response", status: "completed" });
  expect(readOutput(response).length).toBeGreaterThan(0);
}

const say = (role: string, content: unknown, rest: object = {}) => ({
  type: "message",
  role,
  content,
  ...rest,
});

const RED_DOT =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

const weather = {
  type: "function",
  name: "get_weather",
  description: "Gets the current weather.",
  parameters: {
    type: "object",
    properties: { location: { type: "string" } },
    required: ["location"],
  },
};

describe("the OpenResponses suite over HTTP", () => {
  test.each([
    { id: "basic-response", input: [say("user", "Say hello in three words.")] },
    {
      id: "assistant-phase",
      input: [
        say("assistant", "I should use the saved number.", { phase: "commentary" }),
        say("assistant", "The number is four.", { phase: "final_answer" }),
        say("user", "Repeat the number."),
      ],
    },
    {
      id: "system-prompt",
      input: [say("system", "You are a pirate."), say("user", "Say hello.")],
    },
    {
      id: "image-input",
      input: [
        say("user", [
          { type: "input_text", text: "What do you see?" },
          { type: "input_image", image_url: RED_DOT },
        ]),
      ],
    },
    {
      id: "multi-turn",
      input: [
        say("user", "My name is Alice."),
        say("assistant", "Hello Alice!"),
        say("user", "What is my name?"),
      ],
    },
  ])("$id: completes with output", async ({ input }) => {
    const { respond } = await startDefaultProvider();
    expectCompleted(await respond({ input }));
  });

  test("response-output-phase-schema: messages with a phase are returned unchanged", async () => {
    const { respond, ask } = await startDefaultProvider();
    const content = [{ type: "output_text", text: "Four.", annotations: [] }];
    const input = [say("assistant", content, { phase: "final_answer" }), say("user", "Repeat.")];
    const { id } = await respond({ input });
    const { body } = await ask(`GET /responses/${id}/input_items?order=asc`);
    expect(body["data"]).toMatchObject([{ phase: "final_answer" }, { role: "user" }]);
  });

  test("streaming-response: streams events and ends with a completed response", async () => {
    const { stream } = await startDefaultProvider();
    const events = await stream({ input: [say("user", "Count from 1 to 5.")] });
    expect(events.at(-1)?.type).toBe("response.completed");
    expectCompleted(events.at(-1)?.["response"] as WireItem);
  });

  test("tool-calling: calls the client's function", async () => {
    const { respond } = await startProviderFixture([
      [{ call: { name: "get_weather", args: { location: "San Francisco, CA" } } }],
    ]);
    const response = await respond({
      input: [say("user", "What is the weather in San Francisco?")],
      tools: [weather],
    });
    expect(findItem(response, "function_call")).toMatchObject({ name: "get_weather" });
  });

  test("compact-response: compacts a conversation", async () => {
    const { ask } = await startDefaultProvider();
    const { status, body } = await ask("POST /responses/compact", {
      model: "any",
      prompt_cache_key: "compact-test",
      input: [
        say("user", "We launch on Tuesday and notify support first."),
        say("assistant", "Understood."),
      ],
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ object: "response.compaction" });
    expect(findItem(body, "compaction")).toHaveProperty("encrypted_content");
  });

  test("compact-missing-model: refuses a compaction without a model", async () => {
    const { ask } = await startDefaultProvider();
    const input = [say("user", "Compact this.")];
    expect(await ask("POST /responses/compact", { input })).toMatchObject({ status: 400 });
  });
});

describe("the OpenResponses suite over WebSocket", () => {
  test("websocket-response: streams the events of a response", async () => {
    const { client } = await openDefaultSocket();
    client.create({ input: [say("user", "Count from 1 to 3.")] });
    expectCompleted(await client.readResponse());
  });

  test("websocket-sequential-responses: answers several requests on one connection", async () => {
    const { client } = await openDefaultSocket();
    const ids = new Set<unknown>();
    for (const word of ["first", "second"]) {
      client.create({ store: false, input: `Reply with exactly: ${word}` });
      const response = await client.readResponse();
      expectCompleted(response);
      ids.add(response["id"]);
    }
    expect(ids.size).toBe(2);
  });

  test("websocket-continuation: continues a response that is not stored", async () => {
    const { client } = await openDefaultSocket();
    client.create({ store: false, input: "The code word is cobalt." });
    const { id: previous_response_id } = await client.readResponse();
    client.create({ store: false, previous_response_id, input: "What is the code word?" });
    const second = await client.readResponse();
    expectCompleted(second);
    expect(second).toMatchObject({ previous_response_id });
  });

  test("websocket-reconnect-store-false-recovery: recovers on a new connection", async () => {
    const { client, url } = await openDefaultSocket();
    client.create({ store: false, input: "The code word is copper." });
    const { id: previous_response_id } = await client.readResponse();
    client.socket.close();
    await client.closed;
    const other = await openSocketClient(url);
    other.create({ store: false, previous_response_id, input: "Try to continue." });
    expect(await other.readError()).toMatchObject({
      status: 400,
      error: { code: "previous_response_not_found" },
    });
    other.create({ store: false, input: [say("user", "Start again.")] });
    expectCompleted(await other.readResponse());
  });

  test("websocket-previous-response-not-found: refuses an unknown response", async () => {
    const { client } = await openDefaultSocket();
    client.create({ store: false, previous_response_id: "resp_missing", input: "Owl." });
    expect(await client.readTurn()).toMatchObject([
      { type: "error", error: { code: "previous_response_not_found" } },
    ]);
  });

  test("websocket-failed-continuation-evicts-cache: forgets the response", async () => {
    const { client } = await openDefaultSocket();
    client.create({ store: false, input: "The code word is ember." });
    const { id: previous_response_id } = await client.readResponse();
    const output = { type: "function_call_output", call_id: "call_missing", output: "None." };
    client.create({ store: false, previous_response_id, input: [output] });
    expect(await client.readError()).toMatchObject({ status: 400 });
    client.create({ store: false, previous_response_id, input: "Try to continue." });
    expect(await client.readError()).toMatchObject({
      error: { code: "previous_response_not_found" },
    });
  });

  test("websocket-compact-new-chain: starts a new chain with compacted input", async () => {
    const { client, ask } = await openDefaultSocket();
    const conversation = [
      say("user", [{ type: "input_text", text: "The code word is slate." }]),
      say("assistant", [{ type: "output_text", text: "OK." }]),
      say("user", [{ type: "input_text", text: "Compress this conversation." }]),
    ];
    const { body } = await ask("POST /responses/compact", { model: "any", input: conversation });
    const input = [...readOutput(body), say("user", "Continue from here.")];
    client.create({ store: false, input, tools: [] });
    const response = await client.readResponse();
    expectCompleted(response);
    expect(response).toMatchObject({ previous_response_id: null });
  });
});
