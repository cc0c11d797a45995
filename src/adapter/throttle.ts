import type { Clock } from "../base/clock.ts";
import type { Deadline } from "../base/deadline.ts";
import { InvalidOptionError } from "../base/errors.ts";
import { ThrottleError } from "../base/evaluation-errors.ts";
import type { Logger } from "../base/logger.ts";

/** How often, and how long apart, a request that was throttled is sent again. */
export interface ThrottlePolicy {
  /** @default 5 */
  readonly maxAttempts: number;
  /** @default 500 */
  readonly baseDelayMs: number;
  /** @default 8000 */
  readonly maxDelayMs: number;
  /** Of all waits together; a Retry-After beyond it is waited out up to the deadline. @default 30000 */
  readonly maxTotalMs: number;
}

const defaultPolicy: ThrottlePolicy = Object.freeze({
  maxAttempts: 5,
  baseDelayMs: 500,
  maxDelayMs: 8_000,
  maxTotalMs: 30_000,
});

/** Fills in the defaults and refuses what cannot be waited by. */
export function throttlePolicy(given: Partial<ThrottlePolicy> = {}): ThrottlePolicy {
  const policy = { ...defaultPolicy, ...given };
  for (const [name, value] of Object.entries(policy)) {
    const isRight =
      name === "maxAttempts"
        ? Number.isSafeInteger(value) && value >= 1
        : Number.isFinite(value) && value > 0;
    const isKnown = Object.hasOwn(defaultPolicy, name);
    if (isRight && isKnown) continue;
    const number = name === "maxAttempts" ? "a whole number from 1" : "a positive number";
    const rule = isKnown ? `must be ${number}` : "must be left out, as there is no such option";
    const remedy = `use one of ${Object.keys(defaultPolicy).join(", ")}, or leave it out`;
    throw new InvalidOptionError({ field: `throttle.${name}`, value, rule, remedy });
  }
  return Object.freeze(policy);
}

/** How an adapter sends throttled requests again. */
export interface RetrySettings {
  readonly throttle: ThrottlePolicy;
  readonly clock: Clock;
  /** From 0 up to 1, like `Math.random`. */
  readonly random: () => number;
  readonly logger: Logger;
}

/** How long the requests of one evaluation may be sent again. */
export interface ThrottleSettings extends RetrySettings {
  readonly deadline: Deadline | null;
  readonly signal: AbortSignal;
}

/** Tries until it works, waiting as the provider asks; gives up with the last `ThrottleError`. */
export async function throttled<Result>(
  attempt: () => Promise<Result>,
  setting: ThrottleSettings,
): Promise<Result> {
  let waitedMs = 0;
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ThrottleError)) throw error;
      Object.assign(error, { attempts });
      const delayMs = delayAfter(error, waitedMs, setting);
      if (delayMs === null) throw error;
      const { kind } = error;
      setting.logger.warn("throttled: waiting to try again", { kind, attempts, delayMs });
      await setting.clock.sleep(delayMs, setting.signal);
      waitedMs += delayMs;
    }
  }
}

/** `null`: it is not worth another try. */
function delayAfter(
  error: ThrottleError,
  waitedMs: number,
  setting: ThrottleSettings,
): number | null {
  const { throttle: policy, random, deadline } = setting;
  const { attempts, retryAfterMs } = error;
  if (error.kind === "quota_exhausted" || attempts >= policy.maxAttempts) return null;
  const asked = retryAfterMs ?? 0;
  const cap = Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (attempts - 1));
  const delay = Math.max(policy.baseDelayMs, asked, random() * Math.max(cap, asked));
  if (deadline && deadline.remainingMs() <= delay) return null;
  return asked === 0 && waitedMs + delay > policy.maxTotalMs ? null : delay;
}
