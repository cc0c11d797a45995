import { describe, expect, test } from "vitest";
import * as z from "zod";
import { createFaultSetup, getConversationItems } from "../support/faults/fault-setup.ts";
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

/** Creates an error body with status 200 instead of a response. */
const createErrorBody = (error: unknown): RouteAnswer => ({ json: { error } });

describe.each(clients)("on %s, a response with status 200 and an error", (_name, client) => {
  test.each<[string, object, string]>([
    ["rate_limit_exceeded", { code: "rate_limit_exceeded" }, "rate_limit"],
    ["a rate limit by its type", { code: null, type: "rate_limit_exceeded" }, "rate_limit"],
    ["server_error", { code: "server_error" }, "server"],
    ["vector_store_timeout", { code: "vector_store_timeout" }, "server"],
  ])("of %s is retried, then thrown as a ThrottleError", async (_what, words, kind) => {
    const no = createErrorBody({ message: "No room. Try again in 2s.", ...words });
    await using at = await createFaultSetup(client, [first, no, no, no]);
    expect(await at.getFailure()).toMatchObject({
      name: "ThrottleError",
      phase: "request",
      kind,
      attempts: 3,
      retryAfterMs: kind === "rate_limit" ? 2_000 : null,
      requestId: "req_4",
      message: expect.stringMatching(/returned an error: No room\. Try again in 2s \(\w+\)$/),
      providerPayload: { error: words },
      ...begun,
    });
    const [, once, ...others] = at.turns.map(({ text }) => text);
    expect(others).toEqual([once, once]);
    expect(at.additions).toHaveLength(1);
  });

  test("is retried and the evaluation continues", async () => {
    const no = createErrorBody({ code: "rate_limit_exceeded", message: "No room." });
    await using at = await createFaultSetup(client, [first, no, [message("Three.")]]);
    expect(await at.evaluate()).toMatchObject({ text: "Three." });
  });

  test.each([
    ["code", { code: "insufficient_quota", message: "You exceeded your current quota." }],
    ["type", { type: "insufficient_quota", message: "You exceeded your current quota." }],
  ])("of an exhausted quota, by its %s, is not retried", async (_where, words) => {
    await using at = await createFaultSetup(client, [first, createErrorBody(words)]);
    const facts = { name: "ThrottleError", kind: "quota_exhausted", attempts: 1 };
    expect(await at.getFailure()).toMatchObject({ ...facts, requestId: "req_2", ...begun });
    expect([at.turns.length, at.clock.now()]).toEqual([2, 0]);
  });

  test.each<[string, unknown, RegExp]>([
    ["invalid_prompt", { code: "invalid_prompt", message: "Unsafe." }, /Unsafe \(invalid_prompt\)/],
    ["an unknown kind", { code: "bad_karma", message: "No." }, /No \(bad_karma\)/],
    ["a string", "something broke", /something broke/],
    ["no message", { code: "bio_policy" }, /returned an error \(bio_policy\)/],
    ["fields of other types", { code: 7, message: ["no"] }, /returned an error/],
  ])("of %s fails immediately", async (_what, error, words) => {
    await using at = await createFaultSetup(client, [first, createErrorBody(error)]);
    expect(await at.getFailure()).toMatchObject({
      name: "PromptEvaluationError",
      phase: "response",
      requestId: "req_2",
      message: expect.stringMatching(words),
      providerPayload: { error },
      ...begun,
    });
    expect(at.turns).toHaveLength(2);
  });

  test("is accepted if the response is complete", async () => {
    const error = { code: "server_error", message: "It went well in the end." };
    await using at = await createFaultSetup(client, [
      { status: "completed", error, output: [message("Hi.")] },
    ]);
    expect(await at.evaluate()).toMatchObject({ text: "Hi." });
  });
});

describe.each(clients)("on %s, a response whose status is", (_name, client) => {
  test("failed is retried if the error allows it", async () => {
    const no = { error: { code: "server_error", message: "The model broke down." }, output: [] };
    await using at = await createFaultSetup(client, [first, no, no, [message("Three.")]]);
    expect(await at.evaluate()).toMatchObject({ text: "Three." });
    const [, once, ...others] = at.turns.map(({ text }) => text);
    expect(others).toEqual([once, once]);
  });

  test("failed leaves no items in the history", async () => {
    const no = {
      error: { code: "invalid_prompt", message: "Unsafe." },
      output: [reasoning("rs_9"), message("Half a")],
    };
    await using at = await createFaultSetup(client, [first, no, [message("Fresh.")]]);
    expect(await at.getFailure()).toMatchObject({
      name: "PromptEvaluationError",
      phase: "response",
      providerPayload: { status: "failed" },
      ...begun,
    });
    expect(await at.evaluate({ continue: true })).toMatchObject({ text: "Fresh." });
    expect(at.turns.at(-1)?.text).not.toContain("rs_9");
  });

  test.each(["failed", "cancelled", "in_progress", "queued", "thinking"])(
    "%s without a reason fails immediately and names the status",
    async (status) => {
      await using at = await createFaultSetup(client, [
        first,
        { status, output: [message("Half a")] },
      ]);
      expect(await at.getFailure()).toMatchObject({
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
  ])("%s counts as completed, as compatible servers send it", async (_what, status) => {
    const json = { id: "resp_1", ...(status === null && { status }), output: [message("Hi.")] };
    await using at = await createFaultSetup(client, [{ json }]);
    expect(await at.evaluate()).toMatchObject({ text: "Hi.", finishReason: "stop" });
  });
});

const reasons = ["max_output_tokens", "content_filter", "max_messages", "steered", "unheard_of"];
const toFinishReason = (reason: string) => (reason === "content_filter" ? reason : "length");
const createIncomplete = (reason: string, output: ResponseAnswer["output"]): ResponseAnswer => ({
  output,
  incomplete_details: { reason },
});

describe.each(clients)("on %s, a response that was stopped by", (_name, client) => {
  test.each(reasons)("%s is returned as a partial answer", async (reason) => {
    await using at = await createFaultSetup(client, [
      createIncomplete(reason, [message("Once upon a")]),
    ]);
    expect(await at.evaluate()).toMatchObject({
      text: "Once upon a",
      finishReason: toFinishReason(reason),
    });
  });

  test.each(reasons)("%s before any text is an error", async (reason) => {
    const thought = createIncomplete(reason, [reasoning("rs_1")]);
    await using at = await createFaultSetup(client, [first, thought]);
    expect(await at.getFailure()).toMatchObject({
      name: "PromptEvaluationError",
      phase: "response",
      message: expect.stringContaining("The answer is incomplete"),
      partial: { text: "Let me see.", turns: 2 },
    });
    expect(at.turns).toHaveLength(2);
  });

  test.each(reasons)("%s is an error if the prompt has an output schema", async (reason) => {
    const output = z.object({ total: z.number() });
    const cut = createIncomplete(reason, [message('{"total":3')]);
    await using at = await createFaultSetup(client, [cut], { output });
    expect(await at.getFailure()).toMatchObject({
      name: "PromptEvaluationError",
      phase: "response",
      message: expect.stringContaining("The answer is incomplete"),
      providerPayload: { finishReason: toFinishReason(reason), text: '{"total":3' },
    });
  });

  test.each([
    ["max_output_tokens", /Raise maxOutputTokens/],
    ["content_filter", /Rephrase the task/],
  ])("%s is reported with a remedy", async (reason, words) => {
    await using at = await createFaultSetup(client, [createIncomplete(reason, [])]);
    expect(await at.getFailure()).toMatchObject({ message: expect.stringMatching(words) });
  });

  test("another reason does not suggest raising maxOutputTokens", async () => {
    await using at = await createFaultSetup(client, [createIncomplete("steered", [])]);
    const { message: said } = Object(await at.getFailure());
    expect(said).not.toContain("maxOutputTokens");
  });

  test("no reason is returned as a partial answer", async () => {
    const cut = { status: "incomplete", output: [message("Once upon a")] };
    await using at = await createFaultSetup(client, [cut]);
    expect(await at.evaluate()).toMatchObject({ text: "Once upon a", finishReason: "length" });
  });

  test("its length runs its complete calls and continues", async () => {
    const half = { ...functionCall("add", '{"a":3,', "call_2"), status: "incomplete" };
    const script = [createIncomplete("max_output_tokens", [addition, half]), [message("Three.")]];
    await using at = await createFaultSetup(client, script);
    expect(await at.evaluate()).toMatchObject({ text: "Three.", finishReason: "stop" });
    expect(at.additions).toEqual([{ a: 1, b: 2 }]);
    expect(getConversationItems(at.turns[1])).toMatchObject([
      { call_id: "call_1" },
      { output: "3" },
    ]);
    expect(at.bus.of("HistoryRepaired")).toHaveLength(1);
  });

  test("its length within its only call is an error, not an empty answer", async () => {
    const half = { ...functionCall("add", '{"a":3,', "call_2"), status: "incomplete" };
    await using at = await createFaultSetup(client, [
      createIncomplete("max_output_tokens", [half]),
    ]);
    expect(await at.getFailure()).toMatchObject({ phase: "response" });
    expect(at.additions).toEqual([]);
  });

  test("its length after a search can be continued", async () => {
    const cut = createIncomplete("max_output_tokens", [reasoning("rs_1"), webSearchCall("owls")]);
    await using at = await createFaultSetup(client, [cut, [message("Owls.")]]);
    expect(await at.getFailure()).toMatchObject({ phase: "response" });
    expect(await at.evaluate({ continue: true })).toMatchObject({ text: "Owls." });
    const types = getConversationItems(at.turns[1]).map((item) => Object(item).type);
    expect(types).toEqual(["reasoning", "web_search_call", "message"]);
  });
});

describe.each(clients)(
  "on %s, an error has the request id of a response that was",
  (_name, client) => {
    test.each<[string, WireAnswer]>([
      ["not completed", { status: "cancelled", output: [] }],
      ["without output", { json: { id: "resp_1", status: "completed", output: null } }],
      ["empty", []],
      ["stopped", createIncomplete("max_output_tokens", [])],
    ])("%s", async (_how, answer) => {
      await using at = await createFaultSetup(client, [answer]);
      expect(await at.getFailure()).toMatchObject({ phase: "response", requestId: "req_1" });
    });
  },
);
