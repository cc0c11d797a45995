import { describe, expect, test } from "vitest";
import { WinkError } from "./errors.ts";
import {
  BudgetExceededError,
  DeadlineExceededError,
  PromptEvaluationError,
  ThrottleError,
} from "./evaluation-errors.ts";
import { noUsage, usageOf } from "./usage.ts";

describe("a failed evaluation", () => {
  test("of which nothing more is known says so with nulls and an empty partial response", () => {
    const error = new PromptEvaluationError("no", { promptName: "p", phase: "render" });
    expect(error).toBeInstanceOf(WinkError);
    expect(error).toMatchObject({
      name: "PromptEvaluationError",
      message: "no",
      promptName: "p",
      phase: "render",
      providerPayload: null,
      requestId: null,
      partial: { text: null, hostedCalls: [], usage: noUsage, responseId: null, turns: 0 },
    });
    expect("cause" in error).toBe(false);
    expect(error.partial).toSatisfy(Object.isFrozen);
  });

  test("keeps its cause, what the provider sent and what was had", () => {
    const partial = {
      text: "So far",
      hostedCalls: [],
      usage: usageOf({ inputTokens: 3 }),
      responseId: "r1",
      turns: 2,
    };
    const cause = new Error("deeper");
    const providerPayload = { error: { code: "oops" } };
    const details = { promptName: "p", requestId: "q1", providerPayload, partial, cause };
    const error = new PromptEvaluationError("no", { ...details, phase: "response" });
    expect(error).toMatchObject(details);
    expect(error.partial).toBe(partial);
  });
});

test("one catch suffices: limits and throttling are failed evaluations too", () => {
  const details = { promptName: "p" };
  const excess = { dimension: "totalTokens", used: 3, limit: 2 } as const;
  const errors = [
    new ThrottleError("slow down", { ...details, kind: "rate_limit" }),
    new DeadlineExceededError("late", { ...details, phase: "request" }),
    new BudgetExceededError(excess, details),
  ];
  expect(errors.every((error) => error instanceof PromptEvaluationError)).toBe(true);
  expect(errors.map(({ name, phase }) => `${name} ${phase}`)).toEqual([
    "ThrottleError request",
    "DeadlineExceededError request",
    "BudgetExceededError budget",
  ]);
});

test("a throttled request says its kind, how long to wait and how often it was tried", () => {
  const details = { promptName: "p", kind: "server" } as const;
  expect(new ThrottleError("busy", details)).toMatchObject({
    kind: "server",
    retryAfterMs: null,
    attempts: 1,
  });
  expect(new ThrottleError("busy", { ...details, retryAfterMs: 50, attempts: 3 })).toMatchObject({
    retryAfterMs: 50,
    attempts: 3,
  });
});

test("an exceeded budget says what was used, what is allowed and what to do", () => {
  const excess = { dimension: "outputTokens", used: 12, limit: 10 } as const;
  const error = new BudgetExceededError(excess, { promptName: "p" });
  expect(error).toMatchObject(excess);
  expect(error.message).toBe(
    "12 outputTokens were used and the budget allows 10: raise the budget or shorten the task",
  );
});
