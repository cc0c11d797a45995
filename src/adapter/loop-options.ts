import { Budget, BudgetTracker } from "../base/budget.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { Deadline } from "../base/deadline.ts";
import { InvalidOptionError } from "../base/errors.ts";
import { type Logger, silentLogger } from "../base/logger.ts";
import { Prompt } from "../prompt/prompt.ts";
import { Session } from "../session/session.ts";
import { ResourceRegistry } from "../tools/resources.ts";
import type { ModelClient } from "./model-client.ts";
import type { NestedOptions } from "./nested-adapter.ts";
import type { ProviderAdapter } from "./provider-adapter.ts";
import { type RetrySettings, type ThrottlePolicy, throttlePolicy } from "./throttle.ts";

const refuse = InvalidOptionError.at((name) => `evaluate(${name})`);

/** What the caller of an adapter said, and what the adapter adds to it. */
export interface LoopOptions extends NestedOptions {
  readonly adapter: ProviderAdapter;
  readonly throttle?: Partial<ThrottlePolicy> | undefined;
  readonly clock?: Clock | undefined;
  /** From 0 up to 1. @default Math.random */
  readonly random?: (() => number) | undefined;
  readonly logger?: Logger | undefined;
}

/** The same with its defaults. */
export interface LoopSettings extends Omit<LoopOptions, keyof RetrySettings>, RetrySettings {
  readonly maxTurns: number;
}

/** Refuses what cannot be, before anything is done. */
export function loopSettings(
  prompt: Prompt,
  client: ModelClient,
  options: LoopOptions,
): LoopSettings {
  checkInstance(prompt, Prompt, "prompt");
  checkInstance(options?.session, Session, "session");
  const { deadline, budget, budgetTracker, resources, signal, maxTurns = 50 } = options;
  if (deadline !== undefined) checkInstance(deadline, Deadline, "deadline");
  if (budget !== undefined) checkInstance(budget, Budget, "budget");
  if (budgetTracker !== undefined) checkInstance(budgetTracker, BudgetTracker, "budgetTracker");
  if (resources !== undefined) checkInstance(resources, ResourceRegistry, "resources");
  if (signal !== undefined) checkInstance(signal, AbortSignal, "signal");
  if (!Number.isSafeInteger(maxTurns) || maxTurns < 1) {
    throw refuse("maxTurns", maxTurns, "must be a whole number from 1", "leave it out for 50");
  }
  checkAllowed(options.allowHostedTools);
  if (options.continue && !client.canContinue) {
    const rule = `must be left out, because ${client.adapterName} keeps no history to go on from`;
    throw refuse("continue", true, rule, "start anew, or use an adapter that stores history");
  }
  return {
    ...options,
    maxTurns,
    throttle: throttlePolicy(options.throttle),
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    logger: options.logger ?? silentLogger,
  };
}

interface ClassOf {
  readonly name: string;
  [Symbol.hasInstance](value: unknown): boolean;
}

function checkInstance(value: unknown, type: ClassOf, field: string): void {
  if (type[Symbol.hasInstance](value)) return;
  const article = /^[AEIOU]/.test(type.name) ? "an" : "a";
  throw refuse(field, value, `must be ${article} ${type.name}`, `give the ${type.name} itself`);
}

function checkAllowed(allowed: boolean | readonly string[] | undefined): void {
  if (allowed === undefined || typeof allowed === "boolean") return;
  if (Array.isArray(allowed) && allowed.every((name) => typeof name === "string")) return;
  const rule = "must be true, false or a list of names or kinds";
  throw refuse("allowHostedTools", allowed, rule, 'for example ["web_search"]');
}
