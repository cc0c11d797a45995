import { describe, expect, test } from "vitest";
import type { LocalModel } from "weakincentives/local";
import type { WireItem } from "../../src/openai/wire.ts";
import {
  findItem,
  readAnswer,
  readOutput,
  startProviderFixture,
} from "../support/local/provider-fixture.ts";

const look = {
  type: "function",
  name: "look",
  parameters: { type: "object", properties: { at: { type: "string" } } },
};

describe("a plain turn", () => {
  test("returns the model's answer", async () => {
    const { respond } = await startProviderFixture([[{ say: "Hello." }]]);
    const response = await respond({
      input: "Hi.",
      instructions: "Be kind.",
      metadata: { a: "b" },
    });
    expect(readAnswer(response)).toBe("Hello.");
    expect(response).toMatchObject({
      object: "response",
      status: "completed",
      model: "any",
      instructions: "Be kind.",
      metadata: { a: "b" },
      error: null,
      incomplete_details: null,
      store: true,
    });
    expect(Object.keys(response).length).toBeGreaterThanOrEqual(31);
  });

  test("returns the same in process as over a socket", async () => {
    const { provider } = await startProviderFixture([[{ say: "Hello." }]]);
    const body = JSON.stringify({ model: "any", input: "Hi." });
    const answer = await provider.fetch("http://local/v1/responses", { method: "POST", body });
    expect(readAnswer((await answer.json()) as WireItem)).toBe("Hello.");
  });

  test("continues from a previous response without its instructions", async () => {
    const seen: object[] = [];
    const { respond } = await startProviderFixture((request) => {
      seen.push(request);
      return [{ say: `${request.items.length} items` }];
    });
    const first = await respond({ input: "One.", instructions: "Be kind." });
    const second = await respond({ input: "Two.", previous_response_id: first["id"] });
    const third = await respond({ input: "Three.", previous_response_id: second["id"] });
    expect([first, second, third].map(readAnswer)).toEqual(["1 items", "3 items", "5 items"]);
    expect(third["previous_response_id"]).toBe(second["id"]);
    expect(seen).toMatchObject([
      { instructions: "Be kind.", turn: 0, text: "One." },
      { instructions: null, turn: 1, text: "Two." },
      { turn: 2, text: "Three." },
    ]);
  });

  test("that prepares the prompt cache has no output and uses no step of the script", async () => {
    const { respond, stream } = await startProviderFixture([[{ say: "Hello." }]]);
    const prompt_cache_options = { prewarm: true, comparison_response_id: "resp_1" };
    const prepared = await respond({ input: "Hi.", prompt_cache_options });
    expect(prepared).toMatchObject({ status: "completed", output: [] });
    const events = await stream({ input: "Hi.", prompt_cache_options });
    expect(events.at(-1)).toMatchObject({ type: "response.completed", response: { output: [] } });
    expect(readAnswer(await respond({ previous_response_id: prepared["id"] }))).toBe("Hello.");
  });

  test("cannot continue from an unknown response", async () => {
    const { ask } = await startProviderFixture([]);
    const body = { model: "any", input: "Hi.", previous_response_id: "resp_1" };
    expect(await ask("POST /responses", body)).toMatchObject({
      status: 400,
      body: { error: { param: "previous_response_id", code: "previous_response_not_found" } },
    });
  });

  test("returns a structured answer as JSON text", async () => {
    const { respond } = await startProviderFixture((request) => {
      expect(request.format).toMatchObject({ type: "json_schema", name: "answer" });
      return [{ say: { answer: 42 } }];
    });
    const schema = {
      type: "object",
      properties: { answer: { type: "integer" } },
      required: ["answer"],
      additionalProperties: false,
    };
    const format = { type: "json_schema", name: "answer", schema, strict: true };
    const response = await respond({ input: "Hi.", text: { format } });
    expect(JSON.parse(readAnswer(response))).toEqual({ answer: 42 });
    expect(response["text"]).toMatchObject({ format: { type: "json_schema", strict: true } });
  });

  test("is truncated at max_output_tokens", async () => {
    const { respond } = await startProviderFixture([
      [{ say: "é".repeat(200) }],
      [{ say: "x".repeat(64) }],
    ]);
    const cut = await respond({ input: "Hi.", max_output_tokens: 16 });
    expect(cut).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      completed_at: null,
    });
    expect(readAnswer(cut)).toBe("é".repeat(32));
    expect(findItem(cut, "message")["status"]).toBe("incomplete");
    const whole = await respond({ input: "Hi.", max_output_tokens: 16 });
    expect(whole["status"]).toBe("completed");
  });

  test("can end with a refusal", async () => {
    const { respond } = await startProviderFixture([[{ refuse: "No." }]]);
    const response = await respond({ input: "Hi." });
    expect(findItem(response, "message")["content"]).toEqual([{ type: "refusal", refusal: "No." }]);
  });

  test("fails after the end of the script", async () => {
    const { ask } = await startProviderFixture([]);
    const answer = await ask("POST /responses", { model: "any", input: "Hi." });
    expect(answer).toMatchObject({ status: 500, body: { error: { code: "script_ended" } } });
    expect(answer.headers.get("x-should-retry")).toBe("false");
  });
});

describe("a function", () => {
  test("is called, answered, and used for the final answer", async () => {
    const { respond } = await startProviderFixture([
      [{ call: { name: "look", args: { at: "owls" }, callId: "call_7" } }],
      [{ say: "Owls." }],
    ]);
    const first = await respond({ input: "Hi.", tools: [look] });
    expect(findItem(first, "function_call")).toMatchObject({
      call_id: "call_7",
      name: "look",
      arguments: '{"at":"owls"}',
    });
    const answer = { type: "function_call_output", call_id: "call_7", output: "Seen." };
    const input = [{ role: "user", content: "Hi." }, ...readOutput(first), answer];
    expect(readAnswer(await respond({ input, tools: [look], store: false }))).toBe("Owls.");
  });

  test("without an output is reported", async () => {
    const { respond, ask } = await startProviderFixture([
      [{ call: { name: "look", args: "{", callId: "c" } }],
    ]);
    const { id, output: calls } = await respond({ input: "Hi.", tools: [look] });
    expect(calls).toMatchObject([{ arguments: "{" }]);
    const body = { model: "any", input: "So?", previous_response_id: id };
    expect(await ask("POST /responses", body)).toMatchObject({
      status: 400,
      body: { error: { message: "No tool output found for function call c." } },
    });
  });

  test("is called once if parallel calls are disabled", async () => {
    const twice = [
      { call: { name: "look", args: {} } },
      { call: { name: "look", args: { at: "here" } } },
    ];
    const { respond } = await startProviderFixture([twice, twice]);
    expect(readOutput(await respond({ input: "Hi.", tools: [look] }))).toHaveLength(2);
    const one = await respond({ input: "Hi.", tools: [look], parallel_tool_calls: false });
    expect(readOutput(one)).toHaveLength(1);
  });

  test("with a made-up name is passed on to the client if the script says so", async () => {
    const call = { name: "made_up", args: {}, madeUp: true };
    const { respond } = await startProviderFixture([[{ call }]]);
    const response = await respond({ input: "Hi.", tools: [look] });
    expect(findItem(response, "function_call")).toMatchObject({ name: "made_up" });
  });

  test("is called in its namespace, and a custom tool with a string", async () => {
    const custom = { type: "custom", name: "write" };
    const tools = [
      { type: "namespace", name: "birds", description: "Birds.", tools: [look] },
      custom,
    ];
    const { respond, stream } = await startProviderFixture(() => [
      { call: { name: "look", args: {} } },
      { call: { name: "write", args: "Owls." } },
    ]);
    expect(readOutput(await respond({ input: "Hi.", tools }))).toMatchObject([
      { type: "function_call", name: "look", namespace: "birds" },
      { type: "custom_tool_call", name: "write", input: "Owls." },
    ]);
    const types = (await stream({ input: "Hi.", tools })).map(({ type }) => type);
    expect(types).toContain("response.custom_tool_call_input.done");
  });

  test("cannot be called if the request offers none", async () => {
    const { ask } = await startProviderFixture([[{ call: { name: "look", args: {} } }]]);
    const answer = await ask("POST /responses", { model: "any", input: "Hi." });
    expect(answer).toMatchObject({ status: 500, body: { error: { code: "model_error" } } });
  });
});

describe("a tool choice", () => {
  const tools = [look, { type: "web_search" }, { type: "shell" }];

  test.each<[unknown, readonly string[]]>([
    ["auto", ["function", "web_search", "shell"]],
    ["none", []],
    ["required", ["function", "web_search", "shell"]],
    [{ type: "function", name: "look" }, ["function"]],
    [{ type: "web_search_preview" }, ["web_search"]],
    [{ type: "web_search" }, ["web_search"]],
    [{ type: "shell" }, ["shell"]],
    [{ type: "allowed_tools", mode: "auto", tools: [{ type: "shell" }] }, ["shell"]],
  ])("of %j allows only the named tools", async (tool_choice, types) => {
    const model: LocalModel = {
      mayIgnoreToolChoice: true,
      respond: async (request) => [
        { say: request.tools.map((tool) => String(Object(tool).type)).join() },
      ],
    };
    const { respond } = await startProviderFixture([], { model });
    const response = await respond({ input: "Hi.", tools, tool_choice });
    expect(readAnswer(response)).toBe(types.join());
    expect(response["tool_choice"]).toEqual(tool_choice);
  });

  test.each([
    [{ type: "function", name: "other" }, "not found in 'tools'"],
    [{ type: "built_in", name: "look" }, "Invalid value"],
    ["always", "Invalid value"],
  ])("of %j is rejected", async (tool_choice, message) => {
    const { ask } = await startProviderFixture([]);
    const answer = await ask("POST /responses", { model: "any", input: "Hi.", tools, tool_choice });
    expect(answer).toMatchObject({ status: 400 });
    expect(JSON.stringify(answer.body)).toContain(message);
  });
});
