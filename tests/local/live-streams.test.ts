import { describe, expect, onTestFinished, test } from "vitest";
import {
  type LocalModel,
  LocalProvider,
  type ModelAction,
  scriptedModel,
} from "weakincentives/local";
import { fakeClock } from "weakincentives/testing";
import type { WireItem } from "../../src/openai/wire.ts";
import { hostSandbox } from "../support/host-sandbox.ts";
import { parseEvents } from "../support/local/checked-fetch.ts";
import { readAnswer, startProviderFixture } from "../support/local/provider-fixture.ts";

const python = { type: "code_interpreter", container: { type: "auto" } };

/** A stream of a response that can be read event by event. */
async function openStream(model: LocalModel, body: WireItem = {}, path = "/responses") {
  const clock = fakeClock();
  const provider = new LocalProvider({ model, clock, sandbox: hostSandbox(), onFault: () => {} });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const response = provider.fetch(`http://local/v1${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "any", input: "Hi.", stream: true, ...body }),
  });
  let text = "";
  const pump = async () => {
    const decoder = new TextDecoder();
    for await (const bytes of (await response).body ?? [])
      text += decoder.decode(bytes, { stream: true });
    return text;
  };
  const whole = pump();
  return {
    clock,
    response,
    whole,
    /** Advances the time, a second at a time, until the stream contains a text. Returns the stream so far. */
    async advanceUntil(wanted: string) {
      await expect
        .poll(async () => {
          if (!text.includes(wanted)) await clock.advance(1_000);
          return text;
        })
        .toContain(wanted);
      return text;
    },
  };
}

/** A model whose answer a test resolves. */
function createSlowModel() {
  const { promise, resolve, reject } = Promise.withResolvers<readonly ModelAction[]>();
  return { model: { respond: () => promise }, resolve, reject };
}

describe("a stream of the local provider", () => {
  test("shows code before it runs", async () => {
    const code = "import time\ntime.sleep(1)\nprint(6 * 7)";
    const script = scriptedModel([[{ code }], [{ say: "42" }]]);
    const { advanceUntil, whole } = await openStream(script, { tools: [python] });
    const start = await advanceUntil("code_interpreter_call.interpreting");
    expect(start).not.toContain("code_interpreter_call.completed");
    const events = parseEvents(await whole);
    expect(events.map(({ sequence_number: number }) => number)).toEqual([...events.keys()]);
    const items = events.filter(({ type }) => type === "response.output_item.added");
    expect(items.map(({ output_index: index }) => index)).toEqual([0, 1]);
  });

  test("begins before a slow model answers", async () => {
    const { model, resolve } = createSlowModel();
    const { clock, response, advanceUntil, whole } = await openStream(model);
    await advanceUntil("event: response.in_progress");
    expect(clock.now()).toBeGreaterThanOrEqual(10_000);
    expect((await response).headers.get("x-wink-usage")).toBeNull();
    resolve([{ say: "Hello." }]);
    expect(await whole).toContain(": x-wink-usage: estimated\n\n");
    expect(parseEvents(await whole).at(-1)?.type).toBe("response.completed");
  });

  test("reports the failure of a slow model in the stream", async () => {
    const { model, reject } = createSlowModel();
    const { advanceUntil, whole } = await openStream(model);
    await advanceUntil("event: response.in_progress");
    reject(new Error("The model failed."));
    const events = parseEvents(await whole);
    expect(events.slice(-2).map(({ type }) => type)).toEqual(["error", "response.failed"]);
  });

  test("has an event every 15 seconds of silence, numbered like the others", async () => {
    const script = [[{ say: "One." }, { stall: 40_000 }, { say: "Two." }]];
    const { advanceUntil, whole } = await openStream(scriptedModel(script));
    await advanceUntil("response.completed");
    const events = parseEvents(await whole);
    const alive = events.filter(({ type }) => type === "keepalive");
    expect(alive.length).toBe(2);
    expect(events.map(({ sequence_number: number }) => number)).toEqual([...events.keys()]);
  });

  test("has a comment in the silence of a background response, so that numbers stay the same", async () => {
    const script = [[{ say: "One." }, { stall: 20_000 }, { say: "Two." }]];
    const { advanceUntil } = await openStream(scriptedModel(script), { background: true });
    const text = await advanceUntil("response.completed");
    expect(text).toContain("\n\n: keep-alive\n\n");
    expect(text).not.toContain("event: keepalive");
  });

  test("delivers the text of a script slowly", async () => {
    const say = "A text of more than thirty-two characters, in three pieces.";
    const { clock, advanceUntil } = await openStream(scriptedModel([[{ say, everyMs: 5_000 }]]));
    const start = await advanceUntil("A text of more t");
    expect(start).not.toContain("in three pieces.");
    await advanceUntil(`"text":"${say}"`);
    expect(clock.now()).toBeGreaterThanOrEqual(20_000);
  });

  test("ends with the error of a model that returns another text than it reported", async () => {
    const model: LocalModel = {
      async respond(_request, { onPart } = {}) {
        await onPart?.({ say: "One thing." });
        return [{ say: "Another thing." }];
      },
    };
    const text = await (await openStream(model)).whole;
    expect(text).toContain("with onPart, but did not return it first");
    expect(parseEvents(text).at(-1)?.type).toBe("response.failed");
  });

  test.each<readonly [string, LocalModel]>([
    [
      "returns no thought that it reported",
      {
        async respond(_request, { onPart } = {}) {
          await onPart?.({ think: "Hm." });
          return [{ say: "Hello." }];
        },
      },
    ],
    [
      "reports a thought after text",
      {
        async respond(_request, { onPart } = {}) {
          await onPart?.({ say: "Hello." });
          await onPart?.({ think: "Hm." });
          return [{ say: "Hello." }];
        },
      },
    ],
  ])("fails if the model %s", async (_name, model) => {
    const events = parseEvents(await (await openStream(model)).whole);
    expect(events.at(-1)?.type).toBe("response.failed");
  });
});

describe("a stream of another API", () => {
  const messages = [{ role: "user", content: "Hi." }];

  test("has comments in the silence of a chat completion", async () => {
    const script = [[{ say: "One." }, { stall: 20_000 }, { say: "Two." }]];
    const body = { input: undefined, messages };
    const stream = await openStream(scriptedModel(script), body, "/chat/completions");
    expect(await stream.advanceUntil("[DONE]")).toContain("\n\n: keep-alive\n\n");
  });

  test("begins before a slow model answers on Anthropic's API, and has pings", async () => {
    const { model, resolve } = createSlowModel();
    const body = { input: undefined, messages, max_tokens: 100 };
    const { clock, advanceUntil, whole } = await openStream(model, body, "/messages");
    await advanceUntil("event: message_start");
    expect(clock.now()).toBeGreaterThanOrEqual(10_000);
    await clock.advance(15_000);
    resolve([{ say: "Hello." }]);
    const events = parseEvents(await whole).map(({ type }) => type);
    expect(events.slice(0, 3)).toEqual(["message_start", "ping", "ping"]);
    expect(events.at(-1)).toBe("message_stop");
  });
});

describe("a background response that ends within a call", () => {
  test("can be resumed after the events of the call", async () => {
    const code = "import time\ntime.sleep(600)";
    const { ask, fetch, url } = await startProviderFixture([[{ code }]]);
    const { body } = await ask("POST /responses", {
      model: "any",
      input: "Hi.",
      background: true,
      tools: [python],
    });
    const first = await fetch(`${url}/responses/${body["id"]}?stream=true`);
    const text = first.text();
    await expect
      .poll(async () => (await ask(`GET /responses/${body["id"]}`)).body["status"])
      .toBe("in_progress");
    await new Promise((resolve) => setTimeout(resolve, 1_000)); // the code runs
    await ask(`POST /responses/${body["id"]}/cancel`);
    const events = parseEvents(await text);
    const again = await ask(`GET /responses/${body["id"]}?stream=true`);
    expect(parseEvents(String(again.body["text"]))).toEqual(events);
    expect(events.map(({ type }) => type)).toContain("response.code_interpreter_call.interpreting");
  });
});

describe("commentary of a script", () => {
  test("does not end the turn", async () => {
    const script = [[{ say: "First.", phase: "commentary" }], [{ say: "Then." }]] as const;
    const { respond } = await startProviderFixture(script);
    const response = await respond({ input: "Hi." });
    expect(readAnswer(response)).toBe("First.Then.");
    expect(response["output"]).toMatchObject([{ phase: "commentary" }, { type: "message" }]);
  });
});
