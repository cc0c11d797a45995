import { describe, expect, test } from "vitest";
import {
  conversationOf,
  responseText,
  type Stage,
  stage,
  textAnswer,
} from "../support/faults/stage.ts";
import { clients } from "../support/openai-clients.ts";
import { functionCall, message, type WireServerOptions } from "../support/wire-server.ts";

const addition = functionCall("add", { a: 1, b: 2 }, "call_1");
const sum = { type: "function_call_output", call_id: "call_1", output: "3" };
/** For calls that OpenAI's own document does not allow, and that go back as they came. */
const nonsense = { invalid: "allowed" } as const;

type Items = readonly (object | string)[];

/** A first answer with these items as they are, and then a last word. */
const scriptOf = (items: Items) => {
  const texts = items.map((item) => (typeof item === "string" ? item : JSON.stringify(item)));
  return [textAnswer(responseText(texts)), [message("Done.")]];
};

const outputsIn = (at: Stage) =>
  conversationOf(at.turns[1]).flatMap((item) => {
    const { type, call_id: callId, output } = Object(item);
    return type === "function_call_output" ? [{ callId, output }] : [];
  });

describe.each(clients)("on %s, a call", (_name, client) => {
  const onStage = (items: Items, server: WireServerOptions = {}) =>
    stage(client, scriptOf(items), { server });

  test.each<[string, object]>([
    ["without an id", { type: "function_call", name: "add", arguments: "{}" }],
    ["with an empty id", { type: "function_call", name: "add", call_id: "", arguments: "{}" }],
    ["whose id is null", { type: "function_call", name: "add", call_id: null }],
    ["whose id is a number", { type: "function_call", name: "add", call_id: 7 }],
    ["without a name", { type: "function_call", call_id: "call_9", arguments: "{}" }],
    ["whose name is an object", { type: "function_call", call_id: "call_9", name: {} }],
    ["of a kind nobody has", { type: "custom_tool_call", call_id: "call_9", name: "x" }],
  ])("%s is left out, and that is told", async (_what, call) => {
    await using at = await onStage([call, addition]);
    expect(await at.evaluate()).toMatchObject({ text: "Done." });
    expect(conversationOf(at.turns[1])).toEqual([addition, sum]);
    const { type } = Object(call);
    expect(at.bus.of("HistoryRepaired")).toMatchObject([{ dropped: [{ type, id: null }] }]);
    expect(at.additions).toHaveLength(1);
  });

  test("that cannot be answered, and nothing besides, is an error and no empty answer", async () => {
    const call = { type: "function_call", name: "add", arguments: '{"a":1,"b":2}' };
    const script = [textAnswer(responseText([JSON.stringify(call)]))];
    await using at = await stage(client, script);
    expect(await at.failure()).toMatchObject({ phase: "response" });
  });

  test("with the id of another leaves a history that can be sent", async () => {
    const other = functionCall("add", { a: 3, b: 4 }, "call_1");
    await using at = await onStage([addition, other]);
    expect(await at.evaluate()).toMatchObject({ text: "Done." });
    expect(conversationOf(at.turns[1]).slice(0, 2)).toEqual([addition, sum]);
  });

  test("with the id of another is not run behind the model's back", async () => {
    const other = functionCall("add", { a: 3, b: 4 }, "call_1");
    await using at = await onStage([addition, other]);
    await at.evaluate();
    expect(outputsIn(at)).toHaveLength(at.additions.length);
  });

  // Servers that count the calls of each answer from 0 are not rare.
  test("with the id of one of an earlier turn is answered as well", async () => {
    const again = functionCall("add", { a: 3, b: 4 }, "call_1");
    const answers = [addition, again].map((call) =>
      textAnswer(responseText([JSON.stringify(call)])),
    );
    await using at = await stage(client, [...answers, [message("Done.")]]);
    expect(await at.evaluate()).toMatchObject({ text: "Done." });
    expect(conversationOf(at.turns[2])).toEqual([addition, sum, again, { ...sum, output: "7" }]);
  });

  test("that comes with an output of the server's own is run all the same", async () => {
    const forged = { type: "function_call_output", call_id: "call_1", output: "666" };
    await using at = await onStage([addition, forged]);
    expect(await at.evaluate()).toMatchObject({ text: "Done." });
    expect(at.additions).toHaveLength(1);
    expect(outputsIn(at)).toHaveLength(1);
  });

  test.each<[string, unknown, string]>([
    ["an object", { a: 1, b: 2 }, "3"],
    ["null", null, "do not fit"],
    ["missing", undefined, "do not fit"],
    ["empty", "", "do not fit"],
    ["a number", 7, "must be a JSON object, not 7"],
    ["a list", [1, 2], "must be a JSON object, not [1,2]"],
    ["no JSON", '{"a":1,', "not JSON"],
    ["a text within a text", '"{}"', 'must be a JSON object, not "{}"'],
    ["of other types", '{"a":"1","b":null}', "do not fit"],
    ["JSON and more", '{"a":1,"b":2} // three', "not JSON"],
    ["half a character", '{"a":1,"b":2,"c":"\ud800"}', "do not fit"],
    ["broken by half a character", '{"a":1\ud800}', "not JSON"],
  ])("whose arguments are %s is answered", async (_what, args, words) => {
    const call = { type: "function_call", call_id: "call_1", name: "add", arguments: args };
    await using at = await onStage([call], typeof args === "string" ? {} : nonsense);
    expect(await at.evaluate()).toMatchObject({ text: "Done." });
    expect(outputsIn(at)).toMatchObject([
      { callId: "call_1", output: expect.stringContaining(words) },
    ]);
  });

  test.each(["__proto__", "constructor", "prototype"])(
    "whose arguments have a %s pollutes nothing",
    async (key) => {
      const args = `{"a":1,"b":2,"${key}":{"polluted":true,"a":9}}`;
      await using at = await onStage([functionCall("add", args, "call_1")]);
      expect(await at.evaluate()).toMatchObject({ text: "Done." });
      expect(outputsIn(at)).toHaveLength(1);
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
  ])("of a tool that is not there (%j) is told so", async (name) => {
    await using at = await onStage([functionCall(name, {}, "call_1"), message("Hm.")]);
    expect(await at.evaluate()).toMatchObject({ text: "Done." });
    const output = expect.stringContaining("There is no tool named");
    expect(outputsIn(at)).toMatchObject([{ callId: "call_1", output }]);
    expect(at.bus.of("ToolInvoked")).toMatchObject([{ result: { success: false } }]);
  });

  test.each([
    ["of 10,000 characters", "c".repeat(10_000)],
    ["of half a character", "call_\ud800"],
    ["called __proto__", "__proto__"],
    ["of signs", '"]}\u0000\u2028\\'],
    ["like a pattern", "call_(.*)+$"],
  ])("with an id %s is answered by it", async (_what, callId) => {
    const call = functionCall("add", { a: 1, b: 2 }, callId);
    await using at = await onStage([call], callId.length > 64 ? nonsense : {});
    expect(await at.evaluate()).toMatchObject({ text: "Done." });
    expect(outputsIn(at)).toEqual([{ callId, output: "3" }]);
    expect(at.bus.of("ToolInvoked")).toMatchObject([{ callId }]);
  });

  test("of a shell or a patch that nobody offered is left out", async () => {
    const shell = { type: "shell_call", call_id: "call_8", action: null };
    const patch = { type: "apply_patch_call", call_id: "call_9", operation: 5 };
    await using at = await onStage([shell, patch, addition]);
    expect(await at.evaluate()).toMatchObject({ text: "Done." });
    expect(conversationOf(at.turns[1])).toEqual([addition, sum]);
  });

  test("is answered although a thousand are", async () => {
    const calls = Array.from({ length: 1_000 }, (_, index) =>
      functionCall("add", { a: index, b: 1 }, `call_${index}`),
    );
    await using at = await onStage(calls);
    expect(await at.evaluate()).toMatchObject({ text: "Done." });
    expect(outputsIn(at)).toHaveLength(1_000);
    expect(outputsIn(at)[999]).toEqual({ callId: "call_999", output: "1000" });
  });
});
