import { describe, expect, test } from "vitest";
import { Deadline } from "weakincentives";
import { fakeClock } from "weakincentives/testing";
import { stage } from "../support/faults/stage.ts";
import { clients } from "../support/openai-clients.ts";
import { functionCall, message, type RouteAnswer } from "../support/wire-server.ts";

const addition = functionCall("add", { a: 1, b: 2 }, "call_1");

type Headers = Readonly<Record<string, string>>;

const refused = (status: number, headers: Headers = {}, error: object = {}): RouteAnswer => ({
  status,
  headers,
  error: { message: `Said no with ${status}.`, ...error },
});

const quota = { type: "insufficient_quota", code: "insufficient_quota" };
const httpDate = (fromNowMs: number) => new Date(Date.now() + fromNowMs).toUTCString();

describe.each(clients)("on %s, the status", (_name, client) => {
  test.each([
    [400, /status 400: Said no with 400/],
    [401, /status 401.*check OPENAI_API_KEY or clientConfig\.apiKey/],
    [403, /status 403.*check that the key's project and your region may use this/],
    [404, /status 404: Said no with 404/],
    [413, /status 413.*send less: the request is too large/],
    [418, /status 418/],
    [422, /status 422/],
  ])("%i ends it at once, and says what to do", async (status, words) => {
    const script = [[message("Let me see."), addition], refused(status, { "retry-after": "1" })];
    await using at = await stage(client, script);
    const error = await at.failure();
    expect(error).toMatchObject({
      name: "PromptEvaluationError",
      phase: "request",
      requestId: "req_2",
      message: expect.stringMatching(words),
      cause: { name: "OpenAIRequestError", status, requestId: "req_2" },
      providerPayload: { error: { message: `Said no with ${status}.` } },
      partial: { text: "Let me see.", turns: 1, responseId: "resp_1", usage: { totalTokens: 15 } },
    });
    expect(error).not.toHaveProperty("attempts");
    expect([at.turns.length, at.clock.now()]).toEqual([2, 0]);
  });

  test("404 without a word of the API's is put down to the address", async () => {
    const nowhere: RouteAnswer = { raw: (_, response) => void response.writeHead(404).end("nope") };
    await using at = await stage(client, [nowhere]);
    const message = expect.stringMatching(/status 404.*check baseURL/);
    expect(await at.failure()).toMatchObject({ phase: "request", message });
  });

  test.each([
    [408, "timeout"],
    [409, "server"],
    [429, "rate_limit"],
    [500, "server"],
    [502, "server"],
    [503, "server"],
    [529, "server"],
  ])("%i is tried three times, and is then an error of kind %s", async (status, kind) => {
    const no = refused(status);
    await using at = await stage(client, [[message("Let me see."), addition], no, no, no]);
    expect(await at.failure()).toMatchObject({
      name: "ThrottleError",
      phase: "request",
      kind,
      attempts: 3,
      retryAfterMs: null,
      requestId: "req_4",
      message: expect.stringContaining(`status ${status}: Said no with ${status}`),
      cause: { name: "OpenAIRequestError", status },
      partial: { text: "Let me see.", turns: 1, usage: { totalTokens: 15 } },
    });
    const [, first, ...others] = at.turns.map(({ text }) => text);
    expect(others).toEqual([first, first]);
    expect(at.additions).toHaveLength(1);
  });

  test.each([409, 429, 500, 502, 503, 529])("%i is waited out as it asks", async (status) => {
    const script = [
      [addition],
      refused(status, { "retry-after": "2" }),
      refused(status, { "retry-after-ms": "1500", "retry-after": "9" }),
      [message("Three.")],
    ];
    await using at = await stage(client, script);
    expect(await at.evaluate()).toMatchObject({ text: "Three." });
    expect(at.clock.now()).toBe(3_500);
    const [, first, ...others] = at.turns.map(({ text }) => text);
    expect(others).toEqual([first, first]);
    expect(at.additions).toHaveLength(1);
  });

  test.each([429, 503])("%i may name the date to wait for", async (status) => {
    const no = () => refused(status, { "retry-after": httpDate(60_000) });
    await using at = await stage(client, no);
    const error = await at.failure();
    expect(error).toMatchObject({ name: "ThrottleError", attempts: 3 });
    const { retryAfterMs } = Object(error);
    expect(retryAfterMs).toBeGreaterThan(50_000);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
    expect(at.clock.now()).toBeGreaterThan(100_000);
  });

  test.each([
    ["a date that has passed", httpDate(-60_000)],
    ["words", "soon"],
    ["less than nothing", "-5"],
    ["forever", "1e400"],
    ["a century", "3153600000"],
    ["too much to count", "9".repeat(400)],
    ["nothing", ""],
  ])("429 that asks to wait for %s is waited out as we would", async (_what, asked) => {
    const headers = { "retry-after": asked, "retry-after-ms": asked };
    await using at = await stage(client, [refused(429, headers), [message("Hi.")]]);
    expect(await at.evaluate()).toMatchObject({ text: "Hi." });
    expect(at.clock.now()).toBe(1);
  });

  test("429 may say in words how long to wait", async () => {
    const error = { message: "Rate limit reached. Please try again in 2.512s.", type: "tokens" };
    await using at = await stage(client, [{ status: 429, error }, [message("Hi.")]]);
    expect(await at.evaluate()).toMatchObject({ text: "Hi." });
    expect(at.clock.now()).toBe(2_512);
  });

  test("429 whose quota is used up is not tried again", async () => {
    await using at = await stage(client, [refused(429, { "retry-after": "1" }, quota)]);
    const facts = { name: "ThrottleError", kind: "quota_exhausted", attempts: 1 };
    expect(await at.failure()).toMatchObject({ ...facts, requestId: "req_1" });
    expect([at.turns.length, at.clock.now()]).toEqual([1, 0]);
  });

  test.each([409, 429, 500, 503])("%i that forbids another try gets none", async (status) => {
    await using at = await stage(client, [refused(status, { "x-should-retry": "false" })]);
    const facts = { name: "PromptEvaluationError", phase: "request", requestId: "req_1" };
    expect(await at.failure()).toMatchObject(facts);
    expect(at.turns).toHaveLength(1);
  });

  test("400 that asks for another try gets one", async () => {
    const again = refused(400, { "x-should-retry": "true" });
    await using at = await stage(client, [again, [message("Hi.")]]);
    expect(await at.evaluate()).toMatchObject({ text: "Hi." });
  });

  test("503 that asks to wait beyond the deadline is an error at once", async () => {
    const clock = fakeClock({ skipsSleep: true });
    const script = [[addition], refused(503, { "retry-after": "60" })];
    await using at = await stage(client, script, { clock });
    expect(await at.failure({ deadline: Deadline.after(30_000, clock) })).toMatchObject({
      name: "ThrottleError",
      kind: "server",
      attempts: 1,
      retryAfterMs: 60_000,
      partial: { turns: 1 },
    });
    expect(clock.now()).toBe(0);
  });

  test("500 without any body is told as well", async () => {
    const bare: RouteAnswer = { raw: (_, response) => void response.writeHead(500).end() };
    await using at = await stage(client, [bare, bare, bare]);
    const message = expect.stringContaining("status 500 and no message");
    expect(await at.failure()).toMatchObject({ kind: "server", message, providerPayload: null });
  });

  test("of one turn does not count for the next", async () => {
    const no = refused(500);
    const again = functionCall("add", { a: 3, b: 4 }, "call_2");
    await using at = await stage(client, [no, no, [addition], no, no, [again], [message("Ten.")]]);
    expect(await at.evaluate()).toMatchObject({ text: "Ten." });
    expect(at.additions).toEqual([
      { a: 1, b: 2 },
      { a: 3, b: 4 },
    ]);
  });
});
