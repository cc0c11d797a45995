import { describe, expect, test } from "vitest";
import { InvalidOptionError } from "../../base/errors.ts";
import type { ModelAction } from "../model-action.ts";
import type { ModelRequest } from "./local-model.ts";
import { scriptedModel } from "./scripted-model.ts";

function createRequest(turn: number, text = "Hello?"): ModelRequest {
  const base = { model: "m", instructions: null, items: [], tools: [], toolChoice: "auto" };
  return { ...base, format: null, turn, text };
}

const every: readonly ModelAction[] = [
  { say: "Hi.", citations: [{ hit: 0 }, { file: "a.png", at: [0, 2] }] },
  { say: { answer: [1, null] } },
  { say: ["a"] },
  { say: "" },
  { say: "Hm.", phase: "commentary" },
  { say: "Hm.", phase: "final_answer", everyMs: 20 },
  { think: "Hm." },
  { call: { name: "add", args: { a: 1 } } },
  { call: { name: "add", args: "{bad", callId: "call_1" } },
  { call: { name: "ad", args: {}, madeUp: true } },
  { code: "print(1)" },
  { shell: ["ls", "pwd"] },
  { search: "cats" },
  { search: { file: "cats" } },
  { search: { web: "cats" } },
  { search: { open: "http://a.test" } },
  { search: { find: "cats", in: "http://a.test" } },
  { patch: [{ type: "delete_file", path: "a" }] },
  { use: { kind: "dice", args: { sides: 6 } } },
  { compact: true },
  { refuse: "No." },
  { fail: {} },
  { fail: { status: 429, code: "rate_limit_exceeded", message: "Slow." } },
  { failInStream: { status: 503 } },
  { stall: 0 },
  { drop: true },
  { expireContainer: true },
];

describe("scriptedModel()", () => {
  test("performs the step of each request number", async () => {
    const model = scriptedModel([[{ code: "1" }], [{ think: "So." }, { say: "One." }]]);
    expect(await model.respond(createRequest(1))).toEqual([{ think: "So." }, { say: "One." }]);
    expect(await model.respond(createRequest(0))).toEqual([{ code: "1" }]);
  });

  test("accepts every action", async () => {
    const model = scriptedModel([every]);
    expect(await model.respond(createRequest(0))).toEqual(every);
  });

  test("copies and freezes the script", async () => {
    const step: { say: string }[] = [{ say: "One." }];
    const script = [step];
    const model = scriptedModel(script);
    step.push({ say: "Two." });
    script.pop();
    const actions = await model.respond(createRequest(0));
    expect(actions).toEqual([{ say: "One." }]);
    expect([Object.isFrozen(model), Object.isFrozen(actions), Object.isFrozen(actions[0])]).toEqual(
      [true, true, true],
    );
  });

  test("reports the request number and text after the last step", async () => {
    const model = scriptedModel([[{ say: "One." }]]);
    const ended = model.respond(createRequest(1, "And then?"));
    await expect(ended).rejects.toThrow(
      'The script has ended: it has 1 step, but this is request 2, with the text "And then?". Add a step.',
    );
    await expect(ended).rejects.toMatchObject({
      status: 500,
      type: "server_error",
      code: "script_ended",
      headers: { "x-should-retry": "false" },
    });
    await expect(scriptedModel([]).respond(createRequest(0))).rejects.toThrow("it has 0 steps");
  });

  test("accepts a function, synchronous or asynchronous", async () => {
    const now = scriptedModel(({ text }) => [{ say: text }]);
    const later = scriptedModel(async ({ turn }) => [{ say: `Turn ${turn}.` }]);
    expect(await now.respond(createRequest(0, "Ho."))).toEqual([{ say: "Ho." }]);
    expect(await later.respond(createRequest(3))).toEqual([{ say: "Turn 3." }]);
  });

  test("validates the actions that a function returns, and reports its errors with their cause", async () => {
    const bad = scriptedModel(() => [{ say: "Hi." }, { shout: "Hi!" } as never]);
    const fault = { status: 500, code: "model_error", headers: { "x-should-retry": "false" } };
    await expect(bad.respond(createRequest(0))).rejects.toMatchObject(fault);
    await expect(bad.respond(createRequest(0))).rejects.toThrow(
      "steps(request)[1] key must be one of",
    );
    const boom = new Error("boom");
    const thrown = scriptedModel(() => {
      throw boom;
    });
    const message = "the script threw an error: boom";
    await expect(thrown.respond(createRequest(0))).rejects.toMatchObject({
      ...fault,
      message,
      cause: boom,
    });
  });
});

describe("scriptedModel() rejects", () => {
  test.each<[string, unknown, string]>([
    [
      "no script",
      undefined,
      "steps must be an array of turns or a function of the request, got undefined",
    ],
    [
      "a string",
      "say hi",
      'steps must be an array of turns or a function of the request, got "say hi"',
    ],
    [
      "an action instead of a turn",
      [{ say: "Hi." }],
      "steps[0] must be a non-empty array of actions, got",
    ],
    [
      "an empty turn",
      [[{ say: "Hi." }], []],
      "steps[1] must be a non-empty array of actions, got []",
    ],
  ])("%s", (_, script, message) => {
    expect(() => scriptedModel(script as never)).toThrow(message);
    expect(() => scriptedModel(script as never)).toThrow(InvalidOptionError);
  });

  test.each<[unknown, string]>([
    ["Hi.", '[1] must be an action object, got "Hi."'],
    [null, "[1] must be an action object, got null"],
    [{}, '[1] must be one of "say", "think", "call",'],
    [{ citations: [] }, "[1] must be one of"],
    [{ shout: "Hi!" }, '[1] key must be one of "say", "think"'],
    [{ cal: {} }, 'got "cal". Did you mean "call"?'],
    [{ say: "a", think: "b" }, "[1] must be a single action"],
    [{ think: "a", citations: [] }, ".citations must be used together with say"],
    [{ think: "a", phase: "commentary" }, ".phase must be used together with say"],
    [{ say: "a", phase: "last" }, '.phase must be "commentary" or "final_answer", got "last"'],
    [{ say: "a", everyMs: -1 }, ".everyMs must be a number of milliseconds"],
    [{ say: "a", citations: [], everyMs: 1 }, ".everyMs must not be combined with citations"],
    [{ say: 4 }, ".say must be a string or a JSON-serializable object, got 4"],
    [{ say: null }, ".say must be a string"],
    [{ say: { n: Number.NaN } }, "Pass a string or a plain object; value.n is NaN"],
    [{ say: "a", citations: {} }, ".citations must be an array"],
    [{ say: "a", citations: [{ hit: -1 }] }, ".citations[0].hit must be a non-negative integer"],
    [{ say: "a", citations: [{ file: "" }] }, ".citations[0].file must be a non-empty string"],
    [{ say: "a", citations: [3] }, ".citations[0] must be an object"],
    [{ say: "a", citations: [{ hit: 0, at: [2, 1] }] }, ".citations[0].at must be [start, end]"],
    [{ say: "a", citations: [{ hit: 0, at: 2 }] }, ".citations[0].at must be [start, end]"],
    [{ say: "a", citations: [{ hit: 0, at: [0, 1, 2] }] }, ".citations[0].at must be"],
    [{ think: 1 }, ".think must be a string, got 1"],
    [
      { call: "add" },
      '.call must be an object, got "add". Pass one with "name", "args", "callId", "madeUp".',
    ],
    [{ call: { args: {} } }, ".call.name must be a non-empty string"],
    [{ call: { name: "add", args: [] } }, ".call.args must be a JSON-serializable object"],
    [{ call: { name: "add", args: { f() {} } } }, ".call.args must be a JSON-serializable object"],
    [{ call: { name: "add", args: {}, id: "1" } }, '.call key must be one of "name"'],
    [{ call: { name: "add", args: {}, callId: 1 } }, ".call.callId must be a non-empty string"],
    [{ call: { name: "add", args: {}, madeUp: 1 } }, ".call.madeUp must be true or false, got 1"],
    [{ code: ["1"] }, ".code must be a string"],
    [{ shell: "ls" }, '.shell must be a non-empty array of commands, got "ls". Use ["ls"].'],
    [{ shell: [] }, ".shell must be a non-empty array of commands"],
    [{ shell: [1] }, ".shell[0] must be a string"],
    [{ search: "" }, ".search must be a non-empty string"],
    [{ search: 1 }, ".search must be a string, { file }, { web }, { open } or { find, in }"],
    [{ search: {} }, ".search must be a string, { file }"],
    [{ search: { find: "a" } }, ".search.in must be a non-empty string"],
    [{ search: { file: "a", web: "b" } }, '.search key must be one of "file"'],
    [{ patch: {} }, ".patch must be a non-empty array of operations"],
    [{ patch: [] }, ".patch must be a non-empty array of operations"],
    [{ patch: ["+a"] }, ".patch[0] must be an object"],
    [{ use: "dice" }, ".use must be an object"],
    [{ use: { kind: "", args: {} } }, ".use.kind must be a non-empty string"],
    [{ use: { kind: "dice" } }, ".use.args must be a JSON-serializable object"],
    [{ use: { kind: "dice", args: "6" } }, ".use.args must be a JSON-serializable object"],
    [
      { use: { kind: "dice", args: { big: Number.NaN } } },
      ".use.args must be a JSON-serializable object",
    ],
    [{ use: { kind: "dice", args: {}, name: "a" } }, '.use key must be one of "kind", "args"'],
    [{ compact: false }, ".compact must be true, got false"],
    [{ refuse: true }, ".refuse must be a string"],
    [{ fail: true }, ".fail must be an object"],
    [{ fail: { status: 200 } }, ".fail.status must be an HTTP status from 400 to 599"],
    [{ fail: { status: "500" } }, ".fail.status must be an HTTP status from 400 to 599"],
    [{ fail: { code: "" } }, ".fail.code must be a non-empty string"],
    [{ failInStream: { status: 200 } }, ".failInStream.status must be an HTTP status from 400"],
    [{ stall: -1 }, ".stall must be a number of milliseconds from 0"],
    [{ stall: Number.POSITIVE_INFINITY }, ".stall must be a number of milliseconds from 0"],
    [{ drop: 1 }, ".drop must be true"],
    [{ expireContainer: "c" }, ".expireContainer must be true"],
  ])("the action %j", (action, message) => {
    const script = [[{ say: "Hi." }], [{ say: "Hi." }, action]];
    expect(() => scriptedModel(script as never)).toThrow(message);
    expect(() => scriptedModel(script as never)).toThrow(/^steps\[1\]\[1\]/);
  });
});
