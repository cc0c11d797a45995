import { describe, expect, test } from "vitest";
import { chatLook, startChatProvider } from "../../../tests/support/local/chat-fixture.ts";
import type { WireItem } from "../../openai/wire.ts";

describe("POST /v1/chat/completions rejects", () => {
  const unsupported = "unsupported_parameter";

  test.each<[WireItem, object]>([
    [{ messages: [] }, { param: "messages", code: "empty_array" }],
    [{ messages: "Hi." }, { param: "messages", code: "invalid_type" }],
    [{ model: "" }, { param: "model", code: "empty_string" }],
    [{ foo: 1 }, { param: "foo", code: "unknown_parameter", message: "Unknown parameter: 'foo'." }],
    [{ input: "Hi." }, { param: "input", code: "unknown_parameter" }],
    [
      { messages: [{ role: "user", content: "Hi.", foo: 1 }] },
      { param: "messages[0].foo", code: "unknown_parameter" },
    ],
    [{ messages: [{ content: "Hi." }] }, { param: "messages[0].role" }],
    [{ messages: [{ role: "owl", content: "Hi." }] }, { param: "messages[0].role" }],
    [
      { messages: [{ role: "function", name: "look", content: "12" }] },
      {
        param: "messages[0]",
        code: unsupported,
        message:
          "Unsupported parameter: 'messages[0]' is not supported by this server. Use 'tools', and send results in messages with the role 'tool'.",
      },
    ],
    [
      { messages: [{ role: "user", content: [{ type: "input_audio", input_audio: {} }] }] },
      { param: "messages[0].content[0]", code: unsupported },
    ],
    [
      { messages: [{ role: "user", content: [{ type: "file", file: { filename: "a" } }] }] },
      { param: "messages[0].content[0].file.file_data", code: "missing_required_parameter" },
    ],
    [
      { messages: [{ role: "user", content: [{ type: "file", file: "a" }] }] },
      { param: "messages[0].content[0].file", code: "invalid_type" },
    ],
    [
      { messages: [{ role: "assistant", content: "Hi.", function_call: { name: "look" } }] },
      { param: "messages[0].function_call", code: unsupported },
    ],
    [
      { messages: [{ role: "assistant", content: "Hi.", audio: { id: "audio_1" } }] },
      { param: "messages[0].audio", code: unsupported },
    ],
    [{ tools: [] }, { param: "tools", code: "empty_array" }],
    [{ tools: ["look"] }, { param: "tools[0]", code: "invalid_type" }],
    [{ tools: [{ type: "owl" }] }, { param: "tools[0].type", code: "invalid_value" }],
    [
      { tools: [chatLook, { type: "web_search" }] },
      {
        param: "tools[1].type",
        code: "unsupported_value",
        message:
          "Unsupported value: 'tools[1].type' does not support 'web_search' with this endpoint. Use POST /v1/responses for hosted tools.",
      },
    ],
    [
      { tools: [{ type: "function", function: { name: "a", strict: true, parameters: {} } }] },
      { param: "tools[0].function.parameters", code: "invalid_function_parameters" },
    ],
    [
      { tool_choice: "required" },
      {
        param: "tool_choice",
        message:
          "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
      },
    ],
    [{ parallel_tool_calls: true }, { param: "parallel_tool_calls" }],
    [
      { tools: [chatLook], tool_choice: "any" },
      { param: "tool_choice", code: "invalid_value" },
    ],
    [
      { tools: [chatLook], tool_choice: { type: "function", function: { name: "hear" } } },
      {
        param: "tool_choice",
        message: "Tool choice 'hear' not found in 'tools' parameter.",
      },
    ],
    [
      { stream_options: { include_usage: true } },
      {
        param: "stream_options",
        message: "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      },
    ],
    [
      { max_tokens: 5, max_completion_tokens: 5 },
      {
        param: "max_tokens",
        code: "invalid_parameter_combination",
        message:
          "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
      },
    ],
    [{ max_tokens: 0 }, { param: "max_tokens", code: "integer_below_min_value" }],
    [
      { n: 2 },
      {
        param: "n",
        code: "unsupported_value",
        message:
          "Unsupported value: 'n' does not support 2 with this server. Only the default (1) value is supported. Send one request for each answer.",
      },
    ],
    [{ n: 0 }, { param: "n", code: "integer_below_min_value" }],
    [{ stop: ["a", "b", "c", "d", "e"] }, { param: "stop", code: "array_above_max_length" }],
    [{ logprobs: true }, { param: "logprobs", code: unsupported }],
    [{ logprobs: 1 }, { param: "logprobs", code: "invalid_type" }],
    [{ top_logprobs: 2 }, { param: "top_logprobs", code: unsupported }],
    [{ modalities: ["text", "audio"] }, { param: "modalities[1]", code: "invalid_value" }],
    [{ audio: { voice: "alloy", format: "wav" } }, { param: "audio", code: unsupported }],
    [
      { web_search_options: {} },
      {
        param: "web_search_options",
        code: unsupported,
        message:
          "Unsupported parameter: 'web_search_options' is not supported by this server. Use POST /v1/responses with the tool 'web_search'.",
      },
    ],
    [{ functions: [{ name: "look" }] }, { param: "functions", code: unsupported }],
    [{ function_call: "auto" }, { param: "function_call", code: unsupported }],
    [
      { response_format: { type: "json_schema", json_schema: { name: "a b" } } },
      { param: "response_format.json_schema.name", code: "invalid_value" },
    ],
    [
      {
        response_format: {
          type: "json_schema",
          json_schema: { name: "a", strict: true, schema: { type: "object" } },
        },
      },
      { param: "response_format.json_schema.schema", code: "invalid_json_schema" },
    ],
  ])("%j", async (body, error) => {
    const { complete } = startChatProvider([]);
    const refused = await complete(body);
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { type: "invalid_request_error", ...error } },
    });
    expect(refused.headers.get("x-ratelimit-limit-requests")).toBe("1000000");
  });

  test("query parameters", async () => {
    const { ask } = startChatProvider([]);
    const error = { param: "stream", code: "unknown_parameter" };
    expect(await ask("POST /chat/completions?stream=true", {})).toMatchObject({ body: { error } });
  });

  test("a body that is not an object", async () => {
    const { ask } = startChatProvider([]);
    for (const body of [[], "[", "5"])
      expect(await ask("POST /chat/completions", body)).toMatchObject({ status: 400 });
  });

  test("no parameter that only tunes the model", async () => {
    const { complete } = startChatProvider([[{ say: "12" }]]);
    const { status } = await complete({
      temperature: 0.5,
      top_p: 0.9,
      seed: 7,
      frequency_penalty: -1,
      presence_penalty: 2,
      logit_bias: { "50256": -100 },
      logprobs: false,
      modalities: ["text"],
      prediction: { type: "content", content: "12" },
      reasoning_effort: "low",
      verbosity: "low",
      user: "owl",
      safety_identifier: "owl",
      prompt_cache_key: "owls",
      store: false,
      n: 1,
      tools: null,
      tool_choice: null,
      stop: null,
    });
    expect(status).toBe(200);
  });
});
