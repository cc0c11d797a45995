import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  startUpstreamServer,
  type UpstreamServer,
  type UpstreamStep,
} from "../../../../tests/support/upstream-server.ts";
import { fakeClock } from "../../../testing/fake-clock.ts";
import { ApiProblem } from "../../api-problem.ts";
import type { ModelRequest } from "../local-model.ts";
import { type UpstreamModelOptions, upstreamModel } from "./upstream-model.ts";

const key = "sk-upstream-0123456789";
let server: UpstreamServer;

beforeAll(async () => {
  server = await startUpstreamServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const add = { type: "function", name: "add", parameters: { type: "object" }, strict: true };
const python = { type: "code_interpreter", container: { type: "auto" } };

function createRequest(over: Partial<ModelRequest> = {}): ModelRequest {
  const items = [{ type: "message", role: "user", content: "What is 6 times 7?" }];
  const base = { model: "gpt-5", instructions: null, items, tools: [], toolChoice: "auto" };
  return { ...base, format: null, turn: 0, text: "What is 6 times 7?", ...over };
}

async function respondWith(
  steps: readonly UpstreamStep[],
  over: Partial<ModelRequest> = {},
  options: Partial<UpstreamModelOptions> = {},
) {
  await server.play(steps);
  const model = upstreamModel({ baseURL: server.url, model: "qwen3", apiKey: key, ...options });
  return await model.respond(createRequest(over));
}

function createCallStep(
  ...calls: readonly (readonly [name: string, args: unknown])[]
): UpstreamStep {
  const tool_calls = calls.map(([name, args], place) => ({
    id: `call_${place}`,
    type: "function",
    function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
  }));
  return { message: { content: null, tool_calls } };
}

async function catchFailure(
  steps: readonly UpstreamStep[],
  options: Partial<UpstreamModelOptions> = {},
): Promise<ApiProblem> {
  const thrown = await respondWith(steps, { tools: [python] }, options).catch(
    (error: unknown) => error,
  );
  if (!(thrown instanceof ApiProblem))
    throw new Error("it did not fail as it should", { cause: thrown });
  expect(thrown.message).not.toContain(key);
  return thrown;
}

describe("upstreamModel()", () => {
  test("sends requests to another process, with the server's model name", async () => {
    expect(await respondWith([{ message: { content: "42" } }])).toEqual([{ say: "42" }]);
    const [asked] = await server.requests();
    expect(asked).toMatchObject({
      method: "POST",
      path: "/v1/chat/completions",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      pid: server.pid,
    });
    expect(asked?.pid).not.toBe(process.pid);
    expect(asked?.body).toEqual({
      model: "qwen3",
      messages: [{ role: "user", content: "What is 6 times 7?" }],
      stream: false,
    });
  });

  test("sends no key if there is none, and accepts trailing slashes in the URL", async () => {
    const options = { apiKey: undefined, baseURL: `${server.url}//` };
    await respondWith([{ message: { content: "42" } }], {}, options);
    const [asked] = await server.requests();
    expect(asked?.path).toBe("/v1/chat/completions");
    expect(asked?.headers).not.toHaveProperty("authorization");
  });

  test("sends instructions, functions, hosted tools, a choice and a schema", async () => {
    const schema = { type: "object", properties: {}, required: [], additionalProperties: false };
    await respondWith([{ message: { content: "{}" } }], {
      instructions: "Be brief.",
      tools: [add, python],
      toolChoice: { type: "code_interpreter" },
      format: { type: "json_schema", name: "answer", schema, strict: true },
    });
    const [asked] = await server.requests();
    expect(asked?.body).toMatchObject({
      messages: [{ role: "system", content: "Be brief." }, { role: "user" }],
      tools: [
        { type: "function", function: { name: "add", strict: true } },
        { type: "function", function: { name: "python" } },
      ],
      tool_choice: { type: "function", function: { name: "python" } },
      response_format: {
        type: "json_schema",
        json_schema: { name: "answer", schema, strict: true },
      },
    });
  });

  test("uses the Responses API on request, with functions only", async () => {
    const output = [
      { type: "reasoning", summary: [{ type: "summary_text", text: "Easy." }] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "Now." }] },
      { type: "function_call", call_id: "call_1", name: "add", arguments: '{"a":1}' },
    ];
    const over = { instructions: "Be brief.", tools: [add, python], toolChoice: "required" };
    expect(await respondWith([{ output }], over, { api: "responses" })).toEqual([
      { think: "Easy." },
      { say: "Now." },
      { call: { name: "add", args: '{"a":1}' } },
    ]);
    const [asked] = await server.requests();
    expect(asked?.path).toBe("/v1/responses");
    expect(asked?.body).toMatchObject({
      model: "qwen3",
      instructions: "Be brief.",
      input: [{ role: "user", content: [{ type: "input_text", text: "What is 6 times 7?" }] }],
      tools: [
        { type: "function", name: "add", strict: true },
        { type: "function", name: "python", strict: false },
      ],
      tool_choice: "required",
      store: false,
    });
  });

  test("accepts a custom fetch", async () => {
    const seen: string[] = [];
    const fetch: typeof globalThis.fetch = async (url) => {
      seen.push(String(url));
      return Response.json({ choices: [{ message: { content: "Hi." } }] });
    };
    const model = upstreamModel({ baseURL: "http://model.test/v1", model: "m", fetch });
    expect(await model.respond(createRequest())).toEqual([{ say: "Hi." }]);
    expect(seen).toEqual(["http://model.test/v1/chat/completions"]);
  });
});

describe("an invalid hosted call", () => {
  test("is returned to the model once, with the problem", async () => {
    const steps = [
      createCallStep(["python", "print(6*7)"]),
      createCallStep(["python", { code: "print(42)" }]),
    ];
    expect(await respondWith(steps, { tools: [python] })).toEqual([{ code: "print(42)" }]);
    const [, again] = await server.requests();
    expect(again?.body).toMatchObject({
      messages: [
        { role: "user" },
        {
          role: "assistant",
          tool_calls: [{ function: { name: "python", arguments: '{"input":"print(6*7)"}' } }],
        },
        { role: "tool", content: expect.stringContaining("the arguments of python are not") },
      ],
    });
  });

  test("fails the second time, with the reason", async () => {
    const bad = createCallStep(["python", { source: "print(42)" }]);
    const problem = await catchFailure([bad, bad]);
    expect(problem).toMatchObject({ status: 502, type: "server_error", code: "upstream_error" });
    expect(problem.message).toContain("made an invalid call twice, even after a correction");
    expect(problem.message).toContain('they are {"source":"print(42)"}');
    expect(await server.requests()).toHaveLength(2);
  });

  test("cancels parallel calls, which the model must repeat", async () => {
    const steps = [
      createCallStep(["add", { a: 1 }], ["draw", {}]),
      createCallStep(["add", { a: 1 }], ["python", { code: "1" }]),
    ];
    const tools = [add, python];
    expect(await respondWith(steps, { tools })).toEqual([
      { call: { name: "add", args: '{"a":1}' } },
      { code: "1" },
    ]);
    const [, again] = await server.requests();
    expect(again?.body).toMatchObject({
      messages: [
        { role: "user" },
        { role: "assistant" },
        {
          role: "tool",
          tool_call_id: "call_refused_0",
          content: /because another call in the same answer was invalid/,
        },
        {
          role: "tool",
          tool_call_id: "call_refused_1",
          content:
            'This call was not made: the function "draw" does not exist; the functions are "add", "python". Correct it and call again.',
        },
      ].map((message) =>
        message.content instanceof RegExp
          ? { ...message, content: expect.stringMatching(message.content) }
          : message,
      ),
    });
  });
});

describe("an upstream failure", () => {
  test.each([
    [
      401,
      { error: { message: `Incorrect key ${key}.` } },
      "answered 401: Incorrect key <redacted>.",
    ],
    [400, { error: "no such model" }, "answered 400: no such model."],
    [404, { detail: "Not Found" }, "answered 404: Not Found."],
    [422, { error: { code: 3 } }, 'answered 422: {"code":3}.'],
    [500, "<h1>Oops</h1>\n", "answered 500: <h1>Oops</h1>."],
    [503, "", "answered 503."],
    [302, "", "answered 302."],
    [200, "data: hello", "answered 200 but not with a JSON object: data: hello."],
    [200, "[]", "answered 200 but not with a JSON object: []."],
    [200, { error: { message: "Overloaded" } }, "answered 200 with an error: Overloaded."],
    [200, { choices: [] }, "returned no answer: no choice with a message."],
    [200, {}, "returned no answer: no choice with a message."],
  ])(
    "with status %i becomes a 502 with the URL and the server's message",
    async (status, body, said) => {
      const problem = await catchFailure([{ status, body }]);
      expect(problem.message).toBe(`The upstream model at ${server.url}/chat/completions ${said}`);
      expect(problem).toMatchObject({ status: 502, type: "server_error", code: "upstream_error" });
    },
  );

  test("with status 429 is passed on with its retry headers", async () => {
    const body = { error: { message: "Slow down." } };
    const headers = { "retry-after": "7", "retry-after-ms": "6500" };
    const problem = await catchFailure([{ status: 429, body, headers }]);
    expect(problem).toMatchObject({ status: 429, code: "rate_limit_exceeded", headers });
    expect(problem.message).toContain("answered 429: Slow down.");
    expect((await catchFailure([{ status: 429, body }])).headers).toEqual({});
  });

  test("with a long message is quoted in part", async () => {
    const problem = await catchFailure([{ status: 500, body: "x".repeat(10_000) }]);
    expect(problem.message.length).toBeLessThan(700);
  });

  test("of the Responses API without output, or with an error, becomes a 502", async () => {
    const options = { api: "responses" } as const;
    const empty = await catchFailure([{ body: {} }], options);
    expect(empty.message).toBe(
      `The upstream model at ${server.url}/responses returned no answer: no output.`,
    );
    const body = { status: "failed", error: { message: `bad ${key}` }, output: [] };
    const failed = await catchFailure([{ body }], options);
    expect(failed.message).toContain("answered 200 with an error: bad <redacted>.");
    const silent = await catchFailure([{ body: { status: "failed", error: null } }], options);
    expect(silent.message).toContain("returned no answer: a response that failed.");
  });

  test("to connect, or a closed connection, becomes a 502", async () => {
    const gone = await startUpstreamServer();
    await gone[Symbol.asyncDispose]();
    const refused = await catchFailure([], { baseURL: gone.url });
    expect(refused.message).toMatch(/could not be reached: .*ECONNREFUSED/);
    const dropped = await catchFailure([{ drop: true }]);
    expect(dropped.message).toContain("could not be reached: other side closed");
    expect([refused.status, dropped.status]).toEqual([502, 502]);
  });

  test("with several connection errors and no message is reported by its code", async () => {
    const cause = Object.assign(new AggregateError([], ""), { code: "ECONNREFUSED" });
    const fetch = () => Promise.reject(new TypeError("fetch failed", { cause }));
    expect((await catchFailure([], { fetch })).message).toContain(
      "could not be reached: ECONNREFUSED.",
    );
  });

  test.each(["before", "within"] as const)(
    "to answer in time (%s the answer) becomes a 502",
    async (stall) => {
      const clock = fakeClock();
      await server.play([]);
      const failed = catchFailure([{ stall }], { timeoutMs: 1_000, clock });
      while ((await server.requests()).length === 0) await new Promise(setImmediate);
      await clock.advance(1_000);
      expect((await failed).message).toContain("did not answer within 1000 ms.");
      expect(clock.sleeping).toBe(0);
    },
  );
});

describe("a client that disconnects", () => {
  test("aborts the upstream request with its own reason", async () => {
    await server.play([{ stall: "before" }]);
    const controller = new AbortController();
    const reason = new Error("The client disconnected.");
    const model = upstreamModel({ baseURL: server.url, model: "m" });
    const answer = model.respond(createRequest(), { signal: controller.signal });
    const failed = expect(answer).rejects.toBe(reason);
    while ((await server.requests()).length === 0) await new Promise(setImmediate);
    controller.abort(reason);
    await failed;
    while ((await server.gone()) === 0) await new Promise(setImmediate);
    expect(await server.gone()).toBe(1);
  });

  test("before the request prevents it", async () => {
    await server.play([]);
    const model = upstreamModel({ baseURL: server.url, model: "m" });
    const signal = AbortSignal.abort("enough");
    await expect(model.respond(createRequest(), { signal })).rejects.toBe("enough");
    expect(await server.requests()).toEqual([]);
  });

  test("aborts even a fetch that ignores its signal", async () => {
    const controller = new AbortController();
    const fetch = () => new Promise<Response>(() => {});
    const model = upstreamModel({ baseURL: "http://model.test", model: "m", fetch });
    const failed = expect(
      model.respond(createRequest(), { signal: controller.signal }),
    ).rejects.toBe(1);
    controller.abort(1);
    await failed;
  });
});
