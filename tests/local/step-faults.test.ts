import OpenAI from "openai";
import { describe, expect, onTestFinished, test } from "vitest";
import { PromptEvaluationError, Session, ThrottleError } from "weakincentives";
import { LocalProvider, type ModelAction, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";
import type { WireItem } from "../../src/openai/wire.ts";
import { createRequester, startProviderFixture } from "../support/local/provider-fixture.ts";
import { createTaskPrompt, lookTool } from "../support/openai-run.ts";

const look = { type: "function", name: "look", parameters: { type: "object", properties: {} } };
const python = { type: "code_interpreter", container: { type: "auto" } };
const patch = { type: "apply_patch" };

interface Fault {
  readonly action: ModelAction;
  readonly tools?: readonly WireItem[];
  readonly request?: WireItem;
  readonly message: string;
}

const faults: readonly Fault[] = [
  {
    action: { call: { name: "loook", args: {} } },
    tools: [look, python],
    message:
      'the model called the function "loook", but the request does not offer it. It offers "look" and the hosted tool "code_interpreter". Did you mean "look"?',
  },
  {
    action: { call: { name: "look", args: {} } },
    message:
      'the model called the function "look", but the request does not offer it. It offers no tools. Change the step, or offer the tool.',
  },
  {
    action: { code: "print(1)" },
    tools: [look],
    message:
      'the model ran code, but the request does not offer code_interpreter. It offers "look". Change the step, or offer the tool.',
  },
  { action: { shell: ["ls"] }, tools: [python], message: "the request does not offer shell" },
  {
    action: { search: { file: "owls" } },
    message: "the model searched files, but the request does not offer file_search",
  },
  {
    action: { search: { web: "owls" } },
    message: "the model searched the web, but the request does not offer web_search",
  },
  {
    action: { search: { web: "owls" } },
    tools: [{ type: "web_search" }],
    message: "There are no pages to search",
  },
  {
    action: { search: { open: "https://owls.example" } },
    tools: [{ type: "web_search" }],
    message: "There are no pages to search",
  },
  {
    action: { patch: [{ type: "delete_file", path: "a" }] },
    message: "the model wrote a patch, but the request does not offer apply_patch",
  },
  {
    action: { use: { kind: "dice", args: {} } },
    tools: [patch],
    message: 'the model used a tool of kind "dice", but there are only',
  },
  {
    action: { use: { kind: "apply_patch", args: {} } },
    tools: [patch],
    message: "which do not match",
  },
  {
    action: { code: "print(1)" },
    tools: [look, python],
    request: { tool_choice: "none" },
    message: 'It offers no tools, because its tool_choice is "none".',
  },
  {
    action: { code: "print(1)" },
    tools: [look, python],
    request: {
      tool_choice: {
        type: "allowed_tools",
        mode: "auto",
        tools: [{ type: "function", name: "look" }],
      },
    },
    message: 'It offers only "look", because its tool_choice is {"type":"allowed_tools"',
  },
];

/** Returns the error of a request: its HTTP status, whether clients may retry it, and its message. */
async function askForError(
  ask: (
    route: string,
    body: unknown,
  ) => Promise<{ status: number; headers: Headers; body: WireItem }>,
  body: WireItem,
) {
  const { status, headers, body: answer } = await ask("POST /responses", { model: "any", ...body });
  return { status, retry: headers.get("x-should-retry"), error: answer["error"] };
}

describe("a step that the request does not allow", () => {
  test.each(faults)("fails the same way again and again: $message", async (fault) => {
    const { action, tools = [], request = {}, message } = fault;
    const script = [[{ think: "Hm." }, action], [{ say: "All is well." }]];
    const { ask, provider } = await startProviderFixture(script);
    const inProcess = createRequester(provider.fetch, "http://local/v1").ask;
    const expected = {
      status: 500,
      retry: "false",
      error: { message: expect.stringContaining(message), type: "server_error" },
    };
    for (const stream of [false, true]) {
      for (const via of [ask, inProcess]) {
        const found = await askForError(via, { input: "Hi.", tools, stream, ...request });
        expect(found).toMatchObject(expected);
        expect(Object(found.error).message).toMatch(/^Step 1 failed: /);
      }
    }
  });

  test("runs once the request offers its tool", async () => {
    const script: readonly (readonly ModelAction[])[] = [
      [{ say: "One." }],
      [{ call: { name: "look", args: {} } }],
      [{ say: "Three." }],
    ];
    const { ask, respond } = await startProviderFixture(script);
    await respond({ input: "Hi." });
    const { error } = await askForError(ask, { input: "Hi." });
    expect(Object(error).message).toMatch(/^Step 2 failed: /);
    const { output } = await respond({ input: "Hi.", tools: [look] });
    expect(output).toMatchObject([{ type: "function_call", name: "look" }]);
  });

  test("fails after an earlier step of the same turn has run, within the stream", async () => {
    const script: readonly (readonly ModelAction[])[] = [[{ think: "Hm." }], [{ code: "1" }]];
    const { stream, ask } = await startProviderFixture([...script, [{ say: "All is well." }]]);
    const events = await stream({ input: "Hi." });
    const message = expect.stringMatching(/^Step 2 failed: the model ran code/);
    expect(events.at(-2)).toMatchObject({ type: "error", error: { code: "model_error", message } });
    const error = { code: "invalid_prompt", message }; // of OpenAI's codes, one that is not retried
    expect(events.at(-1)).toMatchObject({ response: { status: "failed", error } });
    expect(await askForError(ask, { input: "Hi." })).toMatchObject({
      retry: "false",
      error: { message },
    });
  });

  test("calls a made-up function only with madeUp", async () => {
    const call = { name: "made_up", args: {}, madeUp: true };
    const { respond } = await startProviderFixture([[{ call }]]);
    const { output } = await respond({ input: "Hi.", tools: [look] });
    expect(output).toMatchObject([{ type: "function_call", name: "made_up" }]);
  });

  test("is not run in part", async () => {
    const script = [[{ code: "open('ran.txt', 'w')" }, { call: { name: "gone", args: {} } }]];
    const { ask, provider } = await startProviderFixture(script);
    const { error } = await askForError(ask, { input: "Hi.", tools: [python] });
    expect(Object(error).message).toContain('the function "gone"');
    const { body } = await createRequester(provider.fetch, "http://local/v1").ask(
      "GET /containers",
    );
    expect(body["data"]).toEqual([]);
  });
});

describe("a script function", () => {
  test.each<[string, () => never, string]>([
    [
      "throws",
      () => {
        throw new Error("expected 3 tools");
      },
      "Step 1 failed: the script threw an error: expected 3 tools",
    ],
    [
      "returns an unknown action",
      () => [{ shout: "Hi!" }] as never,
      "steps(request)[0] key must be",
    ],
    ["returns nothing", () => undefined as never, "steps(request) must be a non-empty array"],
  ])("that %s fails without a retry", async (_, script, message) => {
    const faultsSeen: unknown[] = [];
    const { ask } = await startProviderFixture(script, {
      onFault: (error) => faultsSeen.push(error),
    });
    for (const stream of [false, true]) {
      const found = await askForError(ask, { input: "Hi.", stream });
      expect(found).toMatchObject({ status: 500, retry: "false", error: { code: "model_error" } });
      expect(Object(found.error).message).toContain(message);
    }
  });
});

test("a LocalModel that returns no list of actions fails without a retry", async () => {
  const model = { respond: async () => ({ say: "Hi." }) as never };
  const { ask } = await startProviderFixture([], { model });
  expect(await askForError(ask, { input: "Hi." })).toMatchObject({
    retry: "false",
    error: {
      message: expect.stringContaining(
        "Step 1 failed: the model's answer must be a non-empty array",
      ),
    },
  });
});

test("the script's end is reported for the same request number each time", async () => {
  const { ask } = await startProviderFixture([]);
  const first = await askForError(ask, { input: "Hi." });
  expect(first).toMatchObject({ retry: "false", error: { code: "script_ended" } });
  expect(await askForError(ask, { input: "Hi." })).toEqual(first);
});

describe("clients that retry by themselves", () => {
  const script: readonly (readonly ModelAction[])[] = [
    [{ call: { name: "renamed", args: {} } }],
    [{ say: "All is well." }],
  ];

  function createProvider() {
    let calls = 0;
    const scripted = scriptedModel(script);
    const model = {
      respond: (...args: Parameters<typeof scripted.respond>) => {
        calls += 1;
        return scripted.respond(...args);
      },
    };
    const provider = new LocalProvider({ model });
    onTestFinished(() => provider[Symbol.asyncDispose]());
    return { provider, countCalls: () => calls };
  }

  test.each([false, true])("do not with OpenAI's client, streamed: %s", async (stream) => {
    const { provider, countCalls } = createProvider();
    const { url } = await provider.listen();
    const client = new OpenAI({ baseURL: url, apiKey: "local" });
    const asked = client.responses.create({ model: "any", input: "Hi.", stream });
    await expect(asked).rejects.toThrow('Step 1 failed: the model called the function "renamed"');
    expect(countCalls()).toBe(1);
  });

  test("do not with the OpenAI adapter", async () => {
    const { provider, countCalls } = createProvider();
    const adapter = new OpenAIAdapter({ model: "any", clientConfig: { fetch: provider.fetch } });
    const prompt = createTaskPrompt({ tools: [lookTool] });
    const failed = await adapter
      .evaluate(prompt, { session: new Session() })
      .catch((error) => error);
    expect(failed).toBeInstanceOf(PromptEvaluationError);
    expect(failed).not.toBeInstanceOf(ThrottleError);
    expect(failed.message).toContain(
      'Step 1 failed: the model called the function "renamed", but the request does not offer it. It offers "look".',
    );
    expect(countCalls()).toBe(1);
  });
});
