import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { Deadline, Session } from "weakincentives";
import { fakeClock } from "weakincentives/testing";
import {
  createFaultSetup,
  getConversationItems,
  ourClients,
} from "../support/faults/fault-setup.ts";
import { clients } from "../support/openai-clients.ts";
import { functionCall, message, type RouteAnswer } from "../support/wire-server.ts";

const addition = functionCall("add", { a: 1, b: 2 }, "call_1");
const first = [message("Let me see."), addition];
const silent: RouteAnswer = { stall: true };
const beginning = '{"id":"resp_1","output":[';

/** Sends headers and part of a body, then stops. */
const createHaltingResponse = (status = 200): RouteAnswer => ({
  raw: (_request, response) => startResponse(response, status),
});

function startResponse(response: ServerResponse, status: number): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.write(beginning);
}

describe.each(ourClients)("on %s, a server that stops sending data", (_name, client) => {
  const clientConfig = { timeoutMs: 100 };
  const adapter = { throttle: { maxAttempts: 2, baseDelayMs: 1 } }; // each attempt takes real time

  test.each<[string, RouteAnswer, RegExp, string | null]>([
    ["before it answers", silent, /no response within 100 ms.*Raise timeoutMs/, null],
    [
      "within its answer",
      createHaltingResponse(),
      /stalled, no data within 100 ms.*timeoutMs/,
      "req_3",
    ],
  ])("%s causes a timeout after two attempts", async (_when, quiet, words, requestId) => {
    await using at = await createFaultSetup(client, [first, quiet, quiet], {
      clientConfig,
      adapter,
    });
    expect(await at.getFailure()).toMatchObject({
      name: "ThrottleError",
      kind: "timeout",
      phase: "request",
      attempts: 2,
      requestId,
      message: expect.stringMatching(words),
      partial: { text: "Let me see.", turns: 1, usage: { totalTokens: 15 } },
    });
    expect(at.turns[2]?.text).toBe(at.turns[1]?.text);
    expect(at.additions).toHaveLength(1);
  });

  test.each([
    ["before it answers", silent],
    ["within its answer", createHaltingResponse()],
  ])("%s and then responds is retried successfully", async (_when, quiet) => {
    await using at = await createFaultSetup(client, [first, quiet, [message("Three.")]], {
      clientConfig,
    });
    expect(await at.evaluate()).toMatchObject({ text: "Three." });
    expect(at.additions).toHaveLength(1);
  });

  test("during an error response still reports its status", async () => {
    await using at = await createFaultSetup(client, [createHaltingResponse(403)], { clientConfig });
    const words = expect.stringContaining("status 403");
    expect(await at.getFailure()).toMatchObject({ phase: "request", message: words });
  });

  test("for less than the timeout does not cause a timeout", async () => {
    const text = JSON.stringify({ id: "resp_1", status: "completed", output: [message("Hi.")] });
    const slow: RouteAnswer = {
      raw(_request, response) {
        response.writeHead(200, { "content-type": "application/json" });
        const step = Math.ceil(text.length / 8);
        let sent = 0;
        const timer = setInterval(() => {
          response.write(text.slice(sent, sent + step));
          sent += step;
          if (sent < text.length) return;
          clearInterval(timer);
          response.end();
        }, 40);
      },
    };
    await using at = await createFaultSetup(client, [slow], { clientConfig: { timeoutMs: 250 } });
    expect(await at.evaluate()).toMatchObject({ text: "Hi." });
    expect(at.turns).toHaveLength(1);
  });
});

test("the official client gets the same timeout and no retries", async () => {
  const [, official] = clients.find(([name]) => name === "the official client") ?? [];
  if (!official) throw new Error("The official client is missing");
  await using at = await createFaultSetup(official, [[message("Hi.")]]);
  await at.evaluate();
  expect(at.turns[0]?.headers).toMatchObject({
    "x-stainless-timeout": "600",
    "x-stainless-retry-count": "0",
  });
});

/** Creates a response that never ends. `asked` and `closed` resolve on the request and its close. */
const createStallingResponse = (start: (response: ServerResponse) => void) => {
  const asked = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const answer: RouteAnswer = {
    raw(_request, response) {
      response.once("close", closed.resolve);
      start(response);
      asked.resolve();
    },
  };
  return { answer, asked: asked.promise, closed: closed.promise };
};

const moments: readonly [string, (response: ServerResponse) => void][] = [
  ["before it answers", () => {}],
  ["within its answer", (response) => startResponse(response, 200)],
];

describe.each(clients)("on %s, while the server stalls", (_name, client) => {
  test.each(moments)("%s, an abort rejects with its own reason", async (_when, start) => {
    const { answer, asked, closed } = createStallingResponse(start);
    await using at = await createFaultSetup(client, [first, answer, [message("Three.")]]);
    const controller = new AbortController();
    const reason = new Error("enough");
    const failure = at.getFailure({ signal: controller.signal });
    await asked;
    controller.abort(reason);
    expect(await failure).toBe(reason);
    await closed;
    expect(await at.evaluate()).toMatchObject({ text: "Three." });
  });

  test.each(moments)("%s, a deadline rejects with the partial result", async (_when, start) => {
    const clock = fakeClock();
    const { answer, asked, closed } = createStallingResponse(start);
    await using at = await createFaultSetup(client, [first, answer, [message("Three.")]], {
      clock,
    });
    const failure = at.getFailure({ deadline: Deadline.after(60_000, clock) });
    await asked;
    await clock.advance(60_000);
    expect(await failure).toMatchObject({
      name: "DeadlineExceededError",
      phase: "request",
      message: expect.stringMatching(/after 1 turns?\b.*later deadline or use a smaller task/),
      partial: { text: "Let me see.", turns: 1, usage: { totalTokens: 15 } },
    });
    await closed;
    expect(await at.evaluate()).toMatchObject({ text: "Three." });
  });

  test("other evaluations on the same adapter continue", async () => {
    const { answer, asked, closed } = createStallingResponse(() => {});
    await using at = await createFaultSetup(client, [answer, [message("Hi.")]]);
    const controller = new AbortController();
    const failure = at.getFailure({ signal: controller.signal });
    await asked;
    const other = at.evaluate({ session: new Session() });
    expect(await other).toMatchObject({ text: "Hi." });
    controller.abort();
    expect(await failure).toMatchObject({ name: "AbortError" });
    await closed;
  });
});

describe.each(clients)("on %s, an abort", (_name, client) => {
  const stop = new Error("stop");

  test("before the start prevents any request", async () => {
    await using at = await createFaultSetup(client, []);
    expect(await at.getFailure({ signal: AbortSignal.abort(stop) })).toBe(stop);
    expect(at.turns).toHaveLength(0);
  });

  test("while a tool runs prevents further requests, and the session can be continued", async () => {
    const controller = new AbortController();
    const onAdd = () => controller.abort(stop);
    const script = [first, [message("Anew.")]];
    await using at = await createFaultSetup(client, script, { onAdd });
    expect(await at.getFailure({ signal: controller.signal })).toBe(stop);
    expect(at.turns).toHaveLength(1);
    expect(await at.evaluate({ continue: true })).toMatchObject({ text: "Anew." });
    expect(getConversationItems(at.turns[1])).toMatchObject([
      { role: "assistant" },
      { role: "system" },
    ]);
    expect(at.bus.of("HistoryRepaired")).toMatchObject([{ dropped: [{ type: "function_call" }] }]);
  });

  test("between a response and its calls prevents the calls", async () => {
    const controller = new AbortController();
    await using at = await createFaultSetup(client, [first]);
    at.bus.subscribe("TurnCompleted", () => controller.abort(stop));
    expect(await at.getFailure({ signal: controller.signal })).toBe(stop);
    expect(at.additions).toHaveLength(0);
  });

  test("while a throttled request waits ends the wait", async () => {
    const clock = fakeClock();
    const controller = new AbortController();
    const busy = { status: 429, error: {}, headers: { "retry-after": "60" } };
    await using at = await createFaultSetup(client, [busy], { clock });
    const failure = at.getFailure({ signal: controller.signal });
    await expect.poll(() => clock.sleeping).toBe(2); // the wait, and the turn's progress
    controller.abort(stop);
    expect(await failure).toBe(stop);
    expect([at.turns.length, clock.sleeping]).toEqual([1, 0]);
  });
});
