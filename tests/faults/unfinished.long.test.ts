import { describe, expect, test } from "vitest";
import * as z from "zod";
import { conversationOf, stage } from "../support/faults/stage.ts";
import { clients } from "../support/openai-clients.ts";
import {
  functionCall,
  message,
  type ResponseAnswer,
  type RouteAnswer,
  reasoning,
  type WireAnswer,
  webSearchCall,
} from "../support/wire-server.ts";

const addition = functionCall("add", { a: 1, b: 2 }, "call_1");
const begun = { partial: { text: "Let me see.", turns: 1, usage: { totalTokens: 15 } } };
const first = [message("Let me see."), addition];

/** What comes instead of a response, with status 200. */
const mereError = (error: unknown): RouteAnswer => ({ json: { error } });

describe.each(clients)("on %s, an answer with status 200 and an error in it", (_name, client) => {
  test.each<[string, object, string]>([
    ["rate_limit_exceeded", { code: "rate_limit_exceeded" }, "rate_limit"],
    ["a rate limit by its type", { code: null, type: "rate_limit_exceeded" }, "rate_limit"],
    ["server_error", { code: "server_error" }, "server"],
    ["vector_store_timeout", { code: "vector_store_timeout" }, "server"],
  ])("of %s is tried again, and is then of its kind", async (_what, words, kind) => {
    const no = mereError({ message: "No room. Try again in 2s.", ...words });
    await using at = await stage(client, [first, no, no, no]);
    expect(await at.failure()).toMatchObject({
      name: "ThrottleError",
      phase: "request",
      kind,
      attempts: 3,
      retryAfterMs: kind === "rate_limit" ? 2_000 : null,
      requestId: "req_4",
      message: expect.stringMatching(/could not answer: No room\. Try again in 2s \(\w+\)$/),
      providerPayload: { error: words },
      ...begun,
    });
    const [, once, ...others] = at.turns.map(({ text }) => text);
    expect(others).toEqual([once, once]);
    expect(at.additions).toHaveLength(1);
  });

  test("goes on where it was once there is room", async () => {
    const no = mereError({ code: "rate_limit_exceeded", message: "No room." });
    await using at = await stage(client, [first, no, [message("Three.")]]);
    expect(await at.evaluate()).toMatchObject({ text: "Three." });
  });

  test.each([
    ["code", { code: "insufficient_quota", message: "You exceeded your current quota." }],
    ["type", { type: "insufficient_quota", message: "You exceeded your current quota." }],
  ])("of a quota that is used up, by its %s, is not tried again", async (_where, words) => {
    await using at = await stage(client, [first, mereError(words)]);
    const facts = { name: "ThrottleError", kind: "quota_exhausted", attempts: 1 };
    expect(await at.failure()).toMatchObject({ ...facts, requestId: "req_2", ...begun });
    expect([at.turns.length, at.clock.now()]).toEqual([2, 0]);
  });

  test.each<[string, unknown, RegExp]>([
    ["invalid_prompt", { code: "invalid_prompt", message: "Unsafe." }, /Unsafe \(invalid_prompt\)/],
    ["a kind to come", { code: "bad_karma", message: "No." }, /No \(bad_karma\)/],
    ["a mere text", "something broke", /something broke/],
    ["no words", { code: "bio_policy" }, /could not answer \(bio_policy\)/],
    ["words of other types", { code: 7, message: ["no"] }, /could not answer/],
  ])("of %s is an error at once", async (_what, error, words) => {
    await using at = await stage(client, [first, mereError(error)]);
    expect(await at.failure()).toMatchObject({
      name: "PromptEvaluationError",
      phase: "response",
      requestId: "req_2",
      message: expect.stringMatching(words),
      providerPayload: { error },
      ...begun,
    });
    expect(at.turns).toHaveLength(2);
  });

  test("is taken for an answer if it is a whole response all the same", async () => {
    const error = { code: "server_error", message: "It went well in the end." };
    await using at = await stage(client, [
      { status: "completed", error, output: [message("Hi.")] },
    ]);
    expect(await at.evaluate()).toMatchObject({ text: "Hi." });
  });
});

describe.each(clients)("on %s, a response whose status is", (_name, client) => {
  test("failed says why, and is tried again where that may help", async () => {
    const no = { error: { code: "server_error", message: "The model broke down." }, output: [] };
    await using at = await stage(client, [first, no, no, [message("Three.")]]);
    expect(await at.evaluate()).toMatchObject({ text: "Three." });
    const [, once, ...others] = at.turns.map(({ text }) => text);
    expect(others).toEqual([once, once]);
  });

  test("failed leaves nothing of itself behind", async () => {
    const no = {
      error: { code: "invalid_prompt", message: "Unsafe." },
      output: [reasoning("rs_9"), message("Half a")],
    };
    await using at = await stage(client, [first, no, [message("Fresh.")]]);
    expect(await at.failure()).toMatchObject({
      name: "PromptEvaluationError",
      phase: "response",
      providerPayload: { status: "failed" },
      ...begun,
    });
    expect(await at.evaluate({ continue: true })).toMatchObject({ text: "Fresh." });
    expect(at.turns.at(-1)?.text).not.toContain("rs_9");
  });

  test.each(["failed", "cancelled", "in_progress", "queued", "thinking"])(
    "%s without a reason is an error at once, which says so",
    async (status) => {
      await using at = await stage(client, [first, { status, output: [message("Half a")] }]);
      expect(await at.failure()).toMatchObject({
        name: "PromptEvaluationError",
        phase: "response",
        message: expect.stringContaining(JSON.stringify(status)),
        providerPayload: { status },
        ...begun,
      });
      expect(at.turns).toHaveLength(2);
    },
  );

  test.each([
    ["missing", undefined],
    ["null", null],
  ])("%s is taken for completed, as servers like OpenAI's have it", async (_what, status) => {
    const json = { id: "resp_1", ...(status === null && { status }), output: [message("Hi.")] };
    await using at = await stage(client, [{ json }]);
    expect(await at.evaluate()).toMatchObject({ text: "Hi.", finishReason: "stop" });
  });
});

const reasons = ["max_output_tokens", "content_filter", "max_messages", "steered", "unheard_of"];
const finishOf = (reason: string) => (reason === "content_filter" ? reason : "length");
const incomplete = (reason: string, output: ResponseAnswer["output"]): ResponseAnswer => ({
  output,
  incomplete_details: { reason },
});

describe.each(clients)("on %s, a response that was stopped by", (_name, client) => {
  test.each(reasons)("%s is an answer as far as it goes", async (reason) => {
    await using at = await stage(client, [incomplete(reason, [message("Once upon a")])]);
    expect(await at.evaluate()).toMatchObject({
      text: "Once upon a",
      finishReason: finishOf(reason),
    });
  });

  test.each(reasons)("%s before it said a word is an error", async (reason) => {
    const thought = incomplete(reason, [reasoning("rs_1")]);
    await using at = await stage(client, [first, thought]);
    expect(await at.failure()).toMatchObject({
      name: "PromptEvaluationError",
      phase: "response",
      message: expect.stringContaining("The answer is incomplete"),
      partial: { text: "Let me see.", turns: 2 },
    });
    expect(at.turns).toHaveLength(2);
  });

  test.each(reasons)("%s is no answer where data was asked for", async (reason) => {
    const output = z.object({ total: z.number() });
    const cut = incomplete(reason, [message('{"total":3')]);
    await using at = await stage(client, [cut], { output });
    expect(await at.failure()).toMatchObject({
      name: "PromptEvaluationError",
      phase: "response",
      message: expect.stringContaining("The answer is incomplete"),
      providerPayload: { finishReason: finishOf(reason), text: '{"total":3' },
    });
  });

  test.each([
    ["max_output_tokens", /raise maxOutputTokens/],
    ["content_filter", /rephrase the task/],
  ])("%s says what to do", async (reason, words) => {
    await using at = await stage(client, [incomplete(reason, [])]);
    expect(await at.failure()).toMatchObject({ message: expect.stringMatching(words) });
  });

  test("something else than its length is not put down to its length", async () => {
    await using at = await stage(client, [incomplete("steered", [])]);
    const { message: said } = Object(await at.failure());
    expect(said).not.toContain("maxOutputTokens");
  });

  test("no reason at all is an answer as far as it goes", async () => {
    const cut = { status: "incomplete", output: [message("Once upon a")] };
    await using at = await stage(client, [cut]);
    expect(await at.evaluate()).toMatchObject({ text: "Once upon a", finishReason: "length" });
  });

  test("its length has its whole calls run, and goes on", async () => {
    const half = { ...functionCall("add", '{"a":3,', "call_2"), status: "incomplete" };
    const script = [incomplete("max_output_tokens", [addition, half]), [message("Three.")]];
    await using at = await stage(client, script);
    expect(await at.evaluate()).toMatchObject({ text: "Three.", finishReason: "stop" });
    expect(at.additions).toEqual([{ a: 1, b: 2 }]);
    expect(conversationOf(at.turns[1])).toMatchObject([{ call_id: "call_1" }, { output: "3" }]);
    expect(at.bus.of("HistoryRepaired")).toHaveLength(1);
  });

  test("its length within its only call is an error, and no answer without words", async () => {
    const half = { ...functionCall("add", '{"a":3,', "call_2"), status: "incomplete" };
    await using at = await stage(client, [incomplete("max_output_tokens", [half])]);
    expect(await at.failure()).toMatchObject({ phase: "response" });
    expect(at.additions).toEqual([]);
  });

  test("its length after a search can be gone on from", async () => {
    const cut = incomplete("max_output_tokens", [reasoning("rs_1"), webSearchCall("owls")]);
    await using at = await stage(client, [cut, [message("Owls.")]]);
    expect(await at.failure()).toMatchObject({ phase: "response" });
    expect(await at.evaluate({ continue: true })).toMatchObject({ text: "Owls." });
    const types = conversationOf(at.turns[1]).map((item) => Object(item).type);
    expect(types).toEqual(["reasoning", "web_search_call", "message"]);
  });
});

describe.each(clients)("on %s, an error names the request whose answer was", (_name, client) => {
  test.each<[string, WireAnswer]>([
    ["not completed", { status: "cancelled", output: [] }],
    ["without output", { json: { id: "resp_1", status: "completed", output: null } }],
    ["empty", []],
    ["stopped", incomplete("max_output_tokens", [])],
  ])("%s", async (_how, answer) => {
    await using at = await stage(client, [answer]);
    expect(await at.failure()).toMatchObject({ phase: "response", requestId: "req_1" });
  });
});
