import { describe, expect, test } from "vitest";
import { findResponseProblems } from "../../../tests/support/openapi.ts";
import { builtInCatalog } from "../tools/index.ts";
import { createRequestCheck } from "./check/request.ts";
import { createResponseObject, type ResponseParts } from "./response-object.ts";

const checkRequest = createRequestCheck(builtInCatalog);

const usage = {
  input_tokens: 3,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 2,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 5,
};

const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Hi.", annotations: [], logprobs: [] }],
};

function createResponse(request: object, parts: Partial<ResponseParts> = {}) {
  const { echo } = checkRequest({ model: "gpt-5", input: "Hello.", ...request });
  const made = { id: "resp_1", createdAt: 100, status: "completed", output: [message] } as const;
  return createResponseObject({ ...made, usage, echo, ...parts }, builtInCatalog);
}

/** Returns the tools as a response repeats them. */
function readToolEchoes(tools: readonly object[], parts: Partial<ResponseParts> = {}): unknown {
  return createResponse({ tools }, parts)["tools"];
}

/** The fields that every response must have. */
const required = (
  "id object created_at completed_at status incomplete_details model previous_response_id " +
  "instructions output error tools tool_choice truncation parallel_tool_calls text top_p " +
  "presence_penalty frequency_penalty top_logprobs temperature reasoning usage max_output_tokens " +
  "max_tool_calls store background service_tier metadata safety_identifier prompt_cache_key"
).split(" ");

describe("createResponseObject()", () => {
  test("returns all 31 fields and no output_text", () => {
    const response = createResponse({});
    expect(required).toHaveLength(31);
    expect(Object.keys(response)).toEqual(expect.arrayContaining(required));
    expect(response).not.toHaveProperty("output_text");
  });

  test.each<readonly [title: string, request: object, parts: Partial<ResponseParts>]>([
    ["completed", {}, { completedAt: 102 }],
    ["in progress", {}, { status: "in_progress", output: [], usage: null }],
    ["incomplete", {}, { status: "incomplete", incompleteReason: "max_output_tokens" }],
    ["failed", {}, { status: "failed", error: { code: "server_error", message: "Oh." } }],
    [
      "to a full request",
      {
        instructions: "Be brief.",
        tools: [
          { type: "function", name: "look", parameters: { type: "object" } },
          { type: "custom", name: "run" },
          { type: "web_search" },
          { type: "file_search", vector_store_ids: ["vs_1"] },
          { type: "code_interpreter", container: { type: "auto" } },
          { type: "shell", environment: { type: "container_auto" } },
          { type: "apply_patch" },
          { type: "mcp", server_label: "a", server_url: "https://a.b/c" },
        ],
        tool_choice: { type: "function", name: "look" },
        text: { format: { type: "json_schema", name: "answer", schema: { type: "object" } } },
        reasoning: { effort: "low", summary: "auto" },
        metadata: { of: "me" },
      },
      { containerId: "cntr_1" },
    ],
  ])("matches OpenAI's schema: %s", (_title, request, parts) => {
    const response = createResponse(request, parts);
    expect(findResponseProblems("/responses", response) ?? []).toEqual([]);
    expect(response["object"]).toBe("response");
  });

  test("sets completed_at only for a completed response", () => {
    expect(createResponse({}, { completedAt: 102 })["completed_at"]).toBe(102);
    expect(createResponse({})["completed_at"]).toBe(100);
    expect(createResponse({}, { status: "failed", completedAt: 102 })["completed_at"]).toBeNull();
  });

  test("sets the reason of an incomplete or failed response", () => {
    const error = { code: "server_error", message: "Oh." };
    expect(createResponse({}, { incompleteReason: "max_output_tokens", error })).toMatchObject({
      incomplete_details: { reason: "max_output_tokens" },
      error,
    });
  });
});

describe("a response repeats a tool", () => {
  const nowhere = { type: "approximate", city: null, country: null, region: null, timezone: null };

  test.each<readonly [tool: object, echo: object]>([
    [
      { type: "function", name: "look", strict: null },
      { type: "function", name: "look", description: null, parameters: null, strict: true },
    ],
    [
      { type: "function", name: "look", strict: false, description: "See." },
      { type: "function", name: "look", description: "See.", parameters: null, strict: false },
    ],
    [
      { type: "custom", name: "run" },
      { type: "custom", name: "run", format: { type: "text" } },
    ],
    [
      { type: "namespace", name: "n", description: "d", tools: [{ type: "custom", name: "run" }] },
      {
        type: "namespace",
        name: "n",
        description: "d",
        tools: [{ type: "custom", name: "run", format: { type: "text" } }],
      },
    ],
    [
      {
        type: "file_search",
        vector_store_ids: ["vs_1"],
        ranking_options: { score_threshold: 0.5 },
      },
      {
        type: "file_search",
        vector_store_ids: ["vs_1"],
        filters: null,
        max_num_results: 20,
        ranking_options: { ranker: "auto", score_threshold: 0.5 },
      },
    ],
    [
      { type: "web_search" },
      {
        type: "web_search",
        search_context_size: "medium",
        user_location: { ...nowhere, country: "US" },
      },
    ],
    [
      { type: "web_search_preview", search_context_size: "low", user_location: { city: "Bern" } },
      {
        type: "web_search_preview",
        search_context_size: "low",
        user_location: { ...nowhere, city: "Bern" },
      },
    ],
    [
      { type: "code_interpreter", container: { type: "auto" } },
      { type: "code_interpreter", container: { type: "auto" } },
    ],
    [{ type: "shell" }, { type: "shell" }],
    [
      { type: "shell", environment: { type: "local" } },
      { type: "shell", environment: { type: "local" } },
    ],
    [
      { type: "shell", environment: { type: "container_auto", memory_limit: "4g" } },
      { type: "shell", environment: { type: "container_reference", container_id: "cntr_1" } },
    ],
  ])("%j", (tool, echo) => {
    expect(readToolEchoes([tool], { containerId: "cntr_1" })).toEqual([echo]);
  });

  test("as sent, before its container is created", () => {
    const tool = { type: "shell", environment: { type: "container_auto" } };
    expect(readToolEchoes([tool])).toEqual([tool]);
  });

  test("without the secrets of an MCP server", () => {
    const tool = {
      type: "mcp",
      server_label: "a",
      server_url: "https://a.b/secret?key=secret",
      authorization: "secret",
      headers: { "x-key": "secret" },
    };
    const echo = readToolEchoes([tool]);
    expect(echo).toEqual([
      {
        type: "mcp",
        server_label: "a",
        server_url: "https://a.b/<redacted>",
        authorization: "<redacted>",
        headers: { "x-key": "<redacted>" },
        allowed_tools: null,
        require_approval: null,
        server_description: null,
      },
    ]);
  });

  test.each([
    ["https://a.b", "https://a.b"],
    ["https://user:secret@a.b/", "https://a.b"],
    ["not a URL: secret", "<redacted>"],
    ["data:secret", "<redacted>"],
  ])("with the server URL %s as %s", (server_url, shown) => {
    const echo = readToolEchoes([{ type: "mcp", server_label: "a", server_url }]);
    expect(echo).toMatchObject([{ server_url: shown, headers: null }]);
  });

  test("without a URL if the request has no URL", () => {
    const [echo] = [readToolEchoes([{ type: "mcp", server_label: "a", connector_id: "c" }])].flat();
    expect(echo).not.toHaveProperty("server_url");
  });

  test("without the secrets of a network policy", () => {
    const policy = { type: "allowlist", allowed_domains: ["a.b"] };
    const secrets = [{ domain: "a.b", name: "KEY", value: "secret" }];
    const container = { type: "auto", network_policy: { ...policy, domain_secrets: secrets } };
    expect(readToolEchoes([{ type: "code_interpreter", container }])).toEqual([
      { type: "code_interpreter", container: { type: "auto", network_policy: policy } },
    ]);
  });
});
