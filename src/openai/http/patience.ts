import { type ThrottlePolicy, throttled, throttlePolicy } from "../../adapter/throttle.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { ThrottleError } from "../../base/evaluation-errors.ts";
import { type Logger, silentLogger } from "../../base/logger.ts";
import { evaluationErrorOf } from "../errors/evaluation-error.ts";
import { OpenAIRequestError } from "../errors/request-error.ts";

/** How requests that the provider puts off are sent again. */
export interface Patience {
  readonly throttle: ThrottlePolicy;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

/** That of an adapter which was told nothing. */
export function defaultPatience(clock: Clock = systemClock): Patience {
  return { throttle: throttlePolicy(), clock, random: Math.random, logger: silentLogger };
}

/** One request, sent again while that may help. Fails as the request does. */
export async function patiently<Result>(
  request: () => Promise<Result>,
  { throttle: policy, clock, random, logger }: Patience,
  signal: AbortSignal,
): Promise<Result> {
  const attempt = async () => {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof OpenAIRequestError)) throw error;
      const judged = evaluationErrorOf(error, "");
      throw judged instanceof ThrottleError ? judged : error;
    }
  };
  try {
    return await throttled(attempt, { policy, clock, random, logger, deadline: null, signal });
  } catch (error) {
    throw error instanceof ThrottleError ? error.cause : error; // there is no prompt to blame
  }
}
