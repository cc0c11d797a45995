import { describe, expect, test } from "vitest";
import { InvalidOptionError } from "../../base/errors.ts";
import type { ModelAction } from "../model-action.ts";
import type { ModelRequest } from "./local-model.ts";
import { scriptedModel } from "./scripted-model.ts";

function asked(turn: number, text = "Hello?"): ModelRequest {
  const base = { model: "m", instructions: null, items: [], tools: [], toolChoice: "auto" };
  return { ...base, format: null, turn, text };
}

const every: readonly ModelAction[] = [
  { say: "Hi.", citations: [{ hit: 0 }, { file: "a.png", at: [0, 2] }] },
  { say: { answer: [1, null] } },
  { say: ["a"] },
  { say: "" },
  { think: "Hm." },
  { call: { name: "add", args: { a: 1 } } },
  { call: { name: "add", args: "{bad", callId: "call_1" } },
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
  { stall: 0 },
  { drop: true },
  { expireContainer: true },
];

describe("a scripted model", () => {
  test("does what each turn says, by the number of the request", async () => {
    const model = scriptedModel([[{ code: "1" }], [{ think: "So." }, { say: "One." }]]);
    expect(await model.respond(asked(1))).toEqual([{ think: "So." }, { say: "One." }]);
    expect(await model.respond(asked(0))).toEqual([{ code: "1" }]);
  });

  test("takes every action that there is", async () => {
    const model = scriptedModel([every]);
    expect(await model.respond(asked(0))).toEqual(every);
  });

  test("keeps a frozen copy: what the caller changes later changes nothing", async () => {
    const step: { say: string }[] = [{ say: "One." }];
    const script = [step];
    const model = scriptedModel(script);
    step.push({ say: "Two." });
    script.pop();
    const actions = await model.respond(asked(0));
    expect(actions).toEqual([{ say: "One." }]);
    expect([Object.isFrozen(model), Object.isFrozen(actions), Object.isFrozen(actions[0])]).toEqual(
      [true, true, true],
    );
  });

  test("says which request has no step, and what it was asked", async () => {
    const model = scriptedModel([[{ say: "One." }]]);
    const ended = model.respond(asked(1, "And then?"));
    await expect(ended).rejects.toThrow(
      'The script has ended: it has 1 step, and none for request 2, which was asked "And then?".',
    );
    await expect(ended).rejects.toMatchObject({
      status: 500,
      type: "server_error",
      code: "script_ended",
      headers: { "x-should-retry": "false" },
    });
    await expect(scriptedModel([]).respond(asked(0))).rejects.toThrow("it has 0 steps");
  });

  test("may be a function of the request, now or later", async () => {
    const now = scriptedModel(({ text }) => [{ say: text }]);
    const later = scriptedModel(async ({ turn }) => [{ say: `Turn ${turn}.` }]);
    expect(await now.respond(asked(0, "Ho."))).toEqual([{ say: "Ho." }]);
    expect(await later.respond(asked(3))).toEqual([{ say: "Turn 3." }]);
  });

  test("refuses what a function gives when it comes, and passes on what it throws", async () => {
    const bad = scriptedModel(() => [{ say: "Hi." }, { shout: "Hi!" } as never]);
    await expect(bad.respond(asked(0))).rejects.toThrow(InvalidOptionError);
    await expect(bad.respond(asked(0))).rejects.toThrow("steps(request)[1].shout must be one of");
    const boom = new Error("boom");
    const thrown = scriptedModel(() => {
      throw boom;
    });
    await expect(thrown.respond(asked(0))).rejects.toBe(boom);
  });
});

describe("a script that cannot be", () => {
  test.each<[string, unknown, string]>([
    ["no script", undefined, "steps must be a list of turns, or a function of the request, but is"],
    ["a text", "say hi", "steps must be a list of turns, or a function of the request, but is"],
    ["an action for a turn", [{ say: "Hi." }], "steps[0] must be a list with an action, but is"],
    ["an empty turn", [[{ say: "Hi." }], []], "steps[1] must be a list with an action, got []"],
  ])("is %s", (_, script, message) => {
    expect(() => scriptedModel(script as never)).toThrow(message);
    expect(() => scriptedModel(script as never)).toThrow(InvalidOptionError);
  });

  test.each<[unknown, string]>([
    ["Hi.", '[1] must be an action, got "Hi."'],
    [null, "[1] must be an action, got null"],
    [{}, '[1] must be one of "say", "think", "call",'],
    [{ citations: [] }, "[1] must be one of"],
    [{ shout: "Hi!" }, '.shout must be one of "say", "think"'],
    [{ cal: {} }, "did you mean call?"],
    [{ say: "a", think: "b" }, "[1] must be one action"],
    [{ think: "a", citations: [] }, ".citations must go with say"],
    [{ say: 4 }, ".say must be a text, or an object that JSON can say, got 4"],
    [{ say: null }, ".say must be a text"],
    [{ say: { n: Number.NaN } }, "give one or the other; value.n is NaN"],
    [{ say: "a", citations: {} }, ".citations must be a list"],
    [{ say: "a", citations: [{ hit: -1 }] }, ".citations[0].hit must be a whole number from 0"],
    [
      { say: "a", citations: [{ file: "" }] },
      ".citations[0].file must be a text that is not empty",
    ],
    [{ say: "a", citations: [3] }, ".citations[0] must be an object"],
    [{ say: "a", citations: [{ hit: 0, at: [2, 1] }] }, ".citations[0].at must be [start, end]"],
    [{ say: "a", citations: [{ hit: 0, at: 2 }] }, ".citations[0].at must be [start, end]"],
    [{ say: "a", citations: [{ hit: 0, at: [0, 1, 2] }] }, ".citations[0].at must be"],
    [{ think: 1 }, ".think must be a text, got 1"],
    [{ call: "add" }, '.call must be an object, got "add". Give it "name", "args", "callId"'],
    [{ call: { args: {} } }, ".call.name must be a text that is not empty"],
    [{ call: { name: "add", args: [] } }, ".call.args must be an object that JSON can say"],
    [{ call: { name: "add", args: { f() {} } } }, ".call.args must be an object that JSON can"],
    [{ call: { name: "add", args: {}, id: "1" } }, '.call.id must be one of "name"'],
    [{ call: { name: "add", args: {}, callId: 1 } }, ".call.callId must be a text"],
    [{ code: ["1"] }, ".code must be a text"],
    [{ shell: "ls" }, '.shell must be a list with a command, got "ls". Write ["ls"]'],
    [{ shell: [] }, ".shell must be a list with a command"],
    [{ shell: [1] }, ".shell[0] must be a text"],
    [{ search: "" }, ".search must be a text that is not empty"],
    [{ search: 1 }, ".search must be a text, { file }, { web }, { open } or { find, in }"],
    [{ search: {} }, ".search must be a text, { file }"],
    [{ search: { find: "a" } }, ".search.in must be a text that is not empty"],
    [{ search: { file: "a", web: "b" } }, '.search.web must be one of "file"'],
    [{ patch: {} }, ".patch must be a list with an operation"],
    [{ patch: [] }, ".patch must be a list with an operation"],
    [{ patch: ["+a"] }, ".patch[0] must be an object"],
    [{ use: "dice" }, ".use must be an object"],
    [{ use: { kind: "", args: {} } }, ".use.kind must be a text that is not empty"],
    [{ use: { kind: "dice" } }, ".use.args must be an object that JSON can express"],
    [{ use: { kind: "dice", args: "6" } }, ".use.args must be an object that JSON can express"],
    [{ use: { kind: "dice", args: { big: Number.NaN } } }, ".use.args must be an object that JSON"],
    [{ use: { kind: "dice", args: {}, name: "a" } }, '.use.name must be one of "kind", "args"'],
    [{ compact: false }, ".compact must be true, got false"],
    [{ refuse: true }, ".refuse must be a text"],
    [{ fail: true }, ".fail must be an object"],
    [{ fail: { status: 200 } }, ".fail.status must be a status from 400 to 599"],
    [{ fail: { status: "500" } }, ".fail.status must be a status from 400 to 599"],
    [{ fail: { code: "" } }, ".fail.code must be a text that is not empty"],
    [{ stall: -1 }, ".stall must be a number of milliseconds from 0"],
    [{ stall: Number.POSITIVE_INFINITY }, ".stall must be a number of milliseconds from 0"],
    [{ drop: 1 }, ".drop must be true"],
    [{ expireContainer: "c" }, ".expireContainer must be true"],
  ])("has the step %j", (action, message) => {
    const script = [[{ say: "Hi." }], [{ say: "Hi." }, action]];
    expect(() => scriptedModel(script as never)).toThrow(message);
    expect(() => scriptedModel(script as never)).toThrow(/^steps\[1\]\[1\]/);
  });
});
