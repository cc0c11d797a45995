import { describe, expect, test } from "vitest";
import { ApiProblem } from "../../api-problem.ts";
import { builtInCatalog } from "../../tools/index.ts";
import { createRequestCheck } from "./request.ts";

const checkRequest = createRequestCheck(builtInCatalog);

const plain = { model: "gpt-5", input: "Hello." };

function catchProblem(body: unknown): ApiProblem {
  try {
    checkRequest(body);
  } catch (problem) {
    if (problem instanceof ApiProblem) return problem;
    throw problem;
  }
  throw new Error(`Accepted: ${JSON.stringify(body)}`);
}

type Refusal = readonly [body: object, param: string | null, code: string, message: string];

const expectUnknown = (body: object, param: string): Refusal => [
  body,
  param,
  "unknown_parameter",
  `Unknown parameter: '${param}'.`,
];

const expectMissing = (body: object, param: string): Refusal => [
  body,
  param,
  "missing_required_parameter",
  `Missing required parameter: '${param}'.`,
];

const format = (more: object) => ({ text: { format: { type: "json_schema", ...more } } });
const management = (entry: object) => ({ context_management: [entry] });

describe("the request check rejects", () => {
  test.each<Refusal>([
    expectUnknown({ messages: [] }, "messages"),
    expectUnknown({ constructor: 1 }, "constructor"),
    expectUnknown({ reasoning: { budget: 1 } }, "reasoning.budget"),
    expectUnknown({ text: { style: "short" } }, "text.style"),
    expectUnknown(format({ name: "a", schema: {}, title: "b" }), "text.format.title"),
    expectUnknown({ stream_options: { include_usage: true } }, "stream_options.include_usage"),
    expectUnknown(management({ type: "compaction", keep: 1 }), "context_management[0].keep"),
    expectUnknown({ prompt_cache_options: { days: 1 } }, "prompt_cache_options.days"),
    expectMissing(format({ schema: {} }), "text.format.name"),
    expectMissing(format({ name: "a" }), "text.format.schema"),
    expectMissing(management({ compact_threshold: 1000 }), "context_management[0].type"),
    [
      { model: 5 },
      "model",
      "invalid_type",
      "Invalid type for 'model': expected a string, but got an integer instead.",
    ],
    [
      { input: 5 },
      "input",
      "invalid_type",
      "Invalid type for 'input': expected one of a string or an array, but got an integer instead.",
    ],
    [
      { store: "no" },
      "store",
      "invalid_type",
      "Invalid type for 'store': expected a boolean, but got a string instead.",
    ],
    [
      { tools: {} },
      "tools",
      "invalid_type",
      "Invalid type for 'tools': expected an array, but got an object instead.",
    ],
    [
      { max_tool_calls: 1.5 },
      "max_tool_calls",
      "invalid_type",
      "Invalid type for 'max_tool_calls': expected an integer, but got a decimal number instead.",
    ],
    [
      { temperature: "hot" },
      "temperature",
      "invalid_type",
      "Invalid type for 'temperature': expected a decimal, but got a string instead.",
    ],
    [
      { truncation: 1 },
      "truncation",
      "invalid_type",
      "Invalid type for 'truncation': expected one of 'auto' or 'disabled', but got an integer instead.",
    ],
    [
      { metadata: { a: 1 } },
      "metadata.a",
      "invalid_type",
      "Invalid type for 'metadata.a': expected a string, but got an integer instead.",
    ],
    [
      { truncation: "middle" },
      "truncation",
      "invalid_value",
      "Invalid value: 'middle'. Supported values are: 'auto' and 'disabled'.",
    ],
    [
      { text: { verbosity: "loud" } },
      "text.verbosity",
      "invalid_value",
      "Invalid value: 'loud'. Supported values are: 'low', 'medium', and 'high'.",
    ],
    [
      { text: { format: { type: "xml" } } },
      "text.format.type",
      "invalid_value",
      "Invalid value: 'xml'. Supported values are: 'text', 'json_object', and 'json_schema'.",
    ],
    [
      management({ type: "forget" }),
      "context_management[0].type",
      "invalid_value",
      "Invalid value: 'forget'. Supported values are: 'compaction'.",
    ],
    [
      { temperature: 2.5 },
      "temperature",
      "decimal_above_max_value",
      "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 2.5 instead.",
    ],
    [
      { top_p: -0.1 },
      "top_p",
      "decimal_below_min_value",
      "Invalid 'top_p': decimal below minimum value. Expected a value >= 0, but got -0.1 instead.",
    ],
    [
      { max_output_tokens: 15 },
      "max_output_tokens",
      "integer_below_min_value",
      "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 15 instead.",
    ],
    [
      { top_logprobs: 21 },
      "top_logprobs",
      "integer_above_max_value",
      "Invalid 'top_logprobs': integer above maximum value. Expected a value <= 20, but got 21 instead.",
    ],
    [
      management({ type: "compaction", compact_threshold: 999 }),
      "context_management[0].compact_threshold",
      "integer_below_min_value",
      "Invalid 'context_management[0].compact_threshold': integer below minimum value. Expected a value >= 1000, but got 999 instead.",
    ],
    [
      { context_management: [] },
      "context_management",
      "empty_array",
      "Invalid 'context_management': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    ],
    [
      { prompt_cache_key: "k".repeat(65) },
      "prompt_cache_key",
      "string_above_max_length",
      "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.",
    ],
    [
      { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, ""])) },
      "metadata",
      "object_above_max_properties",
      "Invalid 'metadata': too many properties. Expected an object with at most 16 properties, but got an object with 17 properties instead.",
    ],
    [
      { metadata: { a: "x".repeat(513) } },
      "metadata.a",
      "string_above_max_length",
      "Invalid 'metadata.a': string too long. Expected a string with maximum length 512, but got a string with length 513 instead.",
    ],
    [
      { metadata: { ["k".repeat(65)]: "" } },
      "metadata",
      "string_above_max_length",
      "Invalid 'metadata': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.",
    ],
    [
      format({ name: "two words", schema: {} }),
      "text.format.name",
      "invalid_value",
      "Invalid 'text.format.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    ],
    [
      { previous_response_id: "resp_1", conversation: "conv_1" },
      null,
      "mutually_exclusive_parameters",
      "Mutually exclusive parameters: Ensure you are only providing one of: 'previous_response_id' or 'conversation'.",
    ],
    [
      { background: true, store: false },
      "background",
      "unsupported_parameter",
      "Unsupported parameter: 'background' requires 'store' to be true.",
    ],
    [
      { prompt: { id: "pmpt_1" } },
      "prompt",
      "unsupported_parameter",
      "Unsupported parameter: 'prompt' is not supported by this server. Send its text as 'instructions' or 'input'.",
    ],
    [
      { input: [] },
      "input",
      "missing_required_parameter",
      `One of "input" or "previous_response_id" or 'prompt' or 'conversation_id' must be provided.`,
    ],
  ])("%j", (body, param, code, message) => {
    const problem = catchProblem({ ...plain, ...body });
    expect(problem).toMatchObject({ status: 400, type: "invalid_request_error", param, code });
    expect(problem.message).toBe(message);
  });

  test("a body without a model, or without input and a previous response", () => {
    expect(catchProblem({ input: "Hello." })).toMatchObject({
      message: "Missing required parameter: 'model'.",
      param: "model",
    });
    expect(catchProblem({ model: "m" })).toMatchObject({ param: "input" });
  });

  test("a body that is not an object", () => {
    expect(catchProblem([]).message).toBe(
      "Invalid type for 'body': expected an object, but got an array instead.",
    );
  });

  test("an unknown include value, and lists the known ones", () => {
    const { message, param } = catchProblem({ ...plain, include: ["everything"] });
    expect(param).toBe("include[0]");
    expect(message).toBe(
      "Invalid value: 'everything'. Supported values are: 'file_search_call.results', 'web_search_call.results', 'web_search_call.action.sources', 'message.input_image.image_url', 'computer_call_output.output.image_url', 'code_interpreter_call.outputs', 'reasoning.encrypted_content', and 'message.output_text.logprobs'.",
    );
  });

  test("a __proto__ key", () => {
    const body: unknown = JSON.parse(`{"model":"m","input":"a","__proto__":{"store":false}}`);
    expect(catchProblem(body).param).toBe("__proto__");
  });
});

describe("a minimal request", () => {
  test("gets OpenAI's defaults", () => {
    const { echo, include, input, metadata, ...request } = checkRequest(plain);
    expect(request).toEqual({
      model: "gpt-5",
      instructions: null,
      tools: [],
      toolChoice: "auto",
      store: true,
      stream: false,
      background: false,
      previousResponseId: null,
      conversationId: null,
      textFormat: null,
      verbosity: "medium",
      reasoning: null,
      maxOutputTokens: null,
      maxToolCalls: null,
      parallelToolCalls: true,
      compactThreshold: null,
      compactNow: false,
      prewarm: false,
      truncation: "disabled",
    });
    expect([...include]).toEqual([]);
    expect(metadata).toEqual({});
    expect(input).toEqual([
      { type: "message", role: "user", content: [{ type: "input_text", text: "Hello." }] },
    ]);
    expect(echo).toMatchObject({
      temperature: 1,
      top_p: 1,
      service_tier: "default",
      text: { format: { type: "text" }, verbosity: "medium" },
      reasoning: { effort: null, summary: null },
    });
  });

  test("accepts null for nearly all fields", () => {
    const keys = ["instructions", "tools", "tool_choice", "include", "store", "stream", "text"];
    const nulls = Object.fromEntries([...keys, "metadata", "reasoning"].map((key) => [key, null]));
    expect(checkRequest({ ...plain, ...nulls })).toEqual(checkRequest(plain));
  });

  test("may omit the type of messages and references", () => {
    const input = [{ role: "user", content: "Hi." }, { id: "msg_1" }, { type: null, id: "msg_2" }];
    expect(checkRequest({ model: "m", input }).input).toEqual([
      { type: "message", role: "user", content: "Hi." },
      { type: "item_reference", id: "msg_1" },
      { type: "item_reference", id: "msg_2" },
    ]);
  });

  test("may continue a response without input", () => {
    const { input, previousResponseId } = checkRequest({
      model: "m",
      previous_response_id: "resp_1",
    });
    expect([input, previousResponseId]).toEqual([[], "resp_1"]);
  });

  test.each([["conv_1"], [{ id: "conv_1" }]])(
    "may continue a conversation without input, and repeats its id: %j",
    (conversation) => {
      const { input, conversationId, echo } = checkRequest({ model: "m", conversation });
      expect([input, conversationId]).toEqual([[], "conv_1"]);
      expect(echo["conversation"]).toEqual({ id: "conv_1" });
    },
  );
});

describe("a full request", () => {
  const schema = { type: "json_schema", name: "answer", schema: { type: "object" } };
  const request = checkRequest({
    model: "gpt-5",
    input: [{ role: "user", content: "Hi." }, { type: "compaction_trigger" }],
    instructions: "Be brief.",
    tools: [{ type: "web_search" }],
    tool_choice: { type: "web_search" },
    include: ["reasoning.encrypted_content"],
    store: false,
    stream: true,
    text: { format: schema, verbosity: "low" },
    reasoning: { effort: "low", generate_summary: "auto" },
    context_management: [
      { type: "compaction", compact_threshold: 5000 },
      { type: "compaction" },
      { type: "compaction", compact_threshold: 2000 },
    ],
    service_tier: "flex",
    max_output_tokens: 16,
    max_tool_calls: 3,
    parallel_tool_calls: false,
    metadata: { of: "me" },
    user: "u",
  });

  test("is parsed with all fields", () => {
    expect(request).toMatchObject({
      instructions: "Be brief.",
      store: false,
      stream: true,
      textFormat: schema,
      verbosity: "low",
      maxOutputTokens: 16,
      maxToolCalls: 3,
      parallelToolCalls: false,
      compactThreshold: 2000,
      compactNow: true,
      toolChoice: { type: "web_search" },
    });
    expect(request.include.has("reasoning.encrypted_content")).toBe(true);
  });

  test("is repeated in the response", () => {
    expect(request.echo).toMatchObject({
      service_tier: "flex",
      reasoning: { effort: "low", summary: "auto" },
      text: { format: { ...schema, description: null, strict: false }, verbosity: "low" },
      metadata: { of: "me" },
      store: false,
      user: "u",
    });
  });
});

test("the request check handles a history of 4,000 items within 500 ms", () => {
  const items = Array.from({ length: 2000 }, (_, at) => [
    { type: "function_call", call_id: `call_${at}`, name: "look", arguments: "{}" },
    { type: "function_call_output", call_id: `call_${at}`, output: "seen" },
  ]).flat();
  const start = performance.now();
  expect(checkRequest({ ...plain, input: items }).input).toHaveLength(4000);
  expect(performance.now() - start).toBeLessThan(500);
});
