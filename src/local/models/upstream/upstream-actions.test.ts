import { describe, expect, test } from "vitest";
import type { ModelAction } from "../../model-action.ts";
import { createChatFunctions } from "./chat-functions.ts";
import { toUpstreamActions } from "./upstream-actions.ts";
import type { UpstreamAnswer } from "./upstream-answer.ts";

const tools = [
  { type: "function", name: "add", parameters: {} },
  { type: "function", name: "shell", parameters: {} },
  { type: "custom", name: "sql" },
  { type: "tool_search", execution: "client" },
  ...["code_interpreter", "shell", "file_search", "web_search", "apply_patch"].map((type) => ({
    type,
  })),
];
const offered = createChatFunctions({
  ...{ model: "m", instructions: null, items: [], format: null, turn: 0, text: "" },
  tools,
  toolChoice: "auto",
});

function parseAnswer(answer: Partial<UpstreamAnswer>) {
  return toUpstreamActions({ thought: "", text: "", refusal: "", calls: [], ...answer }, offered);
}

function readActions(answer: Partial<UpstreamAnswer>): readonly ModelAction[] | string {
  const result = parseAnswer(answer);
  return result.ok ? result.actions : result.problem;
}

const readCallActions = (name: string, args: unknown) => readActions({ calls: [{ name, args }] });

describe("toActions() with a call", () => {
  test.each<[string, object, ModelAction]>([
    ["python", { code: "1" }, { code: "1" }],
    ["sql", { input: "SELECT 1" }, { call: { name: "sql", args: "SELECT 1" } }],
    ["tool_search", { query: "owls" }, { use: { kind: "tool_search", args: { query: "owls" } } }],
    ["hosted_shell", { commands: ["ls", "pwd"] }, { shell: ["ls", "pwd"] }],
    ["hosted_shell", { commands: "ls" }, { shell: ["ls"] }],
    ["file_search", { query: "a" }, { search: { file: "a" } }],
    ["web_search", { query: "a" }, { search: { web: "a" } }],
    ["open_page", { url: "http://a.test" }, { search: { open: "http://a.test" } }],
    [
      "find_in_page",
      { url: "http://a.test", pattern: "b" },
      { search: { find: "b", in: "http://a.test" } },
    ],
    [
      "apply_patch",
      { operations: [{ type: "delete_file", path: "a" }] },
      { patch: [{ type: "delete_file", path: "a" }] },
    ],
    [
      "apply_patch",
      { operations: { type: "create_file", path: "a", diff: "+" } },
      { patch: [{ type: "create_file", path: "a", diff: "+" }] },
    ],
    [
      "apply_patch",
      { type: "update_file", path: "a", diff: "@@" },
      { patch: [{ type: "update_file", path: "a", diff: "@@" }] },
    ],
  ])("of %s with %j returns its action, from a string or an object", (name, args, action) => {
    expect(readCallActions(name, JSON.stringify(args))).toEqual([action]);
    expect(readCallActions(name, args)).toEqual([action]);
  });

  test.each<[unknown, object | string]>([
    ['{ "id": 12345678901234567890 }', '{ "id": 12345678901234567890 }'],
    [{ a: 1 }, { a: 1 }],
    ["", {}],
    [undefined, {}],
    [null, {}],
    ["{bad", "{bad"],
    ["[1]", "[1]"],
    [7, "7"],
  ])("of the client's function with %j keeps the arguments unchanged", (args, kept) => {
    expect(readCallActions("add", args)).toEqual([{ call: { name: "add", args: kept } }]);
    expect(readCallActions("shell", args)).toEqual([{ call: { name: "shell", args: kept } }]);
  });

  test.each<[string, unknown, string]>([
    ["python", "print(1)", "the arguments of python are not a JSON object that matches {"],
    ["python", "[1]", "they are [1]"],
    ["python", { code: 1 }, 'they are {"code":1}'],
    ["hosted_shell", { commands: [] }, 'they are {"commands":[]}'],
    ["hosted_shell", { commands: [1] }, 'they are {"commands":[1]}'],
    ["hosted_shell", {}, "they are {}"],
    ["file_search", {}, "they are {}"],
    ["web_search", { q: "a" }, 'they are {"q":"a"}'],
    ["open_page", {}, "they are {}"],
    ["find_in_page", { url: "a" }, 'they are {"url":"a"}'],
    ["apply_patch", {}, "they are {}"],
    ["apply_patch", { operations: [] }, 'they are {"operations":[]}'],
    ["apply_patch", { operations: [{ type: "create_file", path: "a" }] }, "they are"],
    ["apply_patch", { operations: [{ type: "rename", path: "a", diff: "" }] }, "they are"],
    ["apply_patch", { operations: ["+a"] }, "they are"],
    ["sql", { query: "SELECT 1" }, "the arguments of sql are not a JSON object that matches"],
    ["", {}, 'the function "" does not exist; the functions are "add", "shell", "sql"'],
  ])("of %s with %j returns a problem", (name, args, problem) => {
    expect(readCallActions(name, args)).toContain(problem);
  });

  test("of an unknown function without functions returns a problem", () => {
    const none = { ...offered, all: [] };
    const answer = { thought: "", text: "", refusal: "", calls: [{ name: "add", args: "" }] };
    expect(toUpstreamActions(answer, none)).toMatchObject({
      ok: false,
      problem: 'the function "add" does not exist; no functions are available',
    });
  });
});

describe("toActions() with an answer", () => {
  const [code, add] = [
    { name: "python", args: { code: "1" } },
    { name: "add", args: {} },
  ];
  test.each<[string, Partial<UpstreamAnswer>, readonly ModelAction[]]>([
    ["text", { text: "Hi." }, [{ say: "Hi." }]],
    ["reasoning and text", { thought: "Hm.", text: "Hi." }, [{ think: "Hm." }, { say: "Hi." }]],
    ["nothing", {}, [{ say: "" }]],
    ["reasoning only", { thought: "Hm." }, [{ think: "Hm." }, { say: "" }]],
    ["a refusal", { refusal: "No." }, [{ refuse: "No." }]],
    [
      "a refusal with text",
      { refusal: "No.", text: "Sorry." },
      [{ say: "Sorry." }, { refuse: "No." }],
    ],
    [
      "text and a call of the client's function",
      { text: "Now.", calls: [add] },
      [{ say: "Now." }, { call: { name: "add", args: {} } }],
    ],
    [
      "text before a hosted tool call",
      { thought: "Hm.", text: "Now.", calls: [code] },
      [{ think: "Hm." }, { think: "Now." }, { code: "1" }],
    ],
    [
      "parallel calls",
      { calls: [code, add, code] },
      [{ code: "1" }, { call: { name: "add", args: {} } }, { code: "1" }],
    ],
  ])("of %s", (_, answer, expected) => {
    expect(readActions(answer)).toEqual(expected);
  });

  test("that is invalid returns a correction with the problem of each call", () => {
    const bad = { name: "python", args: "1" };
    expect(parseAnswer({ text: "Now.", calls: [code, bad] })).toMatchObject({
      ok: false,
      correction: {
        role: "assistant",
        text: "Now.",
        calls: [
          {
            id: "call_refused_0",
            args: '{"code":"1"}',
            result: [{ text: /another call in the same answer was invalid/ }],
          },
          {
            id: "call_refused_1",
            args: '{"input":"1"}',
            result: [{ text: /^This call was not made: the arg/ }],
          },
        ].map(({ result: [said], ...rest }) => ({
          ...rest,
          result: [{ text: expect.stringMatching(said?.text ?? /none/) }],
        })),
      },
    });
  });
});
