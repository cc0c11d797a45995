import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type UpstreamServer,
  type UpstreamStep,
  upstreamServer,
} from "../../../../tests/support/upstream-server.ts";
import { fakeClock } from "../../../testing/fake-clock.ts";
import { ApiProblem } from "../../api-problem.ts";
import type { ModelRequest } from "../local-model.ts";
import { type UpstreamModelOptions, upstreamModel } from "./upstream-model.ts";

const key = "sk-upstream-0123456789";
let server: UpstreamServer;

beforeAll(async () => {
  server = await upstreamServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const add = { type: "function", name: "add", parameters: { type: "object" }, strict: true };
const python = { type: "code_interpreter", container: { type: "auto" } };

function request(over: Partial<ModelRequest> = {}): ModelRequest {
  const items = [{ type: "message", role: "user", content: "What is 6 times 7?" }];
  const base = { model: "gpt-5", instructions: null, items, tools: [], toolChoice: "auto" };
  return { ...base, format: null, turn: 0, text: "What is 6 times 7?", ...over };
}

async function answers(
  steps: readonly UpstreamStep[],
  over: Partial<ModelRequest> = {},
  options: Partial<UpstreamModelOptions> = {},
) {
  await server.play(steps);
  const model = upstreamModel({ baseURL: server.url, model: "qwen3", apiKey: key, ...options });
  return await model.respond(request(over));
}

function calling(...calls: readonly (readonly [name: string, args: unknown])[]): UpstreamStep {
  const tool_calls = calls.map(([name, args], place) => ({
    id: `call_${place}`,
    type: "function",
    function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
  }));
  return { message: { content: null, tool_calls } };
}

async function failure(
  steps: readonly UpstreamStep[],
  options: Partial<UpstreamModelOptions> = {},
): Promise<ApiProblem> {
  const thrown = await answers(steps, { tools: [python] }, options).catch(
    (error: unknown) => error,
  );
  if (!(thrown instanceof ApiProblem))
    throw new Error("it did not fail as it should", { cause: thrown });
  expect(thrown.message).not.toContain(key);
  return thrown;
}

describe("an upstream model", () => {
  test("is asked in a process of its own, under the name that its server has for it", async () => {
    expect(await answers([{ message: { content: "42" } }])).toEqual([{ say: "42" }]);
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

  test("gets no key where there is none, whatever slashes its address ends in", async () => {
    const options = { apiKey: undefined, baseURL: `${server.url}//` };
    await answers([{ message: { content: "42" } }], {}, options);
    const [asked] = await server.requests();
    expect(asked?.path).toBe("/v1/chat/completions");
    expect(asked?.headers).not.toHaveProperty("authorization");
  });

  test("gets instructions, functions, hosted tools, a choice and a schema", async () => {
    const schema = { type: "object", properties: {}, required: [], additionalProperties: false };
    await answers([{ message: { content: "{}" } }], {
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

  test("speaks Responses where it is told to, with functions only", async () => {
    const output = [
      { type: "reasoning", summary: [{ type: "summary_text", text: "Easy." }] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "Now." }] },
      { type: "function_call", call_id: "call_1", name: "add", arguments: '{"a":1}' },
    ];
    const over = { instructions: "Be brief.", tools: [add, python], toolChoice: "required" };
    expect(await answers([{ output }], over, { api: "responses" })).toEqual([
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

  test("may be reached through a fetch of the caller's", async () => {
    const seen: string[] = [];
    const fetch: typeof globalThis.fetch = async (url) => {
      seen.push(String(url));
      return Response.json({ choices: [{ message: { content: "Hi." } }] });
    };
    const model = upstreamModel({ baseURL: "http://model.test/v1", model: "m", fetch });
    expect(await model.respond(request())).toEqual([{ say: "Hi." }]);
    expect(seen).toEqual(["http://model.test/v1/chat/completions"]);
  });
});

describe("a hosted call that cannot be made", () => {
  test("is sent back to the model once, with what is wrong", async () => {
    const steps = [calling(["python", "print(6*7)"]), calling(["python", { code: "print(42)" }])];
    expect(await answers(steps, { tools: [python] })).toEqual([{ code: "print(42)" }]);
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

  test("fails the second time, and says why", async () => {
    const bad = calling(["python", { source: "print(42)" }]);
    const problem = await failure([bad, bad]);
    expect(problem).toMatchObject({ status: 502, type: "server_error", code: "upstream_error" });
    expect(problem.message).toContain("called in vain, and again after it was told");
    expect(problem.message).toContain('they are {"source":"print(42)"}');
    expect(await server.requests()).toHaveLength(2);
  });

  test("stops those beside it, which are to be made again", async () => {
    const steps = [
      calling(["add", { a: 1 }], ["draw", {}]),
      calling(["add", { a: 1 }], ["python", { code: "1" }]),
    ];
    const tools = [add, python];
    expect(await answers(steps, { tools })).toEqual([
      { call: { name: "add", args: '{"a":1}' } },
      { code: "1" },
    ]);
    const [, again] = await server.requests();
    expect(again?.body).toMatchObject({
      messages: [
        { role: "user" },
        { role: "assistant" },
        { role: "tool", tool_call_id: "call_refused_0", content: /because another one beside it/ },
        {
          role: "tool",
          tool_call_id: "call_refused_1",
          content:
            'This call was not made: there is no function "draw": there are "add", "python". Call again, and mend that.',
        },
      ].map((message) =>
        message.content instanceof RegExp
          ? { ...message, content: expect.stringMatching(message.content) }
          : message,
      ),
    });
  });
});

describe("an upstream that fails", () => {
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
    [200, "data: hello", "answered 200 with what is no JSON object: data: hello."],
    [200, "[]", "answered 200 with what is no JSON object: []."],
    [200, { error: { message: "Overloaded" } }, "answered 200 with an error: Overloaded."],
    [200, { choices: [] }, "gave no answer: no choice with a message."],
    [200, {}, "gave no answer: no choice with a message."],
  ])("with %i is a 502 that names its address and what it said", async (status, body, said) => {
    const problem = await failure([{ status, body }]);
    expect(problem.message).toBe(`The upstream model at ${server.url}/chat/completions ${said}`);
    expect(problem).toMatchObject({ status: 502, type: "server_error", code: "upstream_error" });
  });

  test("for too many requests is passed on, with how long to wait", async () => {
    const body = { error: { message: "Slow down." } };
    const headers = { "retry-after": "7", "retry-after-ms": "6500" };
    const problem = await failure([{ status: 429, body, headers }]);
    expect(problem).toMatchObject({ status: 429, code: "rate_limit_exceeded", headers });
    expect(problem.message).toContain("answered 429: Slow down.");
    expect((await failure([{ status: 429, body }])).headers).toEqual({});
  });

  test("and says more than anyone reads is quoted in part", async () => {
    const problem = await failure([{ status: 500, body: "x".repeat(10_000) }]);
    expect(problem.message.length).toBeLessThan(700);
  });

  test("by answering Responses with nothing, or a failure, is a 502 too", async () => {
    const options = { api: "responses" } as const;
    const empty = await failure([{ body: {} }], options);
    expect(empty.message).toBe(
      `The upstream model at ${server.url}/responses gave no answer: no output.`,
    );
    const body = { status: "failed", error: { message: `bad ${key}` }, output: [] };
    const failed = await failure([{ body }], options);
    expect(failed.message).toContain("answered 200 with an error: bad <redacted>.");
    const silent = await failure([{ body: { status: "failed", error: null } }], options);
    expect(silent.message).toContain("gave no answer: a response that failed.");
  });

  test("by not being there, or by ending the connection, is a 502", async () => {
    const gone = await upstreamServer();
    await gone[Symbol.asyncDispose]();
    const refused = await failure([], { baseURL: gone.url });
    expect(refused.message).toMatch(/could not be asked: .*ECONNREFUSED/);
    const dropped = await failure([{ drop: true }]);
    expect(dropped.message).toContain("could not be asked: other side closed");
    expect([refused.status, dropped.status]).toEqual([502, 502]);
  });

  test("by a connection with many errors and no message is told by its code", async () => {
    const cause = Object.assign(new AggregateError([], ""), { code: "ECONNREFUSED" });
    const fetch = () => Promise.reject(new TypeError("fetch failed", { cause }));
    expect((await failure([], { fetch })).message).toContain("could not be asked: ECONNREFUSED.");
  });

  test.each(["before", "within"] as const)(
    "by silence %s its answer is a 502 in time",
    async (stall) => {
      const clock = fakeClock();
      await server.play([]);
      const failed = failure([{ stall }], { timeoutMs: 1_000, clock });
      while ((await server.requests()).length === 0) await new Promise(setImmediate);
      await clock.advance(1_000);
      expect((await failed).message).toContain("did not answer within 1000 ms.");
      expect(clock.sleeping).toBe(0);
    },
  );
});

describe("a client that has gone", () => {
  test("ends the request to the upstream with its own reason", async () => {
    await server.play([{ stall: "before" }]);
    const controller = new AbortController();
    const reason = new Error("the client has gone");
    const model = upstreamModel({ baseURL: server.url, model: "m" });
    const answer = model.respond(request(), { signal: controller.signal });
    const failed = expect(answer).rejects.toBe(reason);
    while ((await server.requests()).length === 0) await new Promise(setImmediate);
    controller.abort(reason);
    await failed;
    while ((await server.gone()) === 0) await new Promise(setImmediate);
    expect(await server.gone()).toBe(1);
  });

  test("before anything was asked leaves the upstream alone", async () => {
    await server.play([]);
    const model = upstreamModel({ baseURL: server.url, model: "m" });
    const signal = AbortSignal.abort("enough");
    await expect(model.respond(request(), { signal })).rejects.toBe("enough");
    expect(await server.requests()).toEqual([]);
  });

  test("is noticed also through a fetch that looks at no signal", async () => {
    const controller = new AbortController();
    const fetch = () => new Promise<Response>(() => {});
    const model = upstreamModel({ baseURL: "http://model.test", model: "m", fetch });
    const failed = expect(model.respond(request(), { signal: controller.signal })).rejects.toBe(1);
    controller.abort(1);
    await failed;
  });
});
