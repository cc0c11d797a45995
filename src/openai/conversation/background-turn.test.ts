import { describe, expect, onTestFinished, test, vi } from "vitest";
import { MemorySessionStore } from "../../../tests/support/memory-session-store.ts";
import { clients, testKey } from "../../../tests/support/openai-clients.ts";
import { createTaskPrompt, runScript } from "../../../tests/support/openai-run.ts";
import {
  message,
  type RouteAnswer,
  startWireServer,
  type WireScript,
} from "../../../tests/support/wire-server.ts";
import { toStreamEvents } from "../../../tests/support/wire-stream.ts";
import type { TurnRequest } from "../../adapter/model-client.ts";
import type { ResponsePart } from "../../adapter/turn-observer.ts";
import { PromptEvaluationError, ThrottleError } from "../../base/evaluation-errors.ts";
import { Session } from "../../session/session.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { recordingBus } from "../../testing/recording-bus.ts";
import { OpenAIAdapter } from "../adapter.ts";
import { toAdapterSettings } from "../adapter-options.ts";
import { EgressLog } from "../http/egress-log.ts";
import type { WireItem } from "../wire.ts";
import { Conversation } from "./conversation.ts";

const whole: WireItem = {
  id: "resp_1",
  object: "response",
  status: "completed",
  background: true,
  model: "gpt-5.2",
  output: [{ id: "msg_1", ...message("Hello, world. How are you?") }],
  usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
};
const queued = { ...whole, status: "queued", output: [], usage: null };
const running = { ...queued, status: "in_progress" };
const events = toStreamEvents(whole);
const streamed = { events };
const refused: RouteAnswer = {
  status: 400,
  error: {
    message: "This response can no longer be streamed because it is more than 5 minutes old.",
    type: "invalid_request_error",
    param: "stream",
  },
};
const gone: RouteAnswer = {
  status: 404,
  error: { message: "Response with id 'resp_1' not found.", type: "invalid_request_error" },
};
const down: RouteAnswer = { status: 503, error: { message: "Overloaded." } };

/** Answers `GET /responses/resp_1` with one answer after the other; the last one stays. */
function playRoutes(stream: readonly RouteAnswer[], json: readonly RouteAnswer[] = []) {
  const left = { stream: [...stream], json: [...json] };
  const take = (answers: RouteAnswer[]) =>
    (answers.length > 1 ? answers.shift() : answers[0]) ?? gone;
  return {
    "GET /responses/resp_1": ({ query }: { readonly query: URLSearchParams }) =>
      take(query.has("stream") ? left.stream : left.json),
    "POST /responses/resp_1/cancel": { json: { ...running, status: "cancelled" } },
  };
}

describe.each(clients)("a turn in the background on %s", (_, client) => {
  const run = async (
    script: WireScript,
    routes: Readonly<Record<string, RouteAnswer | ((request: never) => RouteAnswer)>>,
    more: Partial<Parameters<typeof runScript>[1]> = {},
  ) => {
    const { adapter, ...rest } = more;
    return await runScript(script, {
      client,
      server: { routes: routes as never },
      adapter: { delivery: "background", ...adapter },
      ...rest,
    });
  };

  test("is requested with storage, and its response is read like another stream", async () => {
    const { bodies, response, bus, requests } = await run([streamed], {});
    expect(response).toMatchObject({
      text: "Hello, world. How are you?",
      usage: { totalTokens: 7 },
    });
    expect(Object.keys(bodies[0] ?? {}).slice(-4)).toEqual([
      ...["store", "background", "stream", "stream_options"],
    ]);
    expect(bodies[0]).toMatchObject({ store: true, background: true, stream: true });
    expect(requests).toHaveLength(1);
    expect(bus.of("PromptExecuted")).toMatchObject([{ requestIds: ["req_1"] }]);
  });

  test("does not repeat a storage setting of the model config", async () => {
    const adapter = { modelConfig: { store: true } };
    const { requests } = await run([streamed], {}, { adapter });
    expect(requests[0]?.text.match(/"store"/g)).toHaveLength(1);
  });

  test("continues after the last event of a stream that was cut", async () => {
    const cut = { events: events.slice(0, 5) };
    const rest = { events: [...Array.from({ length: 5 }, () => ""), ...events.slice(5)] };
    const { requests, response, bus } = await run([cut], playRoutes([rest]));
    expect(response?.text).toBe("Hello, world. How are you?");
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /responses",
      "GET /responses/resp_1",
    ]);
    expect(Object.fromEntries(requests[1]?.query ?? [])).toEqual({
      stream: "true",
      starting_after: "4",
      include_obfuscation: "false",
    });
    // The official client does not reveal the id of a request whose stream is cut.
    const requestIds = [client("http://x").client ? "req_2" : "req_1"];
    expect(bus.of("PromptExecuted")).toMatchObject([{ requestIds }]);
  });

  test("ignores events that it already has", async () => {
    const { response } = await run([{ events: events.slice(0, 5) }], playRoutes([streamed]));
    expect(response?.text).toBe("Hello, world. How are you?");
  });

  test("asks for the response if it can no longer be streamed", async () => {
    const routes = playRoutes([refused], [{ json: running }, { json: running }, { json: whole }]);
    const { requests, response } = await run([{ events: events.slice(0, 5) }], routes);
    expect(response?.text).toBe("Hello, world. How are you?");
    expect(requests).toHaveLength(5);
  });

  test("asks for the response if its events have no numbers", async () => {
    const plain = events.slice(0, 5).map((event) => `data: ${JSON.stringify(event)}\n\n`);
    const routes = playRoutes([down], [{ json: whole }]);
    const { requests, response } = await run([{ events: plain }], routes);
    expect(response?.text).toBe("Hello, world. How are you?");
    expect(requests).toHaveLength(2);
  });

  test("accepts JSON where a stream was requested", async () => {
    const routes = playRoutes([{ json: running }], [{ json: running }, { json: whole }]);
    expect((await run([{ json: queued }], routes)).response?.text).toBe(
      "Hello, world. How are you?",
    );
    const atOnce = await run([{ json: queued }], playRoutes([{ json: whole }]));
    expect(atOnce.response?.text).toBe("Hello, world. How are you?");
    const { response } = await run([{ json: whole }], {});
    expect(response?.text).toBe("Hello, world. How are you?");
  });

  test("is sent again if the provider loses its response", async () => {
    const script = [
      { events: events.slice(0, 5) },
      { events: toStreamEvents({ ...whole, id: "resp_2" }) },
    ];
    const { bodies, response } = await run(script, playRoutes([gone]));
    expect(bodies).toHaveLength(2);
    expect(response?.text).toBe("Hello, world. How are you?");
    const polled = await run(script, playRoutes([refused]));
    expect(polled.response?.text).toBe("Hello, world. How are you?");
    const adapter = { throttle: { maxAttempts: 1 } };
    const { error } = await run(script, playRoutes([gone]), { adapter });
    expect(error?.message).toContain("The provider no longer has the response resp_1");
  });

  test("gives up after as many attempts as throttle allows, and then cancels", async () => {
    const adapter = { throttle: { maxAttempts: 3 } };
    const { error, bodies, requests } = await run(
      [{ events: events.slice(0, 5) }],
      playRoutes([down]),
      { adapter },
    );
    expect(error).toBeInstanceOf(ThrottleError);
    expect(error).toMatchObject({ attempts: 3, kind: "server", promptName: "test:run" });
    expect(bodies).toHaveLength(1);
    expect(requests.map(({ method }) => method)).toEqual(["POST", "GET", "GET", "GET", "POST"]);
  });

  test("counts attempts again after a resumption that brought an event", async () => {
    const adapter = { throttle: { maxAttempts: 2 } };
    const piece = (from: number, to: number): RouteAnswer => ({
      events: [...Array.from({ length: from }, () => ""), ...events.slice(from, to)],
    });
    const routes = playRoutes([
      down,
      piece(3, 4),
      down,
      piece(4, 6),
      down,
      piece(6, events.length),
    ]);
    const { response } = await run([piece(0, 3)], routes, { adapter });
    expect(response?.text).toBe("Hello, world. How are you?");
  });

  test("fails if its first events do not arrive, like another stream", async () => {
    const adapter = { throttle: { maxAttempts: 2 } };
    const { error, bodies } = await run([{ events: [] }, { events: [] }], {}, { adapter });
    expect(error).toBeInstanceOf(ThrottleError);
    expect(bodies).toHaveLength(2);
    const limited = { status: 429, error: { message: "Slow down." } };
    const refusal = await run([limited, limited], {}, { adapter });
    expect(refusal.error?.message).toContain("POST /responses failed with status 429: Slow down");
  });

  test("may have an invalid event before its id", async () => {
    const { response } = await run([{ events: ["data: null\n\n", ...events] }], {});
    expect(response?.text).toBe("Hello, world. How are you?");
  });

  test.each<[string, WireItem, RegExp]>([
    ["failed", { status: "failed", error: { code: "server_error", message: "Oh." } }, /Oh/],
    ["was cancelled", { status: "cancelled", output: [] }, /status "cancelled"/],
  ])("reports a response that %s", async (_title, fields, expected) => {
    const adapter = { throttle: { maxAttempts: 1 } };
    const ended = { ...whole, ...fields };
    for (const answer of [{ json: ended }, { events: toStreamEvents(ended) }]) {
      const { error } = await run([answer], {}, { adapter });
      expect(error).toBeInstanceOf(PromptEvaluationError);
      expect(error?.message).toMatch(expected);
    }
  });

  test("uses a response that is incomplete", async () => {
    const cut = {
      ...whole,
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    };
    const { response } = await run([{ json: queued }], playRoutes([refused], [{ json: cut }]));
    expect(response?.finishReason).toBe("length");
  });

  test("is polled if the provider refuses to stream", async () => {
    const warnings = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    onTestFinished(() => warnings.mockRestore());
    const { bodies, response } = await run(
      [refused, { json: queued }],
      playRoutes([down], [{ json: running }, { json: whole }]),
    );
    expect(response?.text).toBe("Hello, world. How are you?");
    expect(bodies[1]).toMatchObject({ background: true });
    expect(bodies[1]).not.toHaveProperty("stream");
  });

  test("asks for the fields that its tools need", async () => {
    const { codeInterpreterTool } = await import("../../tools/hosted/code-interpreter.ts");
    const prompt = createTaskPrompt({ hostedTools: [codeInterpreterTool()] });
    const routes = playRoutes([refused], [{ json: whole }]);
    const { requests } = await run([{ events: events.slice(0, 5) }], routes, { prompt });
    const queries = requests.slice(1).map(({ query }) => query.getAll("include[]"));
    expect(queries).toEqual([["code_interpreter_call.outputs"], ["code_interpreter_call.outputs"]]);
  });
});

test("a stream whose response is polled has each part once", async () => {
  const call = {
    ...{ type: "function_call", id: "fc_1", call_id: "call_1", name: "look", status: "completed" },
    arguments: '{"at":"the whole sky"}',
  };
  const output = [{ id: "msg_1", ...message("Hello, world. How are you?") }, call];
  const all = toStreamEvents({ ...whole, output });
  const name = (type: string) => all.findLastIndex((event) => event["type"] === type);
  const places = [
    name("response.output_text.delta") - 1,
    name("response.function_call_arguments.delta"),
    name("response.output_item.added"),
  ];
  for (const place of places) {
    const finished = { json: { ...whole, output } };
    const server = await startWireServer([{ events: all.slice(0, place) }, [message("Done.")]], {
      routes: playRoutes([refused], [finished]),
      leftOver: "allowed",
    });
    const adapter = new OpenAIAdapter({
      model: "gpt-5.2",
      delivery: "background",
      clientConfig: { apiKey: testKey, baseURL: server.url },
      clock: fakeClock({ skipsSleep: true }),
    });
    const stream = adapter.stream(createTaskPrompt(), { maxTurns: 2 });
    const parts: ResponsePart[] = [];
    for await (const event of stream)
      if (event.type !== "bus" && event.type !== "restart" && event.turn === 1) parts.push(event);
    await stream.response;
    const join = (type: string) =>
      parts.map((part) => (part.type === type && "delta" in part ? part.delta : "")).join("");
    expect(join("text")).toBe("Hello, world. How are you?");
    expect(join("toolCall")).toBe('{"at":"the whole sky"}');
    await server.close();
  }
});

describe("a response that another process submitted", () => {
  /** Sends one turn with `submittedId`. */
  async function send(routes: ReturnType<typeof playRoutes>, script: WireScript = []) {
    const server = await startWireServer(script, { routes });
    onTestFinished(() => server.close());
    const settings = toAdapterSettings({
      model: "gpt-5.2",
      delivery: "background",
      clientConfig: { apiKey: testKey, baseURL: server.url },
      clock: fakeClock({ skipsSleep: true }),
    });
    const prompt = createTaskPrompt();
    const lastRequest = { current: null };
    const own = { prompt, session: new Session(), egress: new EgressLog(), continues: false };
    const conversation = new Conversation({ ...settings, ...own, lastRequest });
    const calls: string[] = [];
    const request: TurnRequest = {
      turn: 1,
      rendered: prompt.render(),
      ...{ answers: [], delegatedResults: [], notes: [], toolChoice: "auto" },
      signal: new AbortController().signal,
      submittedId: "resp_1",
      onSubmitted: async (id) => void calls.push(`submitted ${id}`),
      onResubmitted: (id) => void calls.push(`resubmitted ${id}`),
    };
    const { text } = await conversation.send(request);
    await conversation.end();
    return { text, calls, methods: server.requests.map(({ method }) => method) };
  }

  test.each<[string, ReturnType<typeof playRoutes>]>([
    ["is complete", playRoutes([], [{ json: whole }])],
    ["runs", playRoutes([streamed], [{ json: running }])],
    ["cannot be streamed", playRoutes([refused], [{ json: running }, { json: whole }])],
    ["is reached late", playRoutes([down, streamed], [down, down, { json: queued }])],
  ])("is used if it %s", async (_title, routes) => {
    const { text, calls, methods } = await send(routes);
    expect(text).toBe("Hello, world. How are you?");
    expect(calls).toEqual([]);
    expect(methods).not.toContain("POST");
  });

  test.each<[string, RouteAnswer]>([
    ["is gone", gone],
    ["has failed", { json: { ...whole, status: "failed", error: { message: "Oh." } } }],
    ["was cancelled", { json: { ...running, status: "cancelled" } }],
  ])("is submitted again if it %s", async (_title, answer) => {
    const next = { events: toStreamEvents({ ...whole, id: "resp_2" }) };
    const { text, calls } = await send(playRoutes([], [answer]), [next]);
    expect(text).toBe("Hello, world. How are you?");
    expect(calls).toEqual(["resubmitted resp_1", "submitted resp_2"]);
  });
});

describe("a stored session", () => {
  async function evaluate(
    script: WireScript,
    {
      store = new MemorySessionStore(),
      routes = {},
    }: { store?: MemorySessionStore; routes?: object } = {},
  ) {
    const bus = recordingBus();
    const session = new Session({ bus, store });
    const run = await runScript(script, {
      adapter: { delivery: "background", throttle: { maxAttempts: 2 } },
      evaluate: { session },
      server: { routes: routes as never },
    });
    return { ...run, bus, store, session };
  }

  test("has the id of the response before its next event is read", async () => {
    const store = new MemorySessionStore();
    const seen: string[] = [];
    const [first, ...others] = events;
    const { response } = await evaluate(
      [
        {
          raw: (_request, answer) => {
            answer.writeHead(200, { "content-type": "text/event-stream" });
            const write = (list: readonly WireItem[], from: number) => {
              for (const [index, event] of list.entries()) {
                const numbered = { ...event, sequence_number: from + index };
                answer.write(`data: ${JSON.stringify(numbered)}\n\n`);
              }
            };
            write([first ?? {}], 0);
            void vi
              .waitFor(() => {
                seen.push(
                  ...[...store.lines.values()].flat().filter((line) => line.includes("resp_1")),
                );
                expect(seen).not.toEqual([]);
              })
              .then(() => {
                write(others, 1);
                answer.end();
              });
          },
        },
      ],
      { store },
    );
    expect(response?.text).toBe("Hello, world. How are you?");
    expect(seen[0]).toContain('"TurnSubmitted"');
  });

  test("keeps a response that cannot be reached, for the next process", async () => {
    const routes = playRoutes([down]);
    const { error, requests, bus } = await evaluate([{ events: events.slice(0, 5) }], { routes });
    expect(error).toBeInstanceOf(ThrottleError);
    expect(bus.of("TurnSubmitted")).toMatchObject([{ turn: 1, responseId: "resp_1" }]);
    expect(requests.some(({ path }) => path.endsWith("/cancel"))).toBe(false);
  });

  test("has an event for a response that the provider lost", async () => {
    const next = { events: toStreamEvents({ ...whole, id: "resp_2" }) };
    const { bus } = await evaluate([{ events: events.slice(0, 5) }, next], {
      routes: playRoutes([gone]),
    });
    expect(bus.of("TurnResubmitted")).toMatchObject([{ turn: 1, responseId: "resp_1" }]);
    expect(bus.of("TurnSubmitted").map(({ responseId }) => responseId)).toEqual([
      "resp_1",
      "resp_2",
    ]);
  });

  test("that cannot be written ends the evaluation and cancels the response", async () => {
    const store = new MemorySessionStore();
    const { error, requests } = await evaluate(
      () => {
        store.failure = new Error("The disk is full.");
        return { events: events.slice(0, 5) };
      },
      { store, routes: playRoutes([streamed]) },
    );
    expect(error).toMatchObject({ phase: "store" });
    expect(requests.at(-1)?.path).toBe("/responses/resp_1/cancel");
  });
});
