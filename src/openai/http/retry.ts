import {
  maxThrottleWaitMs,
  type RetrySettings,
  resolveThrottlePolicy,
  retryThrottled,
} from "../../adapter/throttle.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { ThrottleError } from "../../base/evaluation-errors.ts";
import { silentLogger } from "../../base/logger.ts";
import { fromRequestError } from "../errors/from-request-error.ts";
import { OpenAIRequestError } from "../errors/request-error.ts";

/** Creates the default retry settings. */
export function createRetrySettings(clock: Clock = systemClock): RetrySettings {
  return { throttle: resolveThrottlePolicy(), clock, random: Math.random, logger: silentLogger };
}

/**
 * Sends a request and retries it while the provider throttles it. Throws a `ThrottleError` when the
 * attempts are used up, otherwise the request's own error. The retries of an evaluation do not repeat
 * that `ThrottleError`, and the evaluation adds its prompt's name.
 */
export async function withRetries<Result>(
  request: () => Promise<Result>,
  retry: RetrySettings,
  signal: AbortSignal,
): Promise<Result> {
  const sendOnce = async () => {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof OpenAIRequestError)) throw error;
      const judged = fromRequestError(error, "");
      throw judged instanceof ThrottleError ? judged : error;
    }
  };
  const { throttle, clock, random, logger } = retry;
  const limit = { [maxThrottleWaitMs]: retry[maxThrottleWaitMs] };
  const settings = { throttle, clock, random, logger, ...limit, deadline: null, signal };
  return await retryThrottled(sendOnce, settings);
}
