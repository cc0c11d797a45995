import { describe, expect, test } from "vitest";
import { Deadline } from "weakincentives";
import { fakeClock } from "weakincentives/testing";
import { createFaultSetup } from "../support/faults/fault-setup.ts";
import { clients } from "../support/openai-clients.ts";
import { functionCall, message, type RouteAnswer } from "../support/wire-server.ts";

const addition = functionCall("add", { a: 1, b: 2 }, "call_1");

type Headers = Readonly<Record<string, string>>;

const createRejection = (
  status: number,
  headers: Headers = {},
  error: object = {},
): RouteAnswer => ({
  status,
  headers,
  error: { message: `Said no with ${status}.`, ...error },
});

const quota = { type: "insufficient_quota", code: "insufficient_quota" };
const toHttpDate = (fromNowMs: number) => new Date(Date.now() + fromNowMs).toUTCString();

describe.each(clients)("on %s, the status", (_name, client) => {
  test.each([
    [400, /status 400: Said no with 400/],
    [401, /status 401.*Check OPENAI_API_KEY or clientConfig\.apiKey/],
    [403, /status 403.*Check that the key's project and your region have access/],
    [404, /status 404: Said no with 404/],
    [413, /status 413.*Send less: the request is too large/],
    [418, /status 418/],
    [422, /status 422/],
  ])("%i fails immediately with a remedy", async (status, words) => {
    const script = [
      [message("Let me see."), addition],
      createRejection(status, { "retry-after": "1" }),
    ];
    await using at = await createFaultSetup(client, script);
    const error = await at.getFailure();
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

  test("404 without an API error suggests checking baseURL", async () => {
    const nowhere: RouteAnswer = { raw: (_, response) => void response.writeHead(404).end("nope") };
    await using at = await createFaultSetup(client, [nowhere]);
    const message = expect.stringMatching(/status 404.*Check baseURL/);
    expect(await at.getFailure()).toMatchObject({ phase: "request", message });
  });

  test.each([
    [408, "timeout"],
    [409, "server"],
    [429, "rate_limit"],
    [500, "server"],
    [502, "server"],
    [503, "server"],
    [529, "server"],
  ])("%i fails after three attempts with kind %s", async (status, kind) => {
    const createDated = createRejection(status);
    await using at = await createFaultSetup(client, [
      [message("Let me see."), addition],
      createDated,
      createDated,
      createDated,
    ]);
    expect(await at.getFailure()).toMatchObject({
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

  test.each([409, 429, 500, 502, 503, 529])(
    "%i is retried after the requested delay",
    async (status) => {
      const script = [
        [addition],
        createRejection(status, { "retry-after": "2" }),
        createRejection(status, { "retry-after-ms": "1500", "retry-after": "9" }),
        [message("Three.")],
      ];
      await using at = await createFaultSetup(client, script);
      expect(await at.evaluate()).toMatchObject({ text: "Three." });
      expect(at.clock.now()).toBe(3_500);
      const [, first, ...others] = at.turns.map(({ text }) => text);
      expect(others).toEqual([first, first]);
      expect(at.additions).toHaveLength(1);
    },
  );

  test.each([429, 503])("%i can name a date to wait for", async (status) => {
    const no = () => createRejection(status, { "retry-after": toHttpDate(60_000) });
    await using at = await createFaultSetup(client, no);
    const error = await at.getFailure();
    expect(error).toMatchObject({ name: "ThrottleError", attempts: 3 });
    const { retryAfterMs } = Object(error);
    expect(retryAfterMs).toBeGreaterThan(50_000);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
    expect(at.clock.now()).toBeGreaterThan(100_000);
  });

  test.each([
    ["a date that has passed", toHttpDate(-60_000)],
    ["words", "soon"],
    ["a negative number", "-5"],
    ["forever", "1e400"],
    ["a century", "3153600000"],
    ["a very long number", "9".repeat(400)],
    ["an empty value", ""],
  ])("429 that asks to wait for %s is retried after the default delay", async (_what, asked) => {
    const headers = { "retry-after": asked, "retry-after-ms": asked };
    await using at = await createFaultSetup(client, [
      createRejection(429, headers),
      [message("Hi.")],
    ]);
    expect(await at.evaluate()).toMatchObject({ text: "Hi." });
    expect(at.clock.now()).toBe(1);
  });

  test("429 can name the delay in its message", async () => {
    const error = { message: "Rate limit reached. Please try again in 2.512s.", type: "tokens" };
    await using at = await createFaultSetup(client, [{ status: 429, error }, [message("Hi.")]]);
    expect(await at.evaluate()).toMatchObject({ text: "Hi." });
    expect(at.clock.now()).toBe(2_512);
  });

  test("429 with an exhausted quota is not retried", async () => {
    await using at = await createFaultSetup(client, [
      createRejection(429, { "retry-after": "1" }, quota),
    ]);
    const facts = { name: "ThrottleError", kind: "quota_exhausted", attempts: 1 };
    expect(await at.getFailure()).toMatchObject({ ...facts, requestId: "req_1" });
    expect([at.turns.length, at.clock.now()]).toEqual([1, 0]);
  });

  test.each([409, 429, 500, 503])(
    "%i with x-should-retry: false is not retried",
    async (status) => {
      await using at = await createFaultSetup(client, [
        createRejection(status, { "x-should-retry": "false" }),
      ]);
      const facts = { name: "PromptEvaluationError", phase: "request", requestId: "req_1" };
      expect(await at.getFailure()).toMatchObject(facts);
      expect(at.turns).toHaveLength(1);
    },
  );

  test("400 with x-should-retry: true is retried", async () => {
    const again = createRejection(400, { "x-should-retry": "true" });
    await using at = await createFaultSetup(client, [again, [message("Hi.")]]);
    expect(await at.evaluate()).toMatchObject({ text: "Hi." });
  });

  test("503 with a delay beyond the deadline fails immediately", async () => {
    const clock = fakeClock({ skipsSleep: true });
    const script = [[addition], createRejection(503, { "retry-after": "60" })];
    await using at = await createFaultSetup(client, script, { clock });
    expect(await at.getFailure({ deadline: Deadline.after(30_000, clock) })).toMatchObject({
      name: "ThrottleError",
      kind: "server",
      attempts: 1,
      retryAfterMs: 60_000,
      partial: { turns: 1 },
    });
    expect(clock.now()).toBe(0);
  });

  test("500 without a body is reported", async () => {
    const bare: RouteAnswer = { raw: (_, response) => void response.writeHead(500).end() };
    await using at = await createFaultSetup(client, [bare, bare, bare]);
    const message = expect.stringContaining("status 500 and no message");
    expect(await at.getFailure()).toMatchObject({ kind: "server", message, providerPayload: null });
  });

  test("of one turn does not count for the next turn's attempts", async () => {
    const no = createRejection(500);
    const again = functionCall("add", { a: 3, b: 4 }, "call_2");
    await using at = await createFaultSetup(client, [
      no,
      no,
      [addition],
      no,
      no,
      [again],
      [message("Ten.")],
    ]);
    expect(await at.evaluate()).toMatchObject({ text: "Ten." });
    expect(at.additions).toEqual([
      { a: 1, b: 2 },
      { a: 3, b: 4 },
    ]);
  });
});
