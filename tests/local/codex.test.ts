import { describe, expect, test } from "vitest";
import { type ModelScript, upstreamModel } from "weakincentives/local";
import type { WireItem } from "../../src/openai/wire.ts";
import { readAnswer, readOutput, startProviderFixture } from "../support/local/provider-fixture.ts";
import { startUpstreamServer } from "../support/upstream-server.ts";

/** A request as Codex CLI 0.166 sends it, with shorter texts and fewer tools. */
const codexRequest = {
  model: "gpt-5.5",
  stream: true,
  input: [
    createMessage("developer", "You are Codex."),
    createMessage("user", "<environment_context><cwd>/work</cwd></environment_context>"),
    createMessage("user", "Fix the bug."),
  ],
  tools: [
    {
      type: "function",
      name: "exec_command",
      description: "Runs a command in a PTY.",
      strict: false,
      parameters: { type: "object", properties: { cmd: { type: "string" } }, required: ["cmd"] },
    },
    {
      type: "custom",
      name: "apply_patch",
      description: "Edits files. Do not wrap the patch in JSON.",
      format: { type: "grammar", syntax: "lark", definition: "start: /(.|\\n)+/" },
    },
    {
      type: "tool_search",
      execution: "client",
      description: "Searches over deferred tool metadata.",
      parameters: {
        type: "object",
        properties: { limit: { type: "number" }, query: { type: "string" } },
        required: ["query"],
        additionalProperties: false,
      },
    },
    { type: "web_search", external_web_access: false, search_content_types: ["text", "image"] },
  ],
  tool_choice: "auto",
  parallel_tool_calls: true,
  reasoning: { effort: "medium" },
  store: false,
  include: ["reasoning.encrypted_content"],
  prompt_cache_key: "01a1e3b9-a707-7ef3-ade3-f2f6e128aa78",
  text: { verbosity: "low" },
  client_metadata: {
    thread_id: "01a1e3b9-a707-7ef3-ade3-f2f6e128aa78",
    "x-codex-turn-metadata": JSON.stringify({ request_kind: "turn", text: "x".repeat(600) }),
  },
};

const spawnAgents = {
  type: "namespace",
  name: "multi_agent_v1",
  description: "Tools for sub-agents.",
  tools: [{ type: "function", name: "spawn_agent", strict: false, parameters: {} }],
};

function createMessage(role: string, text: string): WireItem {
  const content = [{ type: "input_text", text }];
  return { type: "message", id: "msg_01a1e3ba-4ea4-7920-9f47-46506ad6ea9d", role, content };
}

/** Sends a request of Codex and returns the response at the end of the stream. */
async function startCodex(script: ModelScript) {
  const { stream, ask } = await startProviderFixture(script);
  const run = async (more: WireItem = {}): Promise<WireItem> => {
    const events = await stream({ ...codexRequest, ...more });
    const last = events.at(-1);
    expect(last?.type).toBe("response.completed");
    return last?.["response"] as WireItem;
  };
  return { ask, stream, run };
}

const { input } = codexRequest;

describe("a request of Codex", () => {
  test("is accepted with its client_metadata, whose values may be long", async () => {
    const { run } = await startCodex([[{ say: "Fixed." }]]);
    const response = await run();
    expect(readAnswer(response)).toBe("Fixed.");
    expect(response).not.toHaveProperty("client_metadata");
  });

  test("is rejected if its client_metadata is not a map of strings", async () => {
    const { ask } = await startCodex([]);
    const wrong = { ...codexRequest, client_metadata: { turn: 1 } };
    expect(await ask("POST /responses", wrong)).toMatchObject({
      status: 400,
      body: { error: { param: "client_metadata.turn", code: "invalid_type" } },
    });
  });

  test("may have metadata in its items, which the model does not get", async () => {
    const { run, ask } = await startCodex(({ items }) => [{ say: JSON.stringify(items) }]);
    const metadata = { turn_id: "01a1e3c1", content_item_kinds: ["user.text"] };
    const noted = input.map((item) => ({
      ...item,
      internal_chat_message_metadata_passthrough: metadata,
    }));
    const answer = readAnswer(await run({ input: noted }));
    expect(answer).toContain("Fix the bug.");
    expect(answer).not.toContain("passthrough");
    const wrong = { ...codexRequest, input: [{ ...noted[0], internal_metadata: metadata }] };
    expect(await ask("POST /responses", wrong)).toMatchObject({
      status: 400,
      body: { error: { param: "input[0].internal_metadata", code: "unknown_parameter" } },
    });
  });

  test("gets parallel calls of functions and of custom tools with a grammar", async () => {
    const patch = "*** Begin Patch\n*** Add File: a.txt\n+hello\n*** End Patch\n";
    const { run } = await startCodex([
      [
        { call: { name: "exec_command", args: { cmd: "ls" } } },
        { call: { name: "apply_patch", args: patch } },
      ],
      [{ say: "Patched." }],
    ]);
    const calls = readOutput(await run());
    expect(calls).toMatchObject([
      { type: "function_call", name: "exec_command", arguments: '{"cmd":"ls"}' },
      { type: "custom_tool_call", name: "apply_patch", input: patch },
    ]);
    const results = calls.map(({ type, call_id }) => ({
      type: `${type}_output`,
      id: "fco_01a1e3ba-56b7-7133-b7ff-ccea9e8b7e98",
      call_id,
      output: "Exit code: 0",
    }));
    expect(readAnswer(await run({ input: [...input, ...calls, ...results] }))).toBe("Patched.");
  });

  test("gets its tools from an item of the input, in namespaces", async () => {
    const exec = { type: "custom", name: "exec", description: "Runs JavaScript." };
    const { run } = await startCodex([[{ call: { name: "exec", args: "text(1)" } }]]);
    const tools = [{ type: "namespace", name: "functions", description: "", tools: [exec] }];
    const more = { type: "additional_tools", id: "at_1", role: "developer", tools };
    const { tools: _omitted, ...withoutTools } = codexRequest;
    const [call] = readOutput(await run({ ...withoutTools, input: [more, ...input] }));
    expect(call).toMatchObject({
      type: "custom_tool_call",
      name: "exec",
      namespace: "functions",
      input: "text(1)",
    });
  });

  test("is compacted to exactly one item if it ends with a compaction_trigger", async () => {
    const { run } = await startCodex(({ items }) => [{ say: JSON.stringify(items) }]);
    const compacted = await run({ input: [...input, { type: "compaction_trigger" }] });
    expect(readOutput(compacted)).toMatchObject([{ type: "compaction" }]);
    const next = [...readOutput(compacted), createMessage("user", "Continue.")];
    expect(readAnswer(await run({ input: next }))).toContain("Fix the bug.");
  });
});

describe("a tool search of the client", () => {
  const search = { use: { kind: "tool_search", args: { query: "sub-agents" } } };

  test("ends the turn with a call, and offers the tools that the client found", async () => {
    const { run, stream } = await startCodex([
      [search],
      [{ call: { name: "spawn_agent", args: {} } }],
    ]);
    const events = await stream(codexRequest);
    expect(events.find(({ type }) => type === "response.output_item.added")).toMatchObject({
      item: { type: "tool_search_call", status: "in_progress", arguments: {} },
    });
    const [call = {}] = readOutput(events.at(-1)?.["response"] as WireItem);
    expect(call).toMatchObject({
      type: "tool_search_call",
      status: "completed",
      execution: "client",
      arguments: { query: "sub-agents" },
      call_id: expect.stringMatching(/^call_/),
    });
    const { call_id } = call;
    const found = {
      type: "tool_search_output",
      call_id,
      status: "completed",
      execution: "client",
      tools: [spawnAgents],
    };
    const [spawned] = readOutput(await run({ input: [...input, call, found] }));
    expect(spawned).toMatchObject({ type: "function_call", namespace: "multi_agent_v1" });
  });

  test("must be answered before the conversation continues", async () => {
    const { ask } = await startCodex([[search]]);
    const { body } = await ask("POST /responses", { ...codexRequest, stream: false });
    const [call = {}] = readOutput(body);
    const unanswered = { ...codexRequest, input: [...input, call] };
    expect(await ask("POST /responses", unanswered)).toMatchObject({
      status: 400,
      body: {
        error: { message: `No tool output found for tool search call ${call["call_id"]}.` },
      },
    });
  });
});

describe("a tool search of the server", () => {
  const rates = { type: "function", name: "get_rates", parameters: {}, defer_loading: true };
  const stocks = { ...rates, name: "get_stocks" };
  const { defer_loading: _loaded, ...weather } = { ...rates, name: "get_weather" };
  const deferred = {
    ...spawnAgents,
    tools: [{ type: "function", name: "spawn_agent", parameters: {}, defer_loading: true }],
  };

  test("returns the deferred tools with the names that the model asks for", async () => {
    const paths = ["get_rates", "get_weather", "multi_agent_v1"];
    const { run } = await startCodex([
      [{ use: { kind: "tool_search", args: { paths } } }],
      [{ call: { name: "get_rates", args: {} } }],
    ]);
    const tools = [{ type: "tool_search" }, rates, stocks, weather, deferred];
    expect(readOutput(await run({ tools }))).toMatchObject([
      { type: "tool_search_call", execution: "server", call_id: null, arguments: { paths } },
      { type: "tool_search_output", execution: "server", tools: [rates, deferred] },
      { type: "function_call", name: "get_rates", namespace: "get_rates" },
    ]);
  });
});

describe("an upstream model of Codex", () => {
  const createStep = (name: string, args: object) => ({
    message: {
      content: null,
      tool_calls: [
        { id: "call_1", type: "function", function: { name, arguments: JSON.stringify(args) } },
      ],
    },
  });

  test("gets custom tools, tools in namespaces and the tool search as functions", async () => {
    await using server = await startUpstreamServer();
    const patch = "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n";
    await server.play([
      createStep("tool_search", { query: "sub-agents" }),
      createStep("apply_patch", { input: patch }),
      { message: { content: "Done." } },
    ]);
    const model = upstreamModel({ baseURL: server.url, model: "qwen3" });
    const { respond } = await startProviderFixture([], { model });
    const { stream: _streams, ...request } = codexRequest;
    const [search = {}] = readOutput(await respond(request));
    expect(search).toMatchObject({ type: "tool_search_call", arguments: { query: "sub-agents" } });
    const { call_id } = search;
    const found = { type: "tool_search_output", call_id, tools: [spawnAgents] };
    const searched = [...input, search, found];
    const [call = {}] = readOutput(await respond({ ...request, input: searched }));
    expect(call).toMatchObject({ type: "custom_tool_call", name: "apply_patch", input: patch });
    const result = { type: "custom_tool_call_output", call_id: call["call_id"], output: "Done" };
    await respond({ ...request, input: [...searched, call, result] });
    const requests = await server.requests();
    const names = requests.map(({ body }) =>
      Object(body).tools.map((tool: { readonly function: { readonly name: string } }) => {
        return tool.function.name;
      }),
    );
    expect(names[0]).toEqual(expect.arrayContaining(["apply_patch", "tool_search"]));
    expect(names[1]).toContain("spawn_agent");
    const { messages } = Object(requests[2]?.body);
    const texts = JSON.stringify(messages);
    expect(texts).toContain("Available now: multi_agent_v1");
    expect(texts).toContain(JSON.stringify(JSON.stringify({ input: patch })).slice(1, -1));
  });
});
