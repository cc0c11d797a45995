import { describe, expect, test } from "vitest";
import type { WireItem } from "../../../openai/wire.ts";
import { ApiProblem } from "../../api-problem.ts";
import { type CheckOptions, checkMessageRequest } from "./request.ts";

const plain = { model: "any", max_tokens: 2000, messages: [{ role: "user", content: "Hi." }] };

function catchMessage(body: unknown, options?: CheckOptions): string {
  try {
    checkMessageRequest(body, options);
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 400) return error.message;
    throw error;
  }
  return "taken";
}

const tool = { name: "look", input_schema: { type: "object" } };

const refusals: readonly (readonly [title: string, change: WireItem, problem: string])[] = [
  ["no model", { model: undefined }, "model: Input should be a valid string"],
  ["an empty model", { model: "" }, "model: String should have at least 1 character"],
  ["negative max_tokens", { max_tokens: -1 }, "max_tokens: Input should be greater than or equal"],
  ["fractional max_tokens", { max_tokens: 1.5 }, "max_tokens: Input should be a valid integer"],
  ["messages that are not an array", { messages: "Hi." }, "messages: Input should be a valid list"],
  ["no message", { messages: [] }, "messages: at least one message is required"],
  ["a system that is a number", { system: 5 }, "system: Input should be a valid list"],
  ["a system with an image", { system: [{ type: "image" }] }, "system.0: Input tag 'image' found"],
  ["a tool without a schema", { tools: [{ name: "a" }] }, "tools.0.custom.input_schema: Field req"],
  [
    "a tool whose schema is not an object schema",
    { tools: [{ name: "a", input_schema: { type: "string" } }] },
    "tools.0.custom.input_schema.type: Input should be 'object'",
  ],
  [
    "a tool's name with a space",
    { tools: [{ ...tool, name: "a b" }] },
    "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
  ],
  ["two tools with one name", { tools: [tool, tool] }, "tools: Tool names must be unique."],
  ["a tool of an unknown type", { tools: [{ ...tool, type: "odd" }] }, "tools.0: Input tag 'odd'"],
  [
    "domains that are allowed and blocked",
    {
      tools: [
        {
          type: "web_search_20250305",
          name: "web_search",
          allowed_domains: ["a.com"],
          blocked_domains: ["b.com"],
        },
      ],
    },
    "tools.0.web_search_20250305: Only one of allowed_domains and blocked_domains",
  ],
  [
    "an exact location",
    {
      tools: [
        { type: "web_search_20250305", name: "web_search", user_location: { type: "exact" } },
      ],
    },
    "tools.0.web_search_20250305.user_location.type: Input should be 'approximate'",
  ],
  [
    "a choice without tools",
    { tool_choice: { type: "auto" } },
    "tool_choice: tool_choice may only",
  ],
  [
    "a choice of an unknown type",
    { tools: [tool], tool_choice: { type: "some" } },
    "tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'",
  ],
  [
    "a choice of a tool that is not offered",
    { tools: [tool], tool_choice: { type: "tool", name: "hear" } },
    "tool_choice: Tool 'hear' not found in provided tools",
  ],
  [
    "a forced choice with thinking",
    { tools: [tool], tool_choice: { type: "any" }, thinking: { type: "adaptive" } },
    "tool_choice: Thinking may not be enabled when tool_choice forces tool use.",
  ],
  ["thinking of an unknown type", { thinking: { type: "some" } }, "thinking.type: Input should be"],
  [
    "thinking without a budget",
    { thinking: { type: "enabled" } },
    "thinking.enabled.budget_tokens: Field required",
  ],
  [
    "a thinking budget above max_tokens",
    { thinking: { type: "enabled", budget_tokens: 2000 } },
    "max_tokens: `max_tokens` must be greater than `thinking.budget_tokens`.",
  ],
  [
    "a temperature that is not a number",
    { temperature: "hot" },
    "temperature: Input should be a valid number",
  ],
  ["a temperature too low", { temperature: -1 }, "temperature: Input should be greater than"],
  ["a temperature too high", { temperature: 2 }, "temperature: Input should be less than or equal"],
  [
    "stop sequences that are not strings",
    { stop_sequences: [5] },
    "stop_sequences.0: Input should be a valid",
  ],
  ["a stream that is not a boolean", { stream: "yes" }, "stream: Input should be a valid boolean"],
  ["an unknown field", { odd: 1 }, "odd: Extra inputs are not permitted"],
];

const ALL_BETAS = [
  "compact-2026-09-04",
  "context-management-2025-06-27",
  "fallback-credit-2026-07-01",
  "mcp-client-2025-11-20",
  "server-side-fallback-2026-07-01",
  "structured-outputs-2025-12-15",
];

describe("checkMessageRequest()", () => {
  test.each(refusals)("rejects %s", (_title, change, problem) => {
    expect(catchMessage({ ...plain, ...change })).toContain(problem);
  });

  test("names missing fields and requires an object", () => {
    for (const key of ["model", "max_tokens", "messages"]) {
      const { [key]: _left, ...rest }: WireItem = plain;
      expect(catchMessage(rest)).toBe(`${key}: Field required`);
    }
    expect(catchMessage([])).toBe("Input should be a valid dictionary");
  });

  test("accepts fields of betas that the request names, and no other unknown fields", () => {
    const betas = ["context-management-2025-06-27", "server-side-fallback-2030-01-01"];
    const fields = {
      context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
      fallbacks: "default",
      output_config: { effort: "low" },
      metadata: { user_id: "u" },
      thinking: { type: "enabled", budget_tokens: 1024, display: "omitted" },
    };
    expect(checkMessageRequest({ ...plain, ...fields }, { betas })).toMatchObject({
      listsEdits: true,
      thinking: { isEnabled: true, isShown: false },
    });
    const problem = "context_management: Extra inputs are not permitted";
    expect(catchMessage({ ...plain, ...fields })).toBe(problem);
    expect(catchMessage({ ...plain, ...fields, odd: 1 }, { betas })).toBe(
      "odd: Extra inputs are not permitted",
    );
    expect(catchMessage({ ...plain, betas }, { betas })).toContain("betas: Extra inputs");
  });

  test.each([
    [{ mcp_servers: [{ type: "url", url: "https://a.com", name: "a" }] }, "mcp_servers"],
    [{ fallbacks: [{ model: "claude-other" }] }, "fallbacks"],
    [{ fallback_credit_token: "token" }, "fallback_credit_token"],
    [{ container: { skills: [{ type: "anthropic", skill_id: "pdf" }] } }, "container.skills"],
    [
      { context_management: { edits: [{ type: "compact_20260112" }] } },
      "context_management.edits.0",
    ],
    [{ tools: [{ type: "mcp_toolset", mcp_server_name: "a" }] }, "tools.0.mcp_toolset"],
    [{ tools: [{ type: "browser_toolset_20260801" }] }, "tools.0.browser_toolset_20260801"],
    [
      { tools: [{ ...tool, allowed_callers: ["code_execution_20260120"] }] },
      "tools.0.allowed_callers",
    ],
  ])("rejects %j, whose effect the server cannot provide", (change, path) => {
    expect(catchMessage({ ...plain, ...change }, { betas: ALL_BETAS })).toContain(
      `${path}: Not supported by the local provider. `,
    );
  });

  test("rejects values that contradict each other or are unknown", () => {
    const check = (change: object) => catchMessage({ ...plain, ...change }, { betas: ALL_BETAS });
    const format = { type: "json_schema", schema: {} };
    expect(check({ output_config: { format }, output_format: format })).toContain("output_format");
    expect(check({ output_config: { odd: 1 } })).toContain("output_config.odd: Extra inputs");
    expect(check({ output_config: "high" })).toContain("output_config: Input should be");
    expect(check({ output_config: null, mcp_servers: [] })).toBe("taken");
    expect(check({ context_management: { edits: [{ type: "odd" }] } })).toContain("'odd' found");
    expect(check({ compaction: { type: "summarize" }, context_management: {} })).toContain(
      "compaction: Cannot be combined",
    );
    expect(check({ compaction: { type: "odd" } })).toContain("compaction.type: Input should be");
    expect(check({ container: 5 })).toContain("container: Input should be");
    expect(check({ tools: [{ ...tool, odd: 1 }] })).toContain("tools.0.custom.odd: Extra inputs");
    expect(check({ tools: [{ type: "web_search_20990101", name: "web_search" }] })).toContain(
      "Input tag 'web_search_20990101' found using 'type'",
    );
  });

  test("reads the container, from a string or an object", () => {
    const read = (container: unknown) => checkMessageRequest({ ...plain, container }).containerId;
    expect([read("c"), read({ id: "d" }), read({}), read(null)]).toEqual(["c", "d", null, null]);
  });

  test("does not require max_tokens for counting", () => {
    const { max_tokens: _none, ...rest } = plain;
    expect(catchMessage(rest, { isCounting: true })).toBe("taken");
  });

  test("joins system blocks without the billing header", () => {
    const texts = ["x-anthropic-billing-header: v=1;", "Be brief.", "Be kind."];
    const system = texts.map((text) => ({ type: "text", text }));
    expect(checkMessageRequest({ ...plain, system }).system).toBe("Be brief.\n\nBe kind.");
    expect(checkMessageRequest({ ...plain, system: "Be brief." }).system).toBe("Be brief.");
    expect(checkMessageRequest({ ...plain, system: "" }).system).toBeNull();
    expect(checkMessageRequest({ ...plain, system: [system[0]] }).system).toBeNull();
  });

  test("reads the answer format from either field", () => {
    const format = { type: "json_schema", schema: { type: "object" } };
    for (const said of [{ output_config: { format } }, { output_format: format }])
      expect(checkMessageRequest({ ...plain, ...said }, { betas: ALL_BETAS }).format).toMatchObject(
        format,
      );
    expect(checkMessageRequest({ ...plain, output_config: {} }).format).toBeNull();
  });

  test("accepts Anthropic's tools in the versions that its SDK knows", () => {
    const tools = [
      { type: "bash_20250124", name: "bash" },
      { type: "text_editor_20250728", name: "edit" },
      { type: "code_execution_20250825", name: "code" },
      { type: "tool_search_tool_regex", name: "search" },
      { ...tool, type: "custom" },
      { type: "web_search_20250305", name: "w", user_location: { type: "approximate" } },
    ];
    const tool_choice = { type: "tool", name: "look", disable_parallel_tool_use: true };
    expect(checkMessageRequest({ ...plain, tools, tool_choice })).toMatchObject({
      tools,
      toolChoice: { type: "tool", name: "look", isParallel: false },
    });
  });
});
