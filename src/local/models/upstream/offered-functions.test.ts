import { describe, expect, test } from "vitest";
import { builtInTools } from "../../tools/index.ts";
import type { ModelRequest } from "../local-model.ts";
import { offeredFunctions } from "./offered-functions.ts";

const hostedFunctions = builtInTools.flatMap(({ functions = [] }) => functions);

function request(tools: readonly object[], toolChoice: unknown = "auto"): ModelRequest {
  const base = { model: "m", instructions: null, items: [], format: null, turn: 0, text: "" };
  return { ...base, tools, toolChoice };
}

function names(...tools: readonly object[]) {
  return offeredFunctions(request(tools)).all.map(({ name }) => name);
}

const fn = (name: string) => ({ type: "function", name, parameters: {}, strict: false });

describe("what is offered", () => {
  test.each<[object, readonly string[]]>([
    [{ type: "code_interpreter", container: { type: "auto" } }, ["python"]],
    [{ type: "shell", environment: { type: "container_auto" } }, ["shell"]],
    [{ type: "shell", environment: { type: "local" } }, ["shell"]],
    [{ type: "file_search", vector_store_ids: [] }, ["file_search"]],
    [{ type: "web_search" }, ["web_search", "open_page", "find_in_page"]],
    [{ type: "web_search_preview_2025_03_11" }, ["web_search", "open_page", "find_in_page"]],
    [{ type: "apply_patch" }, ["apply_patch"]],
    [{ type: "image_generation" }, []],
    [{}, []],
  ])("for %j", (tool, offered) => {
    expect(names(tool)).toEqual(offered);
  });

  test("are the client's functions as they are, with defaults where they say nothing", () => {
    const full = {
      ...fn("add"),
      description: "Adds.",
      parameters: { type: "object" },
      strict: true,
    };
    const { all } = offeredFunctions(
      request([full, { type: "function", name: "now" }, { type: "function" }]),
    );
    expect(all).toEqual([
      {
        name: "add",
        description: "Adds.",
        parameters: { type: "object" },
        strict: true,
        hosted: null,
      },
      {
        name: "now",
        description: null,
        parameters: { type: "object", properties: {} },
        strict: false,
        hosted: null,
      },
    ]);
  });

  test("gets another name where the client has a function of its own", () => {
    const python = { type: "code_interpreter" };
    expect(names(python, fn("python"))).toEqual(["hosted_python", "python"]);
    expect(names(fn("python"), fn("hosted_python"), python)).toEqual([
      "python",
      "hosted_python",
      "hosted_hosted_python",
    ]);
    const { nameOf } = offeredFunctions(request([fn("python")]));
    expect([nameOf("python"), nameOf("shell")]).toEqual(["hosted_python", "shell"]);
  });

  test("is offered once, however often the client says it", () => {
    expect(names({ type: "shell" }, { type: "shell" }, fn("a"), fn("a"))).toEqual(["shell", "a"]);
  });

  test("is described by a schema whose every field is required", () => {
    for (const { parameters, description } of hostedFunctions) {
      expect(description).not.toBe("");
      expect(parameters["required"]).toEqual(Object.keys(Object(parameters["properties"])));
    }
  });
});

describe("the choice", () => {
  const tools = [fn("add"), fn("python"), { type: "code_interpreter" }, { type: "web_search" }];
  test.each<[unknown, unknown]>([
    ["auto", "auto"],
    ["none", "none"],
    ["required", "required"],
    [undefined, "auto"],
    [{ type: "function", name: "add" }, { name: "add" }],
    [{ type: "function", name: "gone" }, "auto"],
    [{ type: "code_interpreter" }, { name: "hosted_python" }],
    [{ type: "web_search_preview" }, { name: "web_search" }],
    [{ type: "shell" }, "auto"],
    [
      { type: "allowed_tools", mode: "required", tools: [{ type: "code_interpreter" }] },
      "required",
    ],
  ])("%j is %j", (given, choice) => {
    expect(offeredFunctions(request(tools, given)).choice).toEqual(choice);
  });

  test("of allowed tools leaves no others, and changes no name", () => {
    const allowed = [{ type: "code_interpreter" }, { type: "function", name: "add" }, null];
    const toolChoice = { type: "allowed_tools", mode: "auto", tools: allowed };
    const { all } = offeredFunctions(request(tools, toolChoice));
    expect(all.map(({ name }) => name)).toEqual(["add", "hosted_python"]);
  });

  test("is free again after a hosted call was made", () => {
    const items = [{ type: "code_interpreter_call", id: "ci_1" }];
    const forced = { ...request(tools, { type: "code_interpreter" }), items };
    expect(offeredFunctions(forced).choice).toBe("auto");
    expect(offeredFunctions({ ...forced, toolChoice: "none" }).choice).toBe("none");
  });
});
