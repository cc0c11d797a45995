import { describe, expect, test } from "vitest";
import { WinkError } from "./errors.ts";
import {
  BudgetExceededError,
  DeadlineExceededError,
  PromptEvaluationError,
  ThrottleError,
} from "./evaluation-errors.ts";
import { noUsage, toUsage } from "./usage.ts";

describe("PromptEvaluationError", () => {
  test("uses nulls and an empty partial response for omitted details", () => {
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

  test("retains its cause, the provider's payload and the partial response", () => {
    const partial = {
      text: "So far",
      hostedCalls: [],
      usage: toUsage({ inputTokens: 3 }),
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

test("PromptEvaluationError is the base class of the throttle, deadline and budget errors", () => {
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

test("ThrottleError has the kind, the requested wait and the number of attempts", () => {
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

test("BudgetExceededError reports the tokens used, the limit and the remedy", () => {
  const excess = { dimension: "outputTokens", used: 12, limit: 10 } as const;
  const error = new BudgetExceededError(excess, { promptName: "p" });
  expect(error).toMatchObject(excess);
  expect(error.message).toBe(
    "Used 12 outputTokens, but the budget allows 10. Raise the budget or shorten the task.",
  );
});
