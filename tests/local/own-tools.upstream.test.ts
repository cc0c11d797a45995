import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LocalTool, upstreamModel } from "weakincentives/local";
import { dice, startProvider } from "../support/local/own-tools-provider.ts";
import { findItem, readAnswer, readOutput } from "../support/local/provider-fixture.ts";
import {
  startUpstreamServer,
  type UpstreamServer,
  type UpstreamStep,
} from "../support/upstream-server.ts";

let server: UpstreamServer;
beforeAll(async () => {
  server = await startUpstreamServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const parameters = {
  type: "object",
  properties: { sides: { type: "integer" } },
  required: ["sides"],
  additionalProperties: false,
};
const offeredDice = { ...dice, description: "Rolls a die.", parameters } as LocalTool;
const tools = [{ type: "dice" }];

function createCallStep(
  ...calls: readonly (readonly [name: string, args: unknown])[]
): UpstreamStep {
  const tool_calls = calls.map(([name, args], place) => ({
    id: `call_${place}`,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));
  return { message: { content: "I roll.", tool_calls } };
}

async function start(tool: LocalTool, steps: readonly UpstreamStep[]) {
  await server.play(steps);
  const model = upstreamModel({ baseURL: server.url, model: "qwen3" });
  return await startProvider([tool], [], { model });
}

async function readBodies() {
  return (await server.requests()).map(({ body }) => Object(body));
}

describe("a custom tool with an upstream model", () => {
  test("is offered as a function, and its call runs the tool and returns the result", async () => {
    const { respond } = await start(offeredDice, [
      createCallStep(["dice", { sides: 6 }], ["dice", { sides: 8 }]),
      { message: { content: "Six and eight." } },
    ]);
    const response = await respond({ input: "Roll.", tools });
    expect(readOutput(response).map(({ type }) => type)).toEqual([
      "message",
      "dice_call",
      "dice_call",
      "message",
    ]);
    expect(readAnswer(response)).toBe("I roll.Six and eight.");
    expect(readOutput(response)[0]).toMatchObject({ phase: "commentary" });
    const [first, second] = await readBodies();
    expect(first.tools).toEqual([
      { type: "function", function: { name: "dice", description: "Rolls a die.", parameters } },
    ]);
    const calls = second.messages.filter(({ role }: { role: string }) => role !== "user");
    expect(calls).toMatchObject([
      { tool_calls: [{ function: { name: "dice", arguments: '{"sides":6}' } }] },
      { role: "tool", content: '{"rolled":6}' },
      { tool_calls: [{ function: { name: "dice", arguments: '{"sides":8}' } }] },
      { role: "tool", content: '{"rolled":8}' },
    ]);
  });

  test("is called again after invalid arguments", async () => {
    const { respond } = await start(offeredDice, [
      createCallStep(["dice", { sides: "six" }]),
      createCallStep(["dice", { sides: 6 }]),
      { message: { content: "Six." } },
    ]);
    const response = await respond({ input: "Roll.", tools });
    expect(findItem(response, "dice_call")).toMatchObject({ rolled: 6 });
    const [, again] = await readBodies();
    expect(again.messages.at(-1).content).toContain("the arguments of dice are not a JSON object");
  });

  test("is forced once by tool_choice", async () => {
    const { respond } = await start(offeredDice, [
      createCallStep(["dice", { sides: 6 }]),
      { message: { content: "Six." } },
    ]);
    const forced = await respond({ input: "Roll.", tools, tool_choice: { type: "dice" } });
    expect(readAnswer(forced)).toBe("I roll.Six.");
    const [first, second] = await readBodies();
    expect(first.tool_choice).toMatchObject({ function: { name: "dice" } });
    expect(second.tool_choice).toBe("auto");
  });

  test("is renamed if the client has a function with the same name", async () => {
    const client = { type: "function", name: "dice", parameters: {}, strict: false };
    const { respond } = await start(offeredDice, [
      createCallStep(["hosted_dice", { sides: 6 }]),
      { message: { content: "Six." } },
    ]);
    const response = await respond({ input: "Roll.", tools: [client, ...tools] });
    expect(findItem(response, "dice_call")).toMatchObject({ rolled: 6 });
    const [, second] = await readBodies();
    expect(second.messages[1]).toMatchObject({
      tool_calls: [{ function: { name: "hosted_dice" } }],
    });
  });

  test("is not offered without a description, but its items are part of the conversation", async () => {
    const { respond } = await start(dice as LocalTool, [{ message: { content: "Hm." } }]);
    const item = { type: "dice_call", id: "dice_1", rolled: 3 };
    const user = { role: "user", content: "What was it?" };
    await respond({ input: [item, user], tools });
    const [asked] = await readBodies();
    expect(asked.tools).toBeUndefined();
    expect(asked.messages).toMatchObject([
      { tool_calls: [{ id: "dice_1", function: { name: "dice" } }] },
      { role: "tool", content: '{"rolled":3}' },
      { role: "assistant", content: "[Interrupted by the next message.]" },
      user,
    ]);
  });

  test("can have several functions, and convert its calls and answers itself", async () => {
    const tool: LocalTool = {
      kind: "human",
      items: {
        human_call: {
          answer: "human_call_output",
          toCall: ({ question }) => ({ name: "ask_human", args: { q: question } }),
        },
        human_call_output: { toResult: ({ output: text }) => `They said: ${text}` },
      },
      functions: [
        {
          name: "ask_human",
          description: "Asks a human.",
          parameters: { type: "object", properties: { q: { type: "string" } } },
          read: ({ q }) => (typeof q === "string" ? { question: q } : null),
        },
        {
          name: "warn_human",
          description: "Warns a human.",
          parameters: { type: "object", properties: {} },
        },
      ],
      run: ({ args }) => ({ question: args["question"] ?? "Beware." }),
    };
    const { respond } = await start(tool, [
      { message: { content: null, tool_calls: [createCall("ask_human", '{"q":"Six?"}')] } },
      { message: { content: "Good." } },
    ]);
    const human = [{ type: "human" }];
    const first = await respond({ input: "Go.", tools: human });
    expect(readOutput(first)).toMatchObject([{ type: "human_call", question: "Six?" }]);
    const { call_id } = findItem(first, "human_call");
    const answer = { type: "human_call_output", call_id, output: "Yes." };
    await respond({ input: [answer], tools: human, previous_response_id: first["id"] });
    const [asked, answered] = await readBodies();
    expect(asked.tools).toHaveLength(2);
    expect(answered.messages.slice(1)).toMatchObject([
      { tool_calls: [{ function: { name: "ask_human", arguments: '{"q":"Six?"}' } }] },
      { role: "tool", content: "They said: Yes." },
    ]);
  });

  test("converts a call and its answer by their fields by default", async () => {
    const tool: LocalTool = {
      kind: "human",
      description: "Asks a human.",
      parameters: { type: "object", properties: { question: { type: "string" } } },
      items: { human_call: { answer: "human_call_output" }, human_call_output: {} },
      run: ({ args }) => ({ question: args["question"], at: "noon" }),
    };
    const { respond } = await start(tool, [{ message: { content: "Good." } }]);
    const asked = { id: "h_1", call_id: "call_1", question: "Six?", at: "noon" };
    const answer = { call_id: "call_1", said: "Yes." };
    const input = [
      { type: "human_call", ...asked },
      { type: "human_call_output", ...answer },
    ];
    await respond({ input, tools: [{ type: "human" }] });
    const [body] = await readBodies();
    expect(body.messages).toMatchObject([
      { tool_calls: [{ function: { name: "human", arguments: '{"question":"Six?"}' } }] },
      { role: "tool", content: '{"said":"Yes."}' },
    ]);
  });

  test.each<readonly [field: string, item: object]>([
    ["toCall", { toCall: () => ({ args: "six" }) }],
    [
      "toCall",
      {
        toCall: () => {
          throw new Error("Oh.");
        },
      },
    ],
    ["toCall", { toCall: () => null }],
    [
      "needsAnswer",
      {
        answer: "dice_output",
        needsAnswer: () => {
          throw new Error("Oh.");
        },
      },
    ],
  ])("fails the response if its %s fails", async (field, item) => {
    const items = { dice_call: item, dice_output: {} };
    const tool = { ...offeredDice, items } as LocalTool;
    const { ask } = await start(tool, [createCallStep(["dice", { sides: 6 }])]);
    expect(await ask("POST /responses", { model: "any", input: "Roll.", tools })).toMatchObject({
      status: 500,
      body: {
        error: {
          message: expect.stringContaining(`Tool 'dice' failed in items.dice_call.${field}`),
        },
      },
    });
  });

  test.each<readonly [read: () => unknown, problem: string]>([
    [
      () => {
        throw new Error("Oh.");
      },
      "Tool 'dice' failed in functions.dice.read: Oh.",
    ],
    [() => 6, "Tool 'dice' failed in functions.dice.read: it must return an object"],
  ])("fails the response if reading its arguments fails: %s", async (read, problem) => {
    const functions = [{ name: "dice", description: "Rolls.", parameters, read }];
    const tool = { ...dice, functions } as unknown as LocalTool;
    const { ask } = await start(tool, [createCallStep(["dice", { sides: 6 }])]);
    expect(await ask("POST /responses", { model: "any", input: "Roll.", tools })).toMatchObject({
      status: 500,
      body: { error: { message: expect.stringContaining(problem), code: "tool_error" } },
    });
  });

  test("fails the response if the result of an answer is not a string", async () => {
    const tool = {
      ...dice,
      items: { dice_call: { answer: "dice_output" }, dice_output: { toResult: () => 6 } },
    } as unknown as LocalTool;
    const { ask } = await start(tool, []);
    const input = [
      { type: "dice_call", id: "d_1", call_id: "call_1" },
      { type: "dice_output", call_id: "call_1" },
    ];
    expect(await ask("POST /responses", { model: "any", input, tools })).toMatchObject({
      status: 500,
      body: { error: { message: expect.stringContaining("items.dice_output.toResult: it must") } },
    });
  });
});

function createCall(name: string, args: string) {
  return { id: "call_0", type: "function", function: { name, arguments: args } };
}
