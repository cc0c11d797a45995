import type { Clock } from "../base/clock.ts";
import type { Deadline } from "../base/deadline.ts";
import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "../base/errors.ts";
import { ThrottleError } from "../base/evaluation-errors.ts";
import type { Logger } from "../base/logger.ts";

/** How often and after which delays a throttled request is retried. */
export interface ThrottlePolicy {
  /** Maximum number of attempts, including the first. @default 5 */
  readonly maxAttempts: number;
  /** Delay after the first attempt in milliseconds. It doubles with each attempt. @default 500 */
  readonly baseDelayMs: number;
  /** Maximum delay in milliseconds. @default 8000 */
  readonly maxDelayMs: number;
  /**
   * Maximum of all delays together in milliseconds. A longer Retry-After is honored up to the
   * deadline.
   * @default 30000
   */
  readonly maxTotalMs: number;
}

const defaultPolicy: ThrottlePolicy = Object.freeze({
  maxAttempts: 5,
  baseDelayMs: 500,
  maxDelayMs: 8_000,
  maxTotalMs: 30_000,
});

const refuse = InvalidOptionError.at("throttle");
const throttleKeys: KnownKeys<ThrottlePolicy> = {
  baseDelayMs: true,
  maxAttempts: true,
  maxDelayMs: true,
  maxTotalMs: true,
};

/** Fills in the defaults and checks the values. Throws `InvalidOptionError`. */
export function resolveThrottlePolicy(overrides: Partial<ThrottlePolicy> = {}): ThrottlePolicy {
  checkKnownKeys(overrides, "throttle", throttleKeys);
  const policy = { ...defaultPolicy, ...overrides };
  for (const [name, value] of Object.entries(policy)) {
    const isRight =
      name === "maxAttempts"
        ? Number.isSafeInteger(value) && value >= 1
        : Number.isFinite(value) && value > 0;
    if (isRight) continue;
    const rule =
      name === "maxAttempts" ? "must be a positive integer" : "must be a positive number";
    throw refuse(name, value, rule, "omit it for the default");
  }
  return Object.freeze(policy);
}

/**
 * Key of the option with the longest time that a throttled request may wait for its next attempt, in milliseconds. A
 * longer wait is not started: the `ThrottleError` ends the evaluation at once, and a stored one can be resumed later.
 * Waits that cannot end the evaluation are not limited, such as the download of files before they would be lost.
 */
export const maxThrottleWaitMs = Symbol("maxThrottleWaitMs");

/** Settings for retrying throttled requests. */
export interface RetrySettings {
  /** The longest wait for the next attempt. @default any wait until the deadline */
  readonly [maxThrottleWaitMs]?: number | undefined;
  readonly throttle: ThrottlePolicy;
  readonly clock: Clock;
  /** Returns a number from 0 (inclusive) to 1 (exclusive), like `Math.random`. */
  readonly random: () => number;
  readonly logger: Logger;
}

/** Settings for retrying the requests of one evaluation. */
export interface ThrottleSettings extends RetrySettings {
  readonly deadline: Deadline | null;
  readonly signal: AbortSignal;
}

/** Errors whose retries are used up. An outer retry does not repeat them. */
const exhausted = new WeakSet<ThrottleError>();

/** Errors that were not retried because of {@link maxThrottleWaitMs}. */
const unawaited = new WeakSet<object>();

/** Whether an error is thrown because the wait for the next attempt would exceed {@link maxThrottleWaitMs}. */
export function isWaitTooLong(error: unknown): error is ThrottleError {
  return error instanceof ThrottleError && unawaited.has(error);
}

/**
 * Retries throttled attempts after the delay that the provider requests. Throws the last
 * `ThrottleError`. An error that a nested call has already retried is thrown unchanged.
 */
export async function retryThrottled<Result>(
  attempt: () => Promise<Result>,
  setting: ThrottleSettings,
): Promise<Result> {
  let waitedMs = 0;
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ThrottleError) || exhausted.has(error)) throw error;
      Object.assign(error, { attempts });
      const delayMs = computeDelay(error, waitedMs, setting);
      const isTooLong = delayMs !== null && delayMs > (setting[maxThrottleWaitMs] ?? delayMs);
      if (isTooLong) unawaited.add(error);
      if (delayMs === null || isTooLong) {
        exhausted.add(error);
        throw error;
      }
      const { kind } = error;
      setting.logger.warn("throttled: waiting to try again", { kind, attempts, delayMs });
      await setting.clock.sleep(delayMs, setting.signal);
      waitedMs += delayMs;
    }
  }
}

/** Returns the delay before the next attempt, or `null` if there should be none. */
function computeDelay(
  error: ThrottleError,
  waitedMs: number,
  setting: ThrottleSettings,
): number | null {
  const { throttle: policy, random, deadline } = setting;
  const { attempts, retryAfterMs } = error;
  if (error.kind === "quota_exhausted" || attempts >= policy.maxAttempts) return null;
  const requestedMs = retryAfterMs ?? 0;
  const cap = Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (attempts - 1));
  const delay = Math.max(policy.baseDelayMs, requestedMs, random() * Math.max(cap, requestedMs));
  if (deadline && deadline.remainingMs() <= delay) return null;
  return requestedMs === 0 && waitedMs + delay > policy.maxTotalMs ? null : delay;
}
