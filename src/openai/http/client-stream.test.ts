import OpenAI from "openai";
import { describe, expect, test, vi } from "vitest";
import { testKey } from "../../../tests/support/openai-clients.ts";
import { createTaskPrompt } from "../../../tests/support/openai-run.ts";
import { message, startWireServer } from "../../../tests/support/wire-server.ts";
import { toStreamEvents } from "../../../tests/support/wire-stream.ts";
import { OpenAIAdapter } from "../adapter.ts";
import type { OpenAIAdapterOptions } from "../adapter-options.ts";
import type { CallOptions, OpenAIClient } from "./client.ts";

const whole = {
  id: "resp_1",
  status: "completed",
  output: [{ id: "msg_1", ...message("Hello, world.") }],
};

/** Creates a client whose `create` returns what `respond` returns. */
function createClient(
  respond: (body: object, options?: CallOptions) => unknown,
  stream: unknown = () => {},
): OpenAIClient {
  const { containers, files } = new OpenAI({ apiKey: testKey });
  const create = async (body: object, options?: CallOptions) => respond(body, options);
  return { responses: { create, stream }, containers, files };
}

async function evaluate(client: OpenAIClient, more: Partial<OpenAIAdapterOptions> = {}) {
  const adapter = new OpenAIAdapter({ model: "gpt-5.2", client, ...more });
  return await adapter.evaluate(createTaskPrompt());
}

async function* iterate(events: Iterable<unknown>) {
  yield* events;
}

describe("a client that is passed to the adapter", () => {
  test("streams if it has responses.stream", async () => {
    const bodies: object[] = [];
    const client = createClient((body) => {
      bodies.push(body);
      return iterate([null, ...toStreamEvents(whole)]);
    });
    expect((await evaluate(client)).text).toBe("Hello, world.");
    expect(bodies).toMatchObject([{ stream: true }]);
  });

  test("is used buffered if it has no responses.stream", async () => {
    const bodies: object[] = [];
    const respond = (body: object) => {
      bodies.push(body);
      return whole;
    };
    expect((await evaluate(createClient(respond, null))).text).toBe("Hello, world.");
    expect(bodies[0]).not.toHaveProperty("stream");
  });

  test("may return a whole response to a streamed request", async () => {
    const client = createClient(() =>
      Object.defineProperty({ ...whole }, "_request_id", { value: "req_7" }),
    );
    expect((await evaluate(client)).text).toBe("Hello, world.");
  });

  test("delivers the parts of a response as they arrive", async () => {
    await using server = await startWireServer([[message("Hello, world.")]]);
    const client = new OpenAI({ apiKey: testKey, baseURL: server.url });
    const adapter = new OpenAIAdapter({ model: "gpt-5.2", client });
    const deltas: string[] = [];
    for await (const delta of adapter.stream(createTaskPrompt()).text()) deltas.push(delta);
    expect(deltas.join("")).toBe("Hello, world.");
    expect(deltas.length).toBeGreaterThan(1);
  });

  test("does not iterate further before the readers have caught up", async () => {
    let taken = 0;
    async function* flood() {
      const place = { output_index: 0, item_id: "msg_1" };
      for (; taken < 200; taken++) {
        yield { type: "response.output_text.delta", ...place, delta: "x".repeat(50_000) };
      }
      yield* toStreamEvents(whole).slice(-1);
    }
    const adapter = new OpenAIAdapter({ model: "gpt-5.2", client: createClient(flood) });
    const texts = adapter.stream(createTaskPrompt()).text()[Symbol.asyncIterator]();
    await texts.next();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThan(100); // 1 MiB waits for the reader
    while (!(await texts.next()).done);
    expect(taken).toBe(200);
  });

  test("times out if its iterator never ends, and is aborted", async () => {
    const controller = new AbortController();
    const stalled = {
      controller,
      [Symbol.asyncIterator]: () => ({ next: async () => await new Promise<never>(() => {}) }),
    };
    const client = Object.assign(
      createClient(() => stalled),
      { timeout: 50 },
    );
    await expect(evaluate(client, { throttle: { maxAttempts: 1 } })).rejects.toThrow(
      "the response stalled, no data within 50 ms",
    );
    expect(controller.signal.aborted).toBe(true);
  });

  test("that throws another error fails with it", async () => {
    async function* fail() {
      yield { type: "response.created" };
      throw new Error("My own client failed.");
    }
    await expect(evaluate(createClient(fail))).rejects.toThrow("My own client failed");
  });

  test("whose stream fails after the last event has succeeded", async () => {
    async function* fail() {
      yield* toStreamEvents(whole);
      throw new Error("Too late.");
    }
    expect((await evaluate(createClient(fail))).text).toBe("Hello, world.");
  });

  test("whose response has no content type is read as events", async () => {
    const response = vi.fn(() => iterate(toStreamEvents(whole)));
    const client = createClient(() => null);
    const create = () =>
      Object.assign(Promise.resolve(null), {
        withResponse: async () => ({ data: response(), response: {}, request_id: 7 }),
      });
    expect((await evaluate({ ...client, responses: { create, stream: () => {} } })).text).toBe(
      "Hello, world.",
    );
    expect(response).toHaveBeenCalledTimes(1);
  });
});
