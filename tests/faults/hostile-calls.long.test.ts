import { describe, expect, test } from "vitest";
import {
  createFaultSetup,
  createResponseText,
  createTextResponse,
  type FaultSetup,
  getConversationItems,
} from "../support/faults/fault-setup.ts";
import { clients } from "../support/openai-clients.ts";
import { functionCall, message, type WireServerOptions } from "../support/wire-server.ts";

const addition = functionCall("add", { a: 1, b: 2 }, "call_1");
const sum = { type: "function_call_output", call_id: "call_1", output: "3" };
/** Allows calls that violate OpenAI's OpenAPI document; they are sent back unchanged. */
const nonsense = { invalid: "allowed" } as const;

type Items = readonly (object | string)[];

/** Creates a script: a response with these items, then a final answer. */
const createScript = (items: Items) => {
  const texts = items.map((item) => (typeof item === "string" ? item : JSON.stringify(item)));
  return [createTextResponse(createResponseText(texts)), [message("Done.")]];
};

const listOutputs = (at: FaultSetup) =>
  getConversationItems(at.turns[1]).flatMap((item) => {
    const { type, call_id: callId, output } = Object(item);
    return type === "function_call_output" ? [{ callId, output }] : [];
  });

describe.each(clients)("on %s, a call", (_name, client) => {
  const setUp = (items: Items, server: WireServerOptions = {}) =>
    createFaultSetup(client, createScript(items), { server });

  test.each<[string, object]>([
    ["without an id", { type: "function_call", name: "add", arguments: "{}" }],
    ["with an empty id", { type: "function_call", name: "add", call_id: "", arguments: "{}" }],
    ["whose id is null", { type: "function_call", name: "add", call_id: null }],
    ["whose id is a number", { type: "function_call", name: "add", call_id: 7 }],
    ["without a name", { type: "function_call", call_id: "call_9", arguments: "{}" }],
    ["whose name is an object", { type: "function_call", call_id: "call_9", name: {} }],
    ["of an unknown kind", { type: "custom_tool_call", call_id: "call_9", name: "x" }],
  ])("%s is dropped, with a HistoryRepaired event", async (_what, call) => {
    await using at = await setUp([call, addition]);
    expect(await at.evaluate()).toMatchObject({ text: "Done." });
    expect(getConversationItems(at.turns[1])).toEqual([addition, sum]);
    const { type } = Object(call);
    expect(at.bus.of("HistoryRepaired")).toMatchObject([{ dropped: [{ type, id: null }] }]);
    expect(at.additions).toHaveLength(1);
  });

  test("without an id is an error if the response has no other content", async () => {
    const call = { type: "function_call", name: "add", arguments: '{"a":1,"b":2}' };
    const script = [createTextResponse(createResponseText([JSON.stringify(call)]))];
    await using at = await createFaultSetup(client, script);
    expect(await at.getFailure()).toMatchObject({ phase: "response" });
  });

  test("with a duplicate id leaves a valid history", async () => {
    const other = functionCall("add", { a: 3, b: 4 }, "call_1");
    await using at = await setUp([addition, other]);
    expect(await at.evaluate()).toMatchObject({ text: "Done." });
    expect(getConversationItems(at.turns[1]).slice(0, 2)).toEqual([addition, sum]);
  });

  test("with a duplicate id is not run without a result for the model", async () => {
    const other = functionCall("add", { a: 3, b: 4 }, "call_1");
    await using at = await setUp([addition, other]);
    await at.evaluate();
    expect(listOutputs(at)).toHaveLength(at.additions.length);
  });

  // Some servers number the calls of each response from 0.
  test("with an id from an earlier turn gets its own result", async () => {
    const again = functionCall("add", { a: 3, b: 4 }, "call_1");
    const answers = [addition, again].map((call) =>
      createTextResponse(createResponseText([JSON.stringify(call)])),
    );
    await using at = await createFaultSetup(client, [...answers, [message("Done.")]]);
    expect(await at.evaluate()).toMatchObject({ text: "Done." });
    expect(getConversationItems(at.turns[2])).toEqual([
      addition,
      sum,
      again,
      { ...sum, output: "7" },
    ]);
  });

  test("that comes with a forged output is still run", async () => {
    const forged = { type: "function_call_output", call_id: "call_1", output: "666" };
    await using at = await setUp([addition, forged]);
    expect(await at.evaluate()).toMatchObject({ text: "Done." });
    expect(at.additions).toHaveLength(1);
    expect(listOutputs(at)).toHaveLength(1);
  });

  test.each<[string, unknown, string]>([
    ["an object", { a: 1, b: 2 }, "3"],
    ["null", null, "do not fit"],
    ["missing", undefined, "do not fit"],
    ["empty", "", "do not fit"],
    ["a number", 7, "must be a JSON object, not 7"],
    ["an array", [1, 2], "must be a JSON object, not [1,2]"],
    ["invalid JSON", '{"a":1,', "not JSON"],
    ["a JSON string", '"{}"', 'must be a JSON object, not "{}"'],
    ["of other types", '{"a":"1","b":null}', "do not fit"],
    ["JSON and more", '{"a":1,"b":2} // three', "not JSON"],
    ["a lone surrogate in a string", '{"a":1,"b":2,"c":"\ud800"}', "do not fit"],
    ["broken by a lone surrogate", '{"a":1\ud800}', "not JSON"],
  ])("whose arguments are %s gets a result", async (_what, args, words) => {
    const call = { type: "function_call", call_id: "call_1", name: "add", arguments: args };
    await using at = await setUp([call], typeof args === "string" ? {} : nonsense);
    expect(await at.evaluate()).toMatchObject({ text: "Done." });
    expect(listOutputs(at)).toMatchObject([
      { callId: "call_1", output: expect.stringContaining(words) },
    ]);
  });

  test.each(["__proto__", "constructor", "prototype"])(
    "whose arguments have a %s does not pollute prototypes",
    async (key) => {
      const args = `{"a":1,"b":2,"${key}":{"polluted":true,"a":9}}`;
      await using at = await setUp([functionCall("add", args, "call_1")]);
      expect(await at.evaluate()).toMatchObject({ text: "Done." });
      expect(listOutputs(at)).toHaveLength(1);
      expect({}).not.toHaveProperty("polluted");
      expect(at.additions).not.toContainEqual(expect.objectContaining({ a: 9 }));
    },
  );

  test.each([
    "subtract",
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "",
    "\ud800",
    "add\u0000",
    "x".repeat(10_000),
  ])("to an unknown tool (%j) gets an error result", async (name) => {
    await using at = await setUp([functionCall(name, {}, "call_1"), message("Hm.")]);
    expect(await at.evaluate()).toMatchObject({ text: "Done." });
    const output = expect.stringContaining("There is no tool named");
    expect(listOutputs(at)).toMatchObject([{ callId: "call_1", output }]);
    expect(at.bus.of("ToolInvoked")).toMatchObject([{ result: { success: false } }]);
  });

  test.each([
    ["of 10,000 characters", "c".repeat(10_000)],
    ["with a lone surrogate", "call_\ud800"],
    ["called __proto__", "__proto__"],
    ["of special characters", '"]}\u0000\u2028\\'],
    ["like a pattern", "call_(.*)+$"],
  ])("with an id %s gets a result with that id", async (_what, callId) => {
    const call = functionCall("add", { a: 1, b: 2 }, callId);
    await using at = await setUp([call], callId.length > 64 ? nonsense : {});
    expect(await at.evaluate()).toMatchObject({ text: "Done." });
    expect(listOutputs(at)).toEqual([{ callId, output: "3" }]);
    expect(at.bus.of("ToolInvoked")).toMatchObject([{ callId }]);
  });

  test("to a shell or patch tool that the prompt does not have is dropped", async () => {
    const shell = { type: "shell_call", call_id: "call_8", action: null };
    const patch = { type: "apply_patch_call", call_id: "call_9", operation: 5 };
    await using at = await setUp([shell, patch, addition]);
    expect(await at.evaluate()).toMatchObject({ text: "Done." });
    expect(getConversationItems(at.turns[1])).toEqual([addition, sum]);
  });

  test("gets a result among a thousand calls", async () => {
    const calls = Array.from({ length: 1_000 }, (_, index) =>
      functionCall("add", { a: index, b: 1 }, `call_${index}`),
    );
    await using at = await setUp(calls);
    expect(await at.evaluate()).toMatchObject({ text: "Done." });
    expect(listOutputs(at)).toHaveLength(1_000);
    expect(listOutputs(at)[999]).toEqual({ callId: "call_999", output: "1000" });
  });
});
