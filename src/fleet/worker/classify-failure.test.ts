import { describe, expect, test } from "vitest";
import { EvaluationParkedError } from "../../adapter/approvals/evaluation-parked-error.ts";
import type { StandingEvaluation } from "../../adapter/resume/standing.ts";
import { InvalidOptionError, OutputParseError, PromptRenderError } from "../../base/errors.ts";
import {
  BudgetExceededError,
  DeadlineExceededError,
  type EvaluationPhase,
  PromptEvaluationError,
  ThrottleError,
} from "../../base/evaluation-errors.ts";
import { noUsage } from "../../base/usage.ts";
import { ContainerExpiredError, OpenAIRequestError } from "../../openai/index.ts";
import { SessionStoreError } from "../../session/session-store.ts";
import { SnapshotRestoreError } from "../../session/snapshot-errors.ts";
import { classifyFailure } from "./classify-failure.ts";

const details = { promptName: "agent:task" };
const option = new InvalidOptionError({ field: "f", value: 1, rule: "r", remedy: "m" });
const failIn = (phase: EvaluationPhase, cause?: unknown) =>
  new PromptEvaluationError("Failed.", { ...details, phase, cause });
const throttle = (retryAfterMs: number | null) =>
  new ThrottleError("Slow down.", { ...details, kind: "rate_limit", retryAfterMs });
const answer = (fields: Partial<ConstructorParameters<typeof OpenAIRequestError>[1]>) =>
  new OpenAIRequestError("POST /responses failed", { reason: "status", status: 400, ...fields });
const machine = (code: string) => Object.assign(new Error(code), { code });

/** The last stored turn of a run. */
const standAt = (last: object | null): StandingEvaluation => ({
  ...{ promptName: "agent:task", adapter: "scripted", inputDigest: null, isDone: false },
  ...{ isStopped: false, usage: noUsage, started: [], answered: [], submittedId: null },
  last:
    last && ({ type: "TurnCompleted", turn: 2, toolCalls: [], hostedCalls: [], ...last } as never),
});
const call = { callId: "c", name: "wait", arguments: "{}" };

describe("a failed attempt", () => {
  test.each<readonly [string, string, unknown]>([
    ["approval", "calls wait for approval", new EvaluationParkedError([], details)],
    [
      "fail",
      "the deadline has passed",
      new DeadlineExceededError("Late.", { ...details, phase: "tool" }),
    ],
    [
      "fail",
      "the budget is used up",
      new BudgetExceededError({ dimension: "totalTokens", used: 2, limit: 1 }, details),
    ],
    ["pause", "the provider asks for more than a minute", throttle(60_001)],
    ["retry", "the provider asks for a minute", throttle(60_000)],
    ["retry", "the provider asks for no pause", throttle(null)],
    ["fail", "an option is wrong", option],
    ["fail", "an option of the evaluation is wrong", failIn("request", option)],
    ["fail", "the stored session does not fit", new SnapshotRestoreError("No slice.")],
    ["retry", "prepare or finalize throws", new TypeError("no template")],
    ["retry", "something that is no error is thrown", "thrown"],
    ["retry", "the store failed", failIn("store", new SessionStoreError("Down."))],
    ["retry", "a section could not be prepared", failIn("render", machine("ECONNRESET"))],
    [
      "retry",
      "a section failed because of another failure",
      failIn("render", new PromptRenderError("a", "b", new Error("x"))),
    ],
    ["fail", "a section cannot be rendered", failIn("render", new PromptRenderError("a", "b"))],
    ["fail", "the prompt cannot be rendered", failIn("render")],
    [
      "retry",
      "the container expired",
      failIn("request", new ContainerExpiredError("c", answer({}), "create another")),
    ],
    [
      "retry",
      "the disk is full",
      failIn("request", new Error("sync", { cause: machine("ENOSPC") })),
    ],
    ["retry", "no process can be started", failIn("request", machine("EAGAIN"))],
    ["retry", "the memory is used up", failIn("request", machine("ENOMEM"))],
    ["fail", "a file is missing", failIn("request", machine("ENOENT"))],
    ["retry", "the network failed", failIn("request", answer({ reason: "network", status: null }))],
    [
      "retry",
      "the request took too long",
      failIn("request", answer({ reason: "timeout", status: null })),
    ],
    ["retry", "the provider failed", failIn("request", answer({ status: 502 }))],
    ["retry", "the provider is busy", failIn("request", answer({ status: 409 }))],
    ["fail", "the provider refuses the request", failIn("request", answer({ status: 400 }))],
    ["fail", "the request failed for no known reason", failIn("request")],
    ["fail", "a tool stopped the evaluation", failIn("tool")],
    ["fail", "no price is known", failIn("budget")],
  ])("leads to %s if %s", (expected, _why, error) => {
    expect(classifyFailure(error, { standing: null, maxTurns: 50 })).toBe(expected);
  });

  test.each<readonly [string, string, StandingEvaluation | null]>([
    ["retry", "the evaluation has not started", null],
    ["retry", "no turn is stored", standAt(null)],
    ["fail", "the stored turn is the answer", standAt({})],
    ["retry", "the stored turn has calls", standAt({ toolCalls: [call] })],
    ["retry", "the stored turn has calls of the provider", standAt({ delegatedCalls: [call] })],
    ["retry", "the provider continues the stored turn", standAt({ continues: true })],
    ["fail", "no more turns are allowed", standAt({ toolCalls: [call], turn: 50 })],
  ])("leads to %s if the answer cannot be read and %s", (expected, _why, standing) => {
    for (const error of [failIn("response"), failIn("parse", new OutputParseError("No JSON", "x"))])
      expect(classifyFailure(error, { standing, maxTurns: 50 })).toBe(expected);
  });
});
