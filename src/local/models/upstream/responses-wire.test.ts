import { describe, expect, test } from "vitest";
import type { ChatFunctions } from "./chat-functions.ts";
import { responsesWire } from "./responses-wire.ts";
import type { UpstreamInput } from "./upstream-wire.ts";

const none: ChatFunctions = { all: [], choice: "auto", getName: (name) => name };

function createBody(over: Partial<UpstreamInput>) {
  const base = {
    model: "m",
    system: null,
    turns: [],
    functions: none,
    format: null,
    stream: false,
  };
  return responsesWire.createRequest({ ...base, ...over });
}

describe("responsesWire.createRequest()", () => {
  test("converts every turn to items, with calls before their results", () => {
    const picture = { image: "https://a.test/b.png", detail: null };
    const call = { id: "1", name: "add", args: "{}", result: [{ text: "One." }] };
    const shown = { ...call, id: "2", result: [{ text: "Two." }, { ...picture, detail: "low" }] };
    const format = { type: "json_schema", name: "a", schema: {} };
    expect(
      createBody({
        system: "Be brief.",
        format,
        turns: [
          { role: "user", parts: [{ text: "B." }, picture] },
          { role: "assistant", text: "", calls: [call, shown] },
          { role: "assistant", text: "C.", calls: [{ ...call, id: "3" }] },
          { role: "assistant", text: "", calls: [] },
        ],
      }),
    ).toEqual({
      model: "m",
      instructions: "Be brief.",
      input: [
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "B." },
            { type: "input_image", image_url: "https://a.test/b.png", detail: "auto" },
          ],
        },
        { type: "function_call", call_id: "1", name: "add", arguments: "{}" },
        { type: "function_call", call_id: "2", name: "add", arguments: "{}" },
        { type: "function_call_output", call_id: "1", output: "One." },
        {
          type: "function_call_output",
          call_id: "2",
          output: [
            { type: "input_text", text: "Two." },
            { type: "input_image", image_url: "https://a.test/b.png", detail: "low" },
          ],
        },
        { type: "message", role: "assistant", content: "C." },
        { type: "function_call", call_id: "3", name: "add", arguments: "{}" },
        { type: "function_call_output", call_id: "3", output: "One." },
        { type: "message", role: "assistant", content: "" },
      ],
      text: { format },
      store: false,
      stream: false,
    });
  });

  test("sends functions with an explicit strict flag, and a choice", () => {
    const parameters = { type: "object" };
    const one = {
      name: "add",
      description: "Adds.",
      parameters,
      strict: true,
      isCustom: false,
      hosted: null,
    };
    const two = {
      name: "now",
      description: null,
      parameters,
      strict: false,
      isCustom: false,
      hosted: null,
    };
    expect(
      createBody({ functions: { ...none, all: [one, two], choice: { name: "now" } } }),
    ).toMatchObject({
      tools: [
        { type: "function", name: "add", description: "Adds.", parameters, strict: true },
        { type: "function", name: "now", parameters, strict: false },
      ],
      tool_choice: { type: "function", name: "now" },
    });
    expect(createBody({ functions: { ...none, all: [one], choice: "none" } })).toMatchObject({
      tool_choice: "none",
    });
  });
});

describe("responsesWire.readAnswer()", () => {
  const empty = { thought: "", text: "", refusal: "", calls: [] };
  const message = (...content: readonly object[]) => ({ type: "message", content });
  test.each<[string, readonly unknown[], object]>([
    ["nothing", [], {}],
    [
      "unknown items",
      [null, "odd", { type: "web_search_call" }, { type: "message", content: 7 }],
      {},
    ],
    [
      "text parts",
      [message({ text: "A" }, { text: "B" }), message({ text: "C" })],
      { text: "ABC" },
    ],
    ["a plain string", [{ type: "message", content: "A" }], { text: "A" }],
    ["a refusal", [message({ type: "refusal", refusal: "No." })], { refusal: "No." }],
    [
      "a summary",
      [{ type: "reasoning", summary: [{ text: "A" }, { text: "B" }] }],
      { thought: "A\nB" },
    ],
    [
      "reasoning",
      [{ type: "reasoning", summary: [{ text: "A" }], content: [{ text: "B" }] }],
      { thought: "B" },
    ],
    [
      "calls",
      [{ type: "function_call", name: "a", arguments: "{}" }, { type: "function_call" }],
      {
        calls: [
          { name: "a", args: "{}" },
          { name: "", args: undefined },
        ],
      },
    ],
  ])("reads %s", (_, output, answer) => {
    expect(responsesWire.readAnswer({ output })).toEqual({ ...empty, ...answer });
  });

  test("rejects a response without output and a failed one", () => {
    expect(responsesWire.readAnswer({})).toBe("no output");
    expect(responsesWire.readAnswer({ status: "failed", output: [] })).toBe(
      "a response that failed",
    );
  });
});
