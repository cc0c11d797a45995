import { describe, expect, test } from "vitest";
import { echoModel } from "./echo-model.ts";
import type { ModelRequest } from "./local-model.ts";

const model = echoModel();

async function echoAction(over: Partial<ModelRequest> = {}) {
  const base = { model: "m", instructions: null, items: [], tools: [], toolChoice: "auto" };
  const [action, ...more] = await model.respond({
    ...base,
    format: null,
    turn: 0,
    text: "Hi.",
    ...over,
  });
  expect(more).toEqual([]);
  return action;
}

const add = {
  type: "function",
  name: "add",
  parameters: {
    type: "object",
    properties: { a: { type: "integer", minimum: 2 } },
    required: ["a"],
  },
};
const now = { type: "function", name: "now", parameters: null };

describe("echoModel()", () => {
  test("repeats the last message deterministically", async () => {
    expect(await echoAction()).toEqual({ say: "You said: Hi." });
    expect(await echoAction({ turn: 9 })).toEqual({ say: "You said: Hi." });
    expect(await echoAction({ text: "" })).toEqual({ say: "You said: " });
  });

  test("truncates at 500 characters without splitting one", async () => {
    expect(await echoAction({ text: "x".repeat(500) })).toEqual({
      say: `You said: ${"x".repeat(500)}`,
    });
    expect(await echoAction({ text: "x".repeat(501) })).toEqual({
      say: `You said: ${"x".repeat(499)}…`,
    });
    expect(await echoAction({ text: "🐙".repeat(500) })).toEqual({
      say: `You said: ${"🐙".repeat(500)}`,
    });
    expect(await echoAction({ text: "🐙".repeat(501) })).toEqual({
      say: `You said: ${"🐙".repeat(499)}…`,
    });
  });

  test.each<[object, unknown]>([
    [{ type: "text" }, "You said: Hi."],
    [{ type: "json_object" }, {}],
    [
      {
        type: "json_schema",
        schema: { type: "object", required: ["a"], properties: { a: { type: "string" } } },
      },
      { a: "" },
    ],
    [{ type: "json_schema", schema: { type: "array" } }, []],
    [{ type: "json_schema", schema: { type: "integer" } }, "0"],
    [{ type: "json_schema", schema: { type: "null" } }, "null"],
    [{ type: "json_schema", schema: false }, {}],
  ])("returns the smallest value for the format %j", async (format, say) => {
    expect(await echoAction({ format })).toEqual({ say });
  });
});

describe("echoModel() with a forced tool", () => {
  test.each<[unknown, readonly object[], unknown]>([
    ["required", [{ type: "file_search" }, add], { call: { name: "add", args: { a: 2 } } }],
    [{ type: "function", name: "now" }, [add, now], { call: { name: "now", args: {} } }],
    [{ type: "function", name: "gone" }, [add], { say: "You said: Hi." }],
    [
      { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "now" }] },
      [add, now],
      { call: { name: "now", args: {} } },
    ],
    [
      { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "now" }] },
      [add, now],
      { say: "You said: Hi." },
    ],
    [{ type: "allowed_tools", mode: "required" }, [add], { say: "You said: Hi." }],
    ["required", [], { say: "You said: Hi." }],
    ["auto", [add], { say: "You said: Hi." }],
    ["none", [add], { say: "You said: Hi." }],
    [{ mode: "odd" }, [add], { say: "You said: Hi." }],
    ["required", [{ type: "code_interpreter" }], { code: 'print("You said: Hi.")' }],
    [
      { type: "code_interpreter" },
      [add, { type: "code_interpreter" }],
      { code: 'print("You said: Hi.")' },
    ],
    [{ type: "shell" }, [{ type: "shell" }], { shell: ["true"] }],
    [{ type: "file_search" }, [{ type: "file_search" }], { search: { file: "Hi." } }],
    [{ type: "web_search_preview" }, [{ type: "web_search" }], { search: { web: "Hi." } }],
    [
      { type: "apply_patch" },
      [{ type: "apply_patch" }],
      { patch: [{ type: "create_file", path: "echo.txt", diff: "+You said something.\n" }] },
    ],
    [{ type: "mcp" }, [{ type: "mcp" }], { say: "You said: Hi." }],
  ])("follows the choice %j", async (toolChoice, tools, action) => {
    expect(await echoAction({ toolChoice, tools })).toEqual(action);
  });

  test("searches for the word anything without a message", async () => {
    const toolChoice = "required";
    const files = { toolChoice, tools: [{ type: "file_search" }], text: "" };
    const pages = { toolChoice, tools: [{ type: "web_search" }], text: "" };
    expect(await echoAction(files)).toEqual({ search: { file: "anything" } });
    expect(await echoAction(pages)).toEqual({ search: { web: "anything" } });
  });

  test.each<[string, readonly object[], boolean]>([
    ["code has run", [{ type: "code_interpreter_call" }, { type: "reasoning" }], true],
    [
      "files were searched and the model answered",
      [{ type: "file_search_call" }, { type: "message", role: "assistant" }],
      true,
    ],
    ["the web was searched", [{ type: "web_search_call" }], true],
    [
      "commands ran in a container",
      [
        { type: "shell_call", call_id: "c", environment: { type: "container_reference" } },
        { type: "shell_call_output", call_id: "c" },
      ],
      true,
    ],
    [
      "commands ran at the client",
      [
        { type: "shell_call", call_id: "c", environment: { type: "local" } },
        { type: "shell_call_output", call_id: "c" },
      ],
      false,
    ],
    [
      "the client sent a message after the code",
      [{ type: "code_interpreter_call" }, { type: "message", role: "user" }],
      false,
    ],
    ["a client function has run", [{ type: "function_call_output" }], false],
    ["only the model has written messages", [{ type: "message", role: "assistant" }], false],
  ])("decides whether the choice still applies when %s: %#", async (_, items, isFree) => {
    const tools = [{ type: "code_interpreter" }];
    const action = await echoAction({ items, tools, toolChoice: "required" });
    expect(action).toEqual(isFree ? { say: "You said: Hi." } : { code: 'print("You said: Hi.")' });
  });
});
