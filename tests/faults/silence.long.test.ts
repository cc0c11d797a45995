import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { Deadline, Session } from "weakincentives";
import { fakeClock } from "weakincentives/testing";
import { conversationOf, ourClients, stage } from "../support/faults/stage.ts";
import { clients } from "../support/openai-clients.ts";
import { functionCall, message, type RouteAnswer } from "../support/wire-server.ts";

const addition = functionCall("add", { a: 1, b: 2 }, "call_1");
const first = [message("Let me see."), addition];
const silent: RouteAnswer = { stall: true };
const beginning = '{"id":"resp_1","output":[';

/** Sends headers and some of a body, and no more. */
const halting = (status = 200): RouteAnswer => ({
  raw: (_request, response) => begin(response, status),
});

function begin(response: ServerResponse, status: number): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.write(beginning);
}

describe.each(ourClients)("on %s, a server that falls silent", (_name, client) => {
  const clientConfig = { timeoutMs: 100 };
  const adapter = { throttle: { maxAttempts: 2, baseDelayMs: 1 } }; // each try takes its time

  test.each<[string, RouteAnswer, RegExp, string | null]>([
    ["before it answers", silent, /not answered within 100 ms.*raise timeoutMs/, null],
    ["within its answer", halting(), /no more of its answer within 100 ms.*timeoutMs/, "req_3"],
  ])("%s has timed out, after two tries", async (_when, quiet, words, requestId) => {
    await using at = await stage(client, [first, quiet, quiet], { clientConfig, adapter });
    expect(await at.failure()).toMatchObject({
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
    ["within its answer", halting()],
  ])("%s and then answers is forgiven", async (_when, quiet) => {
    await using at = await stage(client, [first, quiet, [message("Three.")]], { clientConfig });
    expect(await at.evaluate()).toMatchObject({ text: "Three." });
    expect(at.additions).toHaveLength(1);
  });

  test("within an answer that says no has said no", async () => {
    await using at = await stage(client, [halting(403)], { clientConfig });
    const words = expect.stringContaining("status 403");
    expect(await at.failure()).toMatchObject({ phase: "request", message: words });
  });

  test("for less than that at a time is only slow", async () => {
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
    await using at = await stage(client, [slow], { clientConfig: { timeoutMs: 250 } });
    expect(await at.evaluate()).toMatchObject({ text: "Hi." });
    expect(at.turns).toHaveLength(1);
  });
});

test("the official client is told to wait as long as ours, and not to try again by itself", async () => {
  const [, official] = clients.find(([name]) => name === "the official client") ?? [];
  if (!official) throw new Error("there is no official client");
  await using at = await stage(official, [[message("Hi.")]]);
  await at.evaluate();
  expect(at.turns[0]?.headers).toMatchObject({
    "x-stainless-timeout": "600",
    "x-stainless-retry-count": "0",
  });
});

/** An answer that never comes, or never ends, when it was asked for and when nobody waits any more. */
const stalling = (start: (response: ServerResponse) => void) => {
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
  ["within its answer", (response) => begin(response, 200)],
];

describe.each(clients)("on %s, while the server stalls", (_name, client) => {
  test.each(moments)("%s, an abort ends all with its own reason", async (_when, start) => {
    const { answer, asked, closed } = stalling(start);
    await using at = await stage(client, [first, answer, [message("Three.")]]);
    const controller = new AbortController();
    const reason = new Error("enough");
    const failure = at.failure({ signal: controller.signal });
    await asked;
    controller.abort(reason);
    expect(await failure).toBe(reason);
    await closed;
    expect(await at.evaluate()).toMatchObject({ text: "Three." });
  });

  test.each(moments)("%s, a deadline ends all with what was had", async (_when, start) => {
    const clock = fakeClock();
    const { answer, asked, closed } = stalling(start);
    await using at = await stage(client, [first, answer, [message("Three.")]], { clock });
    const failure = at.failure({ deadline: Deadline.after(60_000, clock) });
    await asked;
    await clock.advance(60_000);
    expect(await failure).toMatchObject({
      name: "DeadlineExceededError",
      phase: "request",
      message: expect.stringMatching(/after 1 turns.*more time or a smaller task/),
      partial: { text: "Let me see.", turns: 1, usage: { totalTokens: 15 } },
    });
    await closed;
    expect(await at.evaluate()).toMatchObject({ text: "Three." });
  });

  test("other evaluations on the same adapter go on", async () => {
    const { answer, asked, closed } = stalling(() => {});
    await using at = await stage(client, [answer, [message("Hi.")]]);
    const controller = new AbortController();
    const failure = at.failure({ signal: controller.signal });
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

  test("before the start sends nothing", async () => {
    await using at = await stage(client, []);
    expect(await at.failure({ signal: AbortSignal.abort(stop) })).toBe(stop);
    expect(at.turns).toHaveLength(0);
  });

  test("while a tool runs sends nothing more, and all can be gone on with", async () => {
    const controller = new AbortController();
    const onAdd = () => controller.abort(stop);
    const script = [first, [message("Anew.")]];
    await using at = await stage(client, script, { onAdd });
    expect(await at.failure({ signal: controller.signal })).toBe(stop);
    expect(at.turns).toHaveLength(1);
    expect(await at.evaluate({ continue: true })).toMatchObject({ text: "Anew." });
    expect(conversationOf(at.turns[1])).toMatchObject([{ role: "assistant" }, { role: "system" }]);
    expect(at.bus.of("HistoryRepaired")).toMatchObject([{ dropped: [{ type: "function_call" }] }]);
  });

  test("between an answer and its calls runs none of them", async () => {
    const controller = new AbortController();
    await using at = await stage(client, [first]);
    at.bus.subscribe("TurnCompleted", () => controller.abort(stop));
    expect(await at.failure({ signal: controller.signal })).toBe(stop);
    expect(at.additions).toHaveLength(0);
  });

  test("while a throttled request waits ends the wait", async () => {
    const clock = fakeClock();
    const controller = new AbortController();
    const busy = { status: 429, error: {}, headers: { "retry-after": "60" } };
    await using at = await stage(client, [busy], { clock });
    const failure = at.failure({ signal: controller.signal });
    await expect.poll(() => clock.sleeping).toBe(1);
    controller.abort(stop);
    expect(await failure).toBe(stop);
    expect([at.turns.length, clock.sleeping]).toEqual([1, 0]);
  });
});
