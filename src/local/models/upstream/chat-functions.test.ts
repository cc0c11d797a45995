import { describe, expect, test } from "vitest";
import { builtInTools } from "../../tools/index.ts";
import type { ModelRequest } from "../local-model.ts";
import { createChatFunctions } from "./chat-functions.ts";

const hostedFunctions = builtInTools.flatMap(({ functions = [] }) => functions);

function createRequest(tools: readonly object[], toolChoice: unknown = "auto"): ModelRequest {
  const base = { model: "m", instructions: null, items: [], format: null, turn: 0, text: "" };
  return { ...base, tools, toolChoice };
}

function listNames(...tools: readonly object[]) {
  return createChatFunctions(createRequest(tools)).all.map(({ name }) => name);
}

const createFunction = (name: string) => ({
  type: "function",
  name,
  parameters: {},
  strict: false,
});

describe("createChatFunctions()", () => {
  test.each<[object, readonly string[]]>([
    [{ type: "code_interpreter", container: { type: "auto" } }, ["python"]],
    [{ type: "shell", environment: { type: "container_auto" } }, ["shell"]],
    [{ type: "shell", environment: { type: "local" } }, ["shell"]],
    [{ type: "file_search", vector_store_ids: [] }, ["file_search"]],
    [{ type: "web_search" }, ["web_search", "open_page", "find_in_page"]],
    [{ type: "web_search_preview_2025_03_11" }, ["web_search", "open_page", "find_in_page"]],
    [{ type: "apply_patch" }, ["apply_patch"]],
    [{ type: "image_generation" }, []],
    [{ type: "tool_search", execution: "client" }, ["tool_search"]],
    [{ type: "tool_search" }, []],
    [{ type: "namespace", name: "birds", tools: [createFunction("owl")] }, ["owl"]],
    [{ type: "custom", name: "sql" }, ["sql"]],
    [{}, []],
  ])("offers functions for %j", (tool, offered) => {
    expect(listNames(tool)).toEqual(offered);
  });

  test("passes on the client's functions, with defaults", () => {
    const full = {
      ...createFunction("add"),
      description: "Adds.",
      parameters: { type: "object" },
      strict: true,
    };
    const { all } = createChatFunctions(
      createRequest([full, { type: "function", name: "now" }, { type: "function" }]),
    );
    expect(all).toEqual([
      {
        name: "add",
        description: "Adds.",
        parameters: { type: "object" },
        strict: true,
        isCustom: false,
        hosted: null,
      },
      {
        name: "now",
        description: null,
        parameters: { type: "object", properties: {} },
        strict: false,
        isCustom: false,
        hosted: null,
      },
    ]);
  });

  test("offers a custom tool as a function of one text, with its grammar in the description", () => {
    const format = { type: "grammar", syntax: "regex", definition: "SELECT .+" };
    const sql = { type: "custom", name: "sql", description: "Runs SQL.", format };
    const parameters = { type: "object", properties: { input: { type: "string" } } };
    expect(createChatFunctions(createRequest([sql])).all).toMatchObject([
      {
        description: "Runs SQL.\n\nThe input must match this grammar (regex):\nSELECT .+",
        parameters,
        isCustom: true,
      },
    ]);
    const plain = { type: "custom", name: "sql", format: { type: "text" } };
    expect(createChatFunctions(createRequest([plain])).all).toMatchObject([{ description: null }]);
  });

  test("offers a tool search of the client with the client's description and parameters", () => {
    const parameters = { type: "object", properties: { goal: { type: "string" } } };
    const search = { type: "tool_search", execution: "client", description: "Finds.", parameters };
    const [own] = createChatFunctions(createRequest([search])).all;
    expect(own).toMatchObject({ name: "tool_search", description: "Finds.", parameters });
    expect(own?.hosted?.read({ goal: "owls" })).toEqual({ goal: "owls" });
    const bare = { type: "tool_search", execution: "client" };
    expect(createChatFunctions(createRequest([bare])).all).toMatchObject([
      { description: "Finds tools and makes them available.", parameters: { required: ["query"] } },
    ]);
  });

  test("renames a hosted function if the client has one with the same name", () => {
    const python = { type: "code_interpreter" };
    expect(listNames(python, createFunction("python"))).toEqual(["hosted_python", "python"]);
    expect(listNames(createFunction("python"), createFunction("hosted_python"), python)).toEqual([
      "python",
      "hosted_python",
      "hosted_hosted_python",
    ]);
    const { getName } = createChatFunctions(createRequest([createFunction("python")]));
    expect([getName("python"), getName("shell")]).toEqual(["hosted_python", "shell"]);
  });

  test("offers each function once", () => {
    expect(
      listNames({ type: "shell" }, { type: "shell" }, createFunction("a"), createFunction("a")),
    ).toEqual(["shell", "a"]);
  });

  test("describes hosted functions with schemas that require all fields", () => {
    for (const { parameters, description } of hostedFunctions) {
      expect(description).not.toBe("");
      expect(parameters["required"]).toEqual(Object.keys(Object(parameters["properties"])));
    }
  });
});

describe("the choice of createChatFunctions()", () => {
  const tools = [
    createFunction("add"),
    createFunction("python"),
    { type: "custom", name: "sql" },
    { type: "code_interpreter" },
    { type: "web_search" },
  ];
  test.each<[unknown, unknown]>([
    ["auto", "auto"],
    ["none", "none"],
    ["required", "required"],
    [undefined, "auto"],
    [{ type: "function", name: "add" }, { name: "add" }],
    [{ type: "function", name: "gone" }, "auto"],
    [{ type: "custom", name: "sql" }, { name: "sql" }],
    [{ type: "function", name: "sql" }, "auto"],
    [{ type: "code_interpreter" }, { name: "hosted_python" }],
    [{ type: "web_search_preview" }, { name: "web_search" }],
    [{ type: "shell" }, "auto"],
    [
      { type: "allowed_tools", mode: "required", tools: [{ type: "code_interpreter" }] },
      "required",
    ],
  ])("converts %j to %j", (given, choice) => {
    expect(createChatFunctions(createRequest(tools, given)).choice).toEqual(choice);
  });

  test("limits functions to allowed tools without renaming them", () => {
    const allowed = [{ type: "code_interpreter" }, { type: "function", name: "add" }, null];
    const toolChoice = { type: "allowed_tools", mode: "auto", tools: allowed };
    const { all } = createChatFunctions(createRequest(tools, toolChoice));
    expect(all.map(({ name }) => name)).toEqual(["add", "hosted_python"]);
  });

  test("is free after a hosted call", () => {
    const items = [{ type: "code_interpreter_call", id: "ci_1" }];
    const forced = { ...createRequest(tools, { type: "code_interpreter" }), items };
    expect(createChatFunctions(forced).choice).toBe("auto");
    expect(createChatFunctions({ ...forced, toolChoice: "none" }).choice).toBe("none");
  });
});
