import type { ServerResponse } from "node:http";
import OpenAI from "openai";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { clients } from "../../../tests/support/openai-clients.ts";
import { createTaskPrompt, runScript } from "../../../tests/support/openai-run.ts";
import {
  message,
  type SeenRequest,
  startWireServer,
  type WireAnswer,
} from "../../../tests/support/wire-server.ts";
import { formatEvents, toStreamEvents } from "../../../tests/support/wire-stream.ts";
import { PromptEvaluationError, ThrottleError } from "../../base/evaluation-errors.ts";
import type { Logger } from "../../base/logger.ts";
import { OpenAIAdapter } from "../adapter.ts";
import type { OpenAIAdapterOptions } from "../adapter-options.ts";
import { OpenAIRequestError } from "../errors/request-error.ts";
import type { WireItem } from "../wire.ts";

const whole: WireItem = {
  id: "resp_1",
  object: "response",
  status: "completed",
  model: "gpt-5.2",
  output: [{ id: "msg_1", ...message("Hello, world.") }],
  usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
};
const events = toStreamEvents(whole);
const unfinished = events.slice(0, -1);

const refuse = (param: string): WireAnswer => ({
  status: 400,
  error: { message: `Unsupported: '${param}'.`, code: "unsupported_value", param },
});

/** Sends a stream with a function that controls its pieces. */
const sendStream = (send: (response: ServerResponse) => unknown): WireAnswer => ({
  raw: (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    send(response);
  },
});

const once = { throttle: { maxAttempts: 1 } };

describe.each(clients)("a streamed response on %s", (_, client) => {
  const run = async (script: readonly WireAnswer[], adapter: Partial<OpenAIAdapterOptions> = {}) =>
    await runScript(script, { adapter, client });

  test("is requested without obfuscation, after the fields that stay the same", async () => {
    const { bodies, response } = await run([[message("Hello.")]]);
    expect(response?.text).toBe("Hello.");
    const keys = Object.keys(bodies[0] ?? {});
    expect(keys[0]).toBe("input");
    expect(keys.slice(-2)).toEqual(["stream", "stream_options"]);
    expect(bodies[0]).toMatchObject({
      stream: true,
      stream_options: { include_obfuscation: false },
    });
  });

  test("is not requested with delivery: buffered", async () => {
    const { bodies, response } = await run([[message("Hello.")]], { delivery: "buffered" });
    expect(response?.text).toBe("Hello.");
    expect(bodies[0]).not.toHaveProperty("stream");
    expect(bodies[0]).not.toHaveProperty("stream_options");
  });

  test("may be a JSON object", async () => {
    const { response, bus } = await run([{ json: whole }]);
    expect(response).toMatchObject({ text: "Hello, world.", usage: { totalTokens: 7 } });
    expect(bus.of("PromptExecuted")).toMatchObject([{ requestIds: ["req_1"] }]);
  });

  test("has the request id of its headers", async () => {
    const { bus } = await run([{ events }]);
    expect(bus.of("PromptExecuted")).toMatchObject([{ requestIds: ["req_1"] }]);
  });

  test("that is an HTML page fails like any other page", async () => {
    const page = { bytes: "<html>Log in</html>", headers: { "content-type": "text/html" } };
    const { error } = await run([page]);
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(String(error)).toContain("an HTML page");
  });

  test("may have its items only in their own events", async () => {
    const [last] = events.slice(-1);
    const { response } = await run([
      { events: [...unfinished, { ...last, response: { ...whole, output: [] } }] },
    ]);
    expect(response?.text).toBe("Hello, world.");
  });

  test("may end with [DONE], and may contain comments and unknown events", async () => {
    const odd = [": ping\n\n", { type: "keepalive" }, { type: "response.new_thing", item: 1 }];
    const { response } = await run([{ events: [...odd, ...events, "data: [DONE]\n\n"] }]);
    expect(response?.text).toBe("Hello, world.");
  });

  test.each([
    ["ends before its last event", (response: ServerResponse) => response.end()],
    ["is cut off by the server", (response: ServerResponse) => response.destroy()],
  ] as readonly (readonly [string, (response: ServerResponse) => void])[])(
    "that %s is requested again",
    async (_, end) => {
      const cut = sendStream((response) => {
        response.write(formatEvents(unfinished));
        setTimeout(() => end(response), 20);
      });
      const { response, bodies } = await run([cut, [message("Again.")]]);
      expect(response?.text).toBe("Again.");
      expect(bodies[1]).toEqual(bodies[0]);
      const failed = await run([cut], once);
      expect(failed.error).toBeInstanceOf(ThrottleError);
      expect(failed.error).toMatchObject({ kind: "network", cause: { reason: "network" } });
    },
  );

  test("whose last event is invalid JSON is unreadable, and is not requested again", async () => {
    const { error } = await run([
      { events: [...unfinished, "event: response.completed\ndata: {broken\n\n"] },
    ]);
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).not.toBeInstanceOf(ThrottleError);
    expect(error).toMatchObject({ phase: "response", cause: { reason: "body" } });
    expect(String(error)).toContain("invalid or truncated JSON");
  });

  test("whose last event has no response is unreadable", async () => {
    const { error } = await run([{ events: [...unfinished, { type: "response.completed" }] }]);
    expect(error).toMatchObject({ phase: "response", cause: { reason: "body" } });
  });

  const limit = {
    code: "rate_limit_exceeded",
    message: "Rate limit reached. Please try again in 2.512s. Visit your account.",
  };
  const failed = {
    type: "response.failed",
    response: { ...whole, status: "failed", error: limit },
  };
  const unexplained = {
    type: "response.failed",
    response: { ...whole, status: "failed", error: null, output: [] },
  };

  test.each([
    ["a nested error event", [{ type: "error", error: { type: "tokens", ...limit } }]],
    ["a flat error event", [{ type: "error", ...limit, param: null }]],
    ["a failed response", [failed]],
    ["an error event and a failed response", [{ type: "error", error: limit }, failed]],
    ["an error event and a response without an error", [{ type: "error", ...limit }, unexplained]],
  ])("with a rate limit in %s is requested again after the delay it names", async (_, ends) => {
    const { response } = await run([{ events: [...unfinished, ...ends] }, [message("Again.")]]);
    expect(response?.text).toBe("Again.");
    const { error } = await run([{ events: [...unfinished, ...ends] }], once);
    expect(error).toBeInstanceOf(ThrottleError);
    expect(error).toMatchObject({ kind: "rate_limit", retryAfterMs: 2_512 });
  });

  test.each([
    ["an object", { type: "error", error: { code: "invalid_prompt", message: "No." } }, "No"],
    ["a string", { type: "error", error: "No." }, "No"],
    ["missing", { type: "error" }, '"failed"'],
  ])("with an error event whose error is %s fails", async (_, event, text) => {
    const { error, bodies } = await run([{ events: [...unfinished, event] }]);
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({ phase: "response" });
    expect(String(error)).toContain(text);
    expect(bodies).toHaveLength(1);
  });

  test("with an error event about the request fails like a refused request", async () => {
    const invalid = {
      type: "error",
      error: {
        type: "invalid_request_error",
        code: null,
        message: "The store is gone.",
        param: "id",
      },
    };
    const general = { code: "server_error", message: "The store is gone." };
    const last = {
      type: "response.failed",
      response: { ...whole, status: "failed", error: general },
    };
    const { error, bodies } = await run([{ events: [...unfinished, invalid, last] }]);
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).not.toBeInstanceOf(ThrottleError);
    expect(error).toMatchObject({
      phase: "request",
      cause: { errorType: "invalid_request_error", param: "id", status: null },
    });
    expect(String(error)).toContain("The response failed: The store is gone.");
    expect(bodies).toHaveLength(1);
  });

  test("may take longer than timeoutMs while data arrives, comments included", async () => {
    const slow = sendStream((response) => {
      const pieces = events.map((event) => formatEvents([event]));
      const timer = setInterval(() => {
        const piece = pieces.shift();
        if (piece !== undefined) return void response.write(`: ping\n\n${piece}`);
        clearInterval(timer);
        response.end();
      }, 100);
    });
    await using server = await startWireServer([slow]);
    const adapter = new OpenAIAdapter({
      model: "gpt-5.2",
      ...withTimeout(client(server.url), 600),
    });
    const startedAt = performance.now();
    const { text } = await adapter.evaluate(createTaskPrompt());
    expect(text).toBe("Hello, world.");
    expect(performance.now() - startedAt).toBeGreaterThan(1_000);
  });

  test("that stalls for timeoutMs times out", async () => {
    const stalled = sendStream((response) => response.write(formatEvents(unfinished)));
    await using server = await startWireServer([stalled]);
    const about = { model: "gpt-5.2", ...withTimeout(client(server.url), 300), ...once };
    const error = await new OpenAIAdapter(about).evaluate(createTaskPrompt()).catch(String);
    expect(error).toContain("the response stalled, no data within 300 ms");
    expect(error).toContain("Raise timeoutMs");
  });

  test("is complete after its last event, even if the server does not close the connection", async () => {
    let isClosed = false;
    const open = sendStream((response) => {
      response.on("close", () => {
        isClosed = true;
      });
      response.write(formatEvents(events));
    });
    const { response } = await run([open]);
    expect(response?.text).toBe("Hello, world.");
    await vi.waitFor(() => expect(isClosed).toBe(true));
  });

  test("is not read further while its reader is far behind", async () => {
    const delta = {
      type: "response.output_text.delta",
      output_index: 0,
      delta: "x".repeat(50_000),
    };
    const piece = formatEvents([delta]);
    const count = 600; // 30 MB
    let written = 0;
    const flood = sendStream(async (response) => {
      for (; written < count; written++) {
        if (!response.write(piece)) await new Promise((resolve) => response.once("drain", resolve));
      }
      response.end(formatEvents(events.slice(-1)));
    });
    await using server = await startWireServer([flood]);
    const adapter = new OpenAIAdapter({ model: "gpt-5.2", ...client(server.url) });
    const texts = adapter.stream(createTaskPrompt()).text()[Symbol.asyncIterator]();
    await texts.next();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(written).toBeLessThan(count);
    let length = 50_000;
    for (let next = await texts.next(); !next.done; next = await texts.next()) {
      length += next.value.length;
    }
    expect(length).toBe(count * 50_000);
  });

  test("is closed when the evaluation is cancelled", async () => {
    let isClosed = false;
    const cancelled = new AbortController();
    const open = sendStream((response) => {
      response.on("close", () => {
        isClosed = true;
      });
      response.write(formatEvents(unfinished), () => cancelled.abort(new Error("Enough.")));
    });
    await using server = await startWireServer([open]);
    const adapter = new OpenAIAdapter({ model: "gpt-5.2", ...client(server.url) });
    const evaluation = adapter.evaluate(createTaskPrompt(), { signal: cancelled.signal });
    await expect(evaluation).rejects.toThrow("Enough.");
    await vi.waitFor(() => expect(isClosed).toBe(true));
  });
});

test("a stream that is cut off within its last event is requested again", async () => {
  const cut = { events: [...unfinished, 'event: response.completed\ndata: {"re'] };
  const { response } = await runScript([cut, [message("Again.")]]);
  expect(response?.text).toBe("Again.");
  const { error } = await runScript([cut], { adapter: once });
  expect(error).toMatchObject({ kind: "network" });
});

test("a stream without a content type is read as events", async () => {
  const { response } = await runScript([{ bytes: formatEvents(events) }]);
  expect(response?.text).toBe("Hello, world.");
});

test("a delivery that does not exist is refused", () => {
  const options = { model: "gpt-5.2", delivery: "later" };
  expect(() => Reflect.construct(OpenAIAdapter, [options])).toThrow(
    /delivery.*"stream", "buffered".*"background"/,
  );
});

describe.each(clients)("a provider that refuses to stream, on %s", (_, client) => {
  async function evaluateTwice(answer: (request: SeenRequest) => WireAnswer) {
    const warnings: string[] = [];
    const listen = ({ name, message: text }: Error) => {
      if (name === "WinkWarning") warnings.push(text);
    };
    process.on("warning", listen);
    onTestFinished(() => void process.off("warning", listen));
    const logged: string[] = [];
    const log = (text: string) => void logged.push(text);
    const logger: Logger = { debug: () => {}, info: () => {}, warn: log, error: log };
    await using server = await startWireServer(answer);
    const adapter = new OpenAIAdapter({ model: "gpt-5.2", ...client(server.url), logger });
    const texts: string[] = [];
    for (const _turn of ["first", "second"]) {
      texts.push((await adapter.evaluate(createTaskPrompt())).text);
    }
    await new Promise((resolve) => setImmediate(resolve)); // warnings are emitted later
    const sent = server.requests.map(({ body }) => [body["stream"], body["stream_options"]]);
    return { texts, sent, warnings, logged };
  }

  test("gets buffered requests for the rest of the adapter's life, after one warning", async () => {
    const { texts, sent, warnings, logged } = await evaluateTwice(({ body }) =>
      "stream" in body ? refuse("stream") : [message("Whole.")],
    );
    expect(texts).toEqual(["Whole.", "Whole."]);
    const plain = [undefined, undefined];
    expect(sent).toEqual([[true, { include_obfuscation: false }], plain, plain]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('now uses delivery "buffered"');
    expect(logged.filter((text) => text.includes('delivery "buffered"'))).toHaveLength(1);
  });

  test("gets requests without stream_options if it refuses only those", async () => {
    const { texts, sent, warnings } = await evaluateTwice(({ body }) =>
      "stream_options" in body ? refuse("stream_options.include_obfuscation") : [message("Parts.")],
    );
    expect(texts).toEqual(["Parts.", "Parts."]);
    const plain = [true, undefined];
    expect(sent).toEqual([[true, { include_obfuscation: false }], plain, plain]);
    expect(warnings).toHaveLength(1);
  });

  test("is warned about once if several evaluations run at the same time", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    onTestFinished(() => warn.mockRestore());
    const script = ({ body }: SeenRequest) =>
      "stream" in body ? refuse("stream") : [message("Whole.")];
    await using server = await startWireServer(script);
    const adapter = new OpenAIAdapter({ model: "gpt-5.2", ...client(server.url) });
    const running = [1, 2, 3].map(() => adapter.evaluate(createTaskPrompt()));
    expect((await Promise.all(running)).map(({ text }) => text)).toEqual(Array(3).fill("Whole."));
    expect(warn).toHaveBeenCalledTimes(1);
  });

  test("fails if it refuses another parameter", async () => {
    const { error, bodies } = await runScript([refuse("temperature")], { client });
    expect(error).toMatchObject({ cause: { status: 400, param: "temperature" } });
    expect(bodies).toHaveLength(1);
  });

  test("fails if it refuses a stream that was not requested", async () => {
    const adapter = { delivery: "buffered" } as const;
    const { error, bodies } = await runScript([refuse("stream")], { client, adapter });
    expect(error).toMatchObject({ cause: { param: "stream" } });
    expect(Object(error).cause).toBeInstanceOf(OpenAIRequestError);
    expect(bodies).toHaveLength(1);
  });
});

/** Adds a timeout, in the way that the client supports. */
function withTimeout(
  { client, clientConfig }: Pick<OpenAIAdapterOptions, "client" | "clientConfig">,
  timeoutMs: number,
): Pick<OpenAIAdapterOptions, "client" | "clientConfig"> {
  if (!(client instanceof OpenAI)) return { clientConfig: { ...clientConfig, timeoutMs } };
  return { client: client.withOptions({ timeout: timeoutMs }) };
}
