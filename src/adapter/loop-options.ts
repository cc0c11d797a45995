import { Budget, BudgetTracker } from "../base/budget.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { findModelPrice } from "../base/costs/estimate-cost.ts";
import { Deadline } from "../base/deadline.ts";
import {
  checkKnownKeys,
  getErrorMessage,
  InvalidOptionError,
  type KnownKeys,
} from "../base/errors.ts";
import { PromptEvaluationError } from "../base/evaluation-errors.ts";
import { copyAndFreeze, isPlainObject } from "../base/freeze.ts";
import { type Logger, silentLogger } from "../base/logger.ts";
import { checkInput, type InputPart } from "../prompt/input.ts";
import { Prompt } from "../prompt/prompt.ts";
import { Session } from "../session/session.ts";
import type { LockPlace } from "../session/session-lock.ts";
import { ResourceRegistry } from "../tools/resources.ts";
import type { ModelClient } from "./model-client.ts";
import { type NestedOptions, parentScope } from "./nested-adapter.ts";
import type { EvaluateOptions, ProviderAdapter } from "./provider-adapter.ts";
import { onBarrier } from "./resume/barrier.ts";
import {
  maxThrottleWaitMs,
  type RetrySettings,
  resolveThrottlePolicy,
  type ThrottlePolicy,
} from "./throttle.ts";
import { streamFeed } from "./turn-observer.ts";

const refuse = InvalidOptionError.at((name) => `evaluate(${name})`);

/** Key of the option that holds the evaluation's place in the session's queue, if it was taken before. */
export const lockPlace = Symbol("lockPlace");

/** Options of {@link evaluate}, from the caller and from the adapter. */
export interface LoopOptions extends NestedOptions {
  /** The adapter that runs the evaluation. Tool handlers receive it in their context. */
  readonly adapter: ProviderAdapter;
  /** How throttled requests are retried. */
  readonly throttle?: Partial<ThrottlePolicy> | undefined;
  /** Clock for timestamps and waits. @default the system clock */
  readonly clock?: Clock | undefined;
  /**
   * Returns a number from 0 (inclusive) to 1 (exclusive), for retry delays.
   * @default Math.random
   */
  readonly random?: (() => number) | undefined;
  /** Receives log messages. @default logs nothing */
  readonly logger?: Logger | undefined;
  /** The evaluation's place in the session's queue. @default it takes one when it starts */
  readonly [lockPlace]?: LockPlace | null | undefined;
}

const evaluateKeys: KnownKeys<EvaluateOptions> = {
  allowHostedTools: true,
  approvals: true,
  approve: true,
  budget: true,
  budgetTracker: true,
  continue: true,
  deadline: true,
  ifClaimed: true,
  input: true,
  maxTurns: true,
  resources: true,
  resume: true,
  session: true,
  signal: true,
  toolChoice: true,
};

const loopKeys: KnownKeys<LoopOptions> = {
  ...evaluateKeys,
  adapter: true,
  clock: true,
  logger: true,
  random: true,
  throttle: true,
  [parentScope]: true,
  [streamFeed]: true,
  [onBarrier]: true,
  [maxThrottleWaitMs]: true,
  [lockPlace]: true,
};

/** {@link LoopOptions} with all defaults filled in. */
export interface LoopSettings
  extends Omit<LoopOptions, keyof RetrySettings | "input">,
    RetrySettings {
  readonly session: Session;
  readonly input: readonly InputPart[];
  readonly maxTurns: number;
}

/**
 * Returns the options of an adapter's `evaluate` with a session, new if the caller passed none.
 * Throws `PromptEvaluationError` if there are unknown options.
 */
export function completeEvaluateOptions(
  prompt: Prompt,
  options: NestedOptions | undefined,
): NestedOptions & { readonly session: Session } {
  const given = options ?? {};
  wrapOptionError(prompt, () =>
    checkKnownKeys<EvaluateOptions>(given, "evaluate(options)", evaluateKeys),
  );
  return { ...given, session: given.session === undefined ? new Session() : given.session };
}

/**
 * Wraps errors about invalid options in a `PromptEvaluationError`, so that callers need one catch.
 */
export function wrapOptionError<Result>(prompt: Prompt, check: () => Result): Result {
  try {
    return check();
  } catch (cause) {
    const promptName = String(prompt?.name ?? "");
    throw new PromptEvaluationError(getErrorMessage(cause), {
      promptName,
      phase: "request",
      cause,
    });
  }
}

/** Checks the options and fills in the defaults. Throws `InvalidOptionError`. */
export function resolveLoopSettings(
  prompt: Prompt,
  client: ModelClient,
  options: LoopOptions,
): LoopSettings {
  checkInstance(prompt, Prompt, "prompt");
  checkKnownKeys(options ?? {}, "evaluate(options)", loopKeys);
  const { session = new Session() } = options;
  checkInstance(session, Session, "session");
  const { deadline, budget, budgetTracker, resources, signal, maxTurns = 50 } = options;
  if (deadline !== undefined) checkInstance(deadline, Deadline, "deadline");
  if (budget !== undefined) checkInstance(budget, Budget, "budget");
  if (budgetTracker !== undefined) checkInstance(budgetTracker, BudgetTracker, "budgetTracker");
  if (resources !== undefined) checkInstance(resources, ResourceRegistry, "resources");
  if (signal !== undefined) checkInstance(signal, AbortSignal, "signal");
  if (!Number.isSafeInteger(maxTurns) || maxTurns < 1) {
    throw refuse("maxTurns", maxTurns, "must be a positive integer", "omit it for 50");
  }
  checkAllowedHostedTools(options.allowHostedTools);
  checkResumption(options, client);
  checkApprovals(options);
  for (const limits of [budget, budgetTracker?.budget]) if (limits) checkPrice(limits, client);
  if (options.continue && !client.canContinue) {
    const rule = `must be omitted, because ${client.adapterName} stores no history to continue`;
    throw refuse(
      "continue",
      true,
      rule,
      "start a new conversation, or use an adapter that stores history",
    );
  }
  return {
    ...options,
    session,
    input: options.input === undefined ? [] : checkInput(options.input),
    toolChoice: copyAndFreeze(options.toolChoice),
    approvals: copyAndFreeze(options.approvals),
    maxTurns,
    throttle: resolveThrottlePolicy(options.throttle),
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    logger: options.logger ?? silentLogger,
  };
}

function checkResumption({ resume, ifClaimed }: LoopOptions, client: ModelClient): void {
  if (ifClaimed !== undefined && ifClaimed !== "refuse" && ifClaimed !== "wait") {
    throw refuse("ifClaimed", ifClaimed, 'must be "refuse" or "wait"', 'omit it for "refuse"');
  }
  if (!resume || client.resume) return;
  const rule = `must be omitted, because ${client.adapterName} cannot resume an evaluation`;
  throw refuse("resume", true, rule, "start again, or use an adapter that can resume");
}

/** A budget of money needs a price. A model that only the provider names is checked after the first turn. */
function checkPrice({ maxUsd, prices }: Budget, { model }: ModelClient): void {
  if (maxUsd === null || !model || findModelPrice(model, prices)) return;
  const rule = `must have a price for the model, because maxUsd is set (prices of ${prices.date})`;
  const remedy = "pass prices with an entry for the model to Budget, or omit maxUsd";
  throw refuse("budget", model, rule, remedy);
}

function checkApprovals({ approve, approvals }: LoopOptions): void {
  if (approve !== undefined && typeof approve !== "function") {
    throw refuse(
      "approve",
      approve,
      "must be a function",
      "omit it to deny calls that need approval",
    );
  }
  if (approvals === undefined) return;
  const isDecision = (value: unknown) => value === "approve" || value === "deny";
  if (isPlainObject(approvals) && Object.values(approvals).every(isDecision)) return;
  const rule = 'must be an object whose values are "approve" or "deny"';
  throw refuse("approvals", approvals, rule, "use the keys of EvaluationParkedError.approvals");
}

interface Constructor {
  readonly name: string;
  [Symbol.hasInstance](value: unknown): boolean;
}

function checkInstance(value: unknown, type: Constructor, field: string): void {
  if (type[Symbol.hasInstance](value)) return;
  const article = /^[AEIOU]/.test(type.name) ? "an" : "a";
  throw refuse(field, value, `must be ${article} ${type.name}`, `pass ${article} ${type.name}`);
}

function checkAllowedHostedTools(allowed: boolean | readonly string[] | undefined): void {
  if (allowed === undefined || typeof allowed === "boolean") return;
  if (Array.isArray(allowed) && allowed.every((name) => typeof name === "string")) return;
  const rule = "must be true, false or an array of names or kinds";
  throw refuse("allowHostedTools", allowed, rule, 'use an array such as ["web_search"]');
}
