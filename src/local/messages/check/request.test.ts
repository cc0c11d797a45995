import { describe, expect, test } from "vitest";
import type { WireItem } from "../../../openai/wire.ts";
import { ApiProblem } from "../../api-problem.ts";
import { type CheckOptions, checkMessageRequest } from "./request.ts";

const plain = { model: "any", max_tokens: 2000, messages: [{ role: "user", content: "Hi." }] };

function refused(body: unknown, options?: CheckOptions): string {
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
  ["tokens that are none", { max_tokens: 0 }, "max_tokens: Input should be greater than or equal"],
  ["half a token", { max_tokens: 1.5 }, "max_tokens: Input should be a valid integer"],
  ["no list of messages", { messages: "Hi." }, "messages: Input should be a valid list"],
  ["no message", { messages: [] }, "messages: at least one message is required"],
  ["a system of a number", { system: 5 }, "system: Input should be a valid list"],
  ["a system of pictures", { system: [{ type: "image" }] }, "system.0: Input tag 'image' found"],
  ["a tool without a schema", { tools: [{ name: "a" }] }, "tools.0.custom.input_schema: Field req"],
  [
    "a tool whose schema is of no object",
    { tools: [{ name: "a", input_schema: { type: "string" } }] },
    "tools.0.custom.input_schema.type: Input should be 'object'",
  ],
  [
    "a tool's name with a space",
    { tools: [{ ...tool, name: "a b" }] },
    "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
  ],
  ["two tools of a name", { tools: [tool, tool] }, "tools: Tool names must be unique."],
  ["a tool of no known type", { tools: [{ ...tool, type: "odd" }] }, "tools.0: Input tag 'odd'"],
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
    "a place that is exact",
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
    "a choice of no known type",
    { tools: [tool], tool_choice: { type: "some" } },
    "tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'",
  ],
  [
    "a choice of a tool that is not there",
    { tools: [tool], tool_choice: { type: "tool", name: "hear" } },
    "tool_choice: Tool 'hear' not found in provided tools",
  ],
  [
    "a choice that forces whoever thinks",
    { tools: [tool], tool_choice: { type: "any" }, thinking: { type: "adaptive" } },
    "tool_choice: Thinking may not be enabled when tool_choice forces tool use.",
  ],
  ["thoughts of no known type", { thinking: { type: "some" } }, "thinking.type: Input should be"],
  [
    "thoughts without a budget",
    { thinking: { type: "enabled" } },
    "thinking.enabled.budget_tokens: Field required",
  ],
  [
    "thoughts that leave no room",
    { thinking: { type: "enabled", budget_tokens: 2000 } },
    "max_tokens: `max_tokens` must be greater than `thinking.budget_tokens`.",
  ],
  ["a temperature of words", { temperature: "hot" }, "temperature: Input should be a valid number"],
  ["a temperature too low", { temperature: -1 }, "temperature: Input should be greater than"],
  ["a temperature too high", { temperature: 2 }, "temperature: Input should be less than or equal"],
  ["stops that are no texts", { stop_sequences: [5] }, "stop_sequences.0: Input should be a valid"],
  ["a stream of words", { stream: "yes" }, "stream: Input should be a valid boolean"],
  ["a field that nobody knows", { odd: 1 }, "odd: Extra inputs are not permitted"],
];

describe("a request to the Messages API", () => {
  test.each(refusals)("is refused with %s", (_title, change, problem) => {
    expect(refused({ ...plain, ...change })).toContain(problem);
  });

  test("names what it lacks, and must be an object", () => {
    for (const key of ["model", "max_tokens", "messages"]) {
      const { [key]: _left, ...rest }: WireItem = plain;
      expect(refused(rest)).toBe(`${key}: Field required`);
    }
    expect(refused([])).toBe("Input should be a valid dictionary");
  });

  test("may have what betas add, and with their header what nobody knows", () => {
    const betas = {
      context_management: { edits: [] },
      output_config: { effort: "low" },
      metadata: { user_id: "u" },
      thinking: { type: "enabled", budget_tokens: 1024, display: "omitted" },
      betas: [],
    };
    expect(checkMessageRequest({ ...plain, ...betas })).toMatchObject({
      tellsEdits: true,
      thinking: { isEnabled: true, isShown: false },
    });
    expect(refused({ ...plain, odd: 1 }, { hasBetas: true })).toBe("taken");
  });

  test("needs no limit of tokens where they are only counted", () => {
    const { max_tokens: _none, ...rest } = plain;
    expect(refused(rest, { isCounting: true })).toBe("taken");
  });

  test("says its system in blocks or in one text, without what bills it", () => {
    const texts = ["x-anthropic-billing-header: v=1;", "Be brief.", "Be kind."];
    const system = texts.map((text) => ({ type: "text", text }));
    expect(checkMessageRequest({ ...plain, system }).system).toBe("Be brief.\n\nBe kind.");
    expect(checkMessageRequest({ ...plain, system: "Be brief." }).system).toBe("Be brief.");
    expect(checkMessageRequest({ ...plain, system: "" }).system).toBeNull();
    expect(checkMessageRequest({ ...plain, system: [system[0]] }).system).toBeNull();
  });

  test("says which schema the answer must fit, by either name", () => {
    const format = { type: "json_schema", schema: { type: "object" } };
    for (const said of [{ output_config: { format } }, { output_format: format }])
      expect(checkMessageRequest({ ...plain, ...said }).format).toMatchObject(format);
    expect(checkMessageRequest({ ...plain, output_config: {} }).format).toBeNull();
  });

  test("takes every tool of Anthropic's by its type and date", () => {
    const tools = [
      { type: "bash_20250124", name: "bash" },
      { type: "text_editor_20250728", name: "edit" },
      { type: "code_execution_20250825", name: "code" },
      { type: "mcp_toolset", mcp_server_name: "a" },
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
