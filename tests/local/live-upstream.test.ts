import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { upstreamModel } from "weakincentives/local";
import type { WireItem } from "../../src/openai/wire.ts";
import { parseEvents } from "../support/local/checked-fetch.ts";
import { readAnswer, readOutput, startProviderFixture } from "../support/local/provider-fixture.ts";
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

const chunk = (delta: object) => ({ choices: [{ index: 0, delta }] });
const callPiece = (name: string, args: string, index = 0) =>
  chunk({ tool_calls: [{ index, function: { name, arguments: args } }] });
const usage = { prompt_tokens: 7, completion_tokens: 5 };
const look = { type: "function", name: "look", parameters: { type: "object" } };
const python = { type: "code_interpreter", container: { type: "auto" } };
const format = { type: "json_schema", name: "a", strict: false, schema: { type: "object" } };

async function start(steps: readonly UpstreamStep[], api: "chat" | "responses" = "chat") {
  await server.play(steps);
  const model = upstreamModel({ baseURL: server.url, model: "qwen3", api });
  return await startProviderFixture([], { model });
}

/** Reads a stream until an event of this type. Returns the rest of the stream. */
async function readUntil(body: ReadableStream<Uint8Array> | null, type: string) {
  const decoder = new TextDecoder();
  const reader = body?.getReader();
  let text = "";
  const read = async () => {
    const part = await reader?.read();
    text += decoder.decode(part?.value, { stream: true });
    return part?.done ?? true;
  };
  while (!text.includes(`event: ${type}\n`)) if (await read()) throw new Error(text);
  return async () => {
    while (!(await read()));
    return parseEvents(text);
  };
}

function joinDeltas(events: readonly WireItem[]): string {
  return events
    .filter(({ type }) => type === "response.output_text.delta")
    .map(({ delta }) => String(delta))
    .join("");
}

describe("an upstream model that streams", () => {
  const beginning = "The beginning of a longer answer";
  const chat = [
    [chunk({ role: "assistant", reasoning_content: "Hm" }), chunk({ reasoning: "m." })].concat(
      chunk({ content: beginning }),
    ),
    [chunk({ content: ", and its end." }), { choices: [], usage }, "[DONE]"],
  ];
  const reasoning = { type: "reasoning", summary: [{ type: "summary_text", text: "Hmm." }] };
  const text = `${beginning}, and its end.`;
  const output = [reasoning, { type: "message", content: [{ type: "output_text", text }] }];
  const counted = { input_tokens: 7, output_tokens: 5 };
  const responses = [
    [
      { type: "response.output_item.done", item: reasoning },
      { type: "response.output_text.delta", delta: beginning },
    ],
    [
      { type: "response.output_text.delta", delta: ", and its end." },
      { type: "response.completed", response: { status: "completed", output, usage: counted } },
    ],
  ];

  test.each([
    ["chat", chat],
    ["responses", responses],
  ] as const)("delivers text while it is written (%s)", async (api, groups) => {
    const { fetch, url, ask } = await start([{ groups }], api);
    const response = await fetch(`${url}/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "any", input: "Hi.", stream: true }),
    });
    expect(response.headers.get("x-wink-usage")).toBeNull();
    const readRest = await readUntil(response.body, "response.output_text.delta");
    await server.release();
    const events = await readRest();
    expect(joinDeltas(events)).toBe(text);
    expect(events.map(({ sequence_number: number }) => number)).toEqual([...events.keys()]);
    const end: WireItem = Object(events.at(-1)?.["response"]);
    expect(readOutput(end).map(({ type }) => type)).toEqual(["reasoning", "message"]);
    expect(readAnswer(end)).toContain(text);
    expect(end["usage"]).toMatchObject({ input_tokens: 7, output_tokens: 5 });
    const [asked] = await server.requests();
    expect(asked?.body["stream"]).toBe(true);
    const again = await ask(`GET /responses/${end["id"]}?stream=true`);
    expect(parseEvents(String(again.body["text"]))).toEqual(events);
  });

  test("streams a background response, which can be resumed with the same numbers", async () => {
    const { stream, ask } = await start([{ groups: [chat.flat()] }]);
    const events = await stream({ input: "Hi.", background: true });
    expect(joinDeltas(events)).toBe(text);
    const end = Object(events.at(-1)?.["response"]);
    const rest = await ask(`GET /responses/${end.id}?stream=true&starting_after=5`);
    expect(parseEvents(String(rest.body["text"]))).toEqual(events.slice(6));
  });

  test("is not asked to stream if the client does not", async () => {
    const { respond } = await start([{ message: { content: "Hi." } }]);
    await respond({ input: "Hi." });
    const [asked] = await server.requests();
    expect(asked?.body).toMatchObject({ stream: false });
    expect(asked?.body).not.toHaveProperty("stream_options");
  });

  test("may answer without a stream", async () => {
    const { stream } = await start([{ message: { content: "Hi." } }]);
    expect(joinDeltas(await stream({ input: "Hi." }))).toBe("Hi.");
  });

  test("calls functions whose arguments arrive in pieces", async () => {
    const pieces = [
      chunk({ content: "I look." }),
      callPiece("look", '{"at"'),
      callPiece("", ":1}"),
    ];
    const { stream } = await start([{ groups: [pieces] }]);
    const end = Object((await stream({ input: "Hi.", tools: [look] })).at(-1)?.["response"]);
    expect(end.output).toMatchObject([
      { type: "message" },
      { type: "function_call", name: "look", arguments: '{"at":1}' },
    ]);
  });

  test("comments before it runs code, and answers afterward", async () => {
    const first = [chunk({ content: "I compute." }), callPiece("python", '{"code":"print(42)"}')];
    const { stream } = await start([
      { groups: [first] },
      { groups: [[chunk({ content: "It is 42." })]] },
    ]);
    const events = await stream({ input: "Hi.", tools: [python] });
    const { output } = Object(events.at(-1)?.["response"]);
    expect(output).toMatchObject([
      { type: "message", phase: "commentary" },
      { type: "code_interpreter_call" },
      { type: "message", content: [{ text: "It is 42." }] },
    ]);
    expect(joinDeltas(events)).toBe("I compute.It is 42.");
  });

  test("corrects an invalid call after its text was shown", async () => {
    const first = [
      chunk({ reasoning_content: "Hm." }),
      chunk({ content: "I compute." }),
      callPiece("python", '{"wrong":1}'),
    ];
    const { stream } = await start([{ groups: [first] }, { message: { content: "Never mind." } }]);
    const events = await stream({ input: "Hi.", tools: [python] });
    expect(joinDeltas(events)).toBe("I compute.Never mind.");
    const { status, output } = Object(events.at(-1)?.["response"]);
    expect(status).toBe("completed");
    expect(output.map(({ type }: WireItem) => type)).toEqual(["reasoning", "message", "message"]);
  });

  test("is read whole if text before code would spoil a structured answer", async () => {
    const { stream } = await start([{ message: { content: "{}" } }]);
    await stream({ input: "Hi.", tools: [python], text: { format } });
    const [asked] = await server.requests();
    expect(asked?.body["stream"]).toBe(false);
  });

  test("is cut off at max_output_tokens", async () => {
    const { stream } = await start([
      { groups: [[chunk({ content: "a".repeat(40) })].concat(chunk({ content: "b".repeat(80) }))] },
    ]);
    const events = await stream({ input: "Hi.", max_output_tokens: 20 });
    expect(joinDeltas(events)).toBe("a".repeat(40) + "b".repeat(40));
    expect(events.at(-1)?.type).toBe("response.incomplete");
  });

  test.each<readonly [string, readonly unknown[], string]>([
    ["an error", [{ error: { message: "Out of memory." } }], "Out of memory."],
    ["no answer", [{ choices: [] }], "no choice with a message"],
    ["no JSON", ["{"], "not JSON"],
  ])("fails the request if the stream has %s", async (_name, group, message) => {
    const { ask } = await start([{ groups: [group] }]);
    const answer = await ask("POST /responses", { model: "any", input: "Hi.", stream: true });
    expect(answer.status).toBe(502);
    expect(Object(answer.body["error"]).message).toContain(message);
  });

  test("fails the response if the error comes after text", async () => {
    const error = { error: { message: "Out of memory." } };
    const { stream } = await start([{ groups: [[chunk({ content: beginning }), error]] }]);
    const events = await stream({ input: "Hi." });
    expect(events.slice(-2).map(({ type }) => type)).toEqual(["error", "response.failed"]);
    expect(events.at(-1)).toMatchObject({ response: { error: { code: "server_error" } } });
  });
});
