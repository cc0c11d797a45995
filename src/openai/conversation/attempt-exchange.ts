import type { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { warn } from "../../base/warn.ts";
import type { DeliveryState } from "../adapter-settings.ts";
import { findRejection } from "../errors/container-failure.ts";
import { fromRequestError } from "../errors/from-request-error.ts";
import { isContainerRejection } from "../errors/rejection.ts";
import { type OpenAIRequestError, toRequestError } from "../errors/request-error.ts";
import type { RawResponse } from "../http/background-calls.ts";
import { findNamedContainers } from "../request/request.ts";
import { ResponseStream } from "../response/response-stream.ts";
import type { BackgroundTurn } from "./background-turn.ts";
import { createContainerGoneError } from "./check-containers.ts";
import {
  type Exchange,
  type ExchangeSettings,
  REQUEST,
  type RequestBase,
  sendRequest,
} from "./send-request.ts";

/**
 * Sends `POST /responses` once, or gets the response of a turn in the background. A failure is returned,
 * because the conversation may be able to repair it.
 */
export async function attemptExchange(
  exchange: Exchange,
  settings: ExchangeSettings,
  background: BackgroundTurn | null = null,
): Promise<RawResponse | OpenAIRequestError> {
  const { history, base, signal } = exchange;
  const { logger, delivery, timeoutMs } = settings;
  const { model, max_output_tokens: maxOutputTokens } = base.value;
  logger.debug("request", { model, items: history.length, maxOutputTokens });
  const used = { ...delivery };
  try {
    const answer = background
      ? await background.exchange(exchange, settings)
      : await sendRequest(exchange, settings, new ResponseStream(exchange.listener));
    // If the container is lost during a turn, the HTTP status is 200 and the response has failed.
    const hasFailed = isPlainObject(answer.value) && answer.value["status"] === "failed";
    const rejection = hasFailed ? findRejection(answer.value, base) : null;
    if (rejection) return rejection;
    logger.debug("response", { model, requestId: answer.requestId });
    return answer;
  } catch (thrown) {
    const { secrets } = base;
    const error = toRequestError(thrown, { request: REQUEST, signal, secrets, timeoutMs });
    const { status, requestId, message } = error;
    logger.warn("request failed", { model, status, requestId, message });
    if (refusesStream(error, used)) {
      adjustDelivery(error, settings);
      return await attemptExchange(exchange, settings, background);
    }
    return error;
  }
}

/** Converts a request that finally failed to the error that the caller gets. */
export function toEvaluationError(
  error: OpenAIRequestError,
  { value }: RequestBase,
  promptName: string,
): PromptEvaluationError {
  const [id] = findNamedContainers(value.tools ?? []);
  // The caller must replace their own container.
  return id !== undefined && isContainerRejection(error)
    ? createContainerGoneError(id, error, promptName)
    : fromRequestError(error, promptName);
}

/** Whether the provider refused the request because of a field that streaming adds. */
function refusesStream({ status, param }: OpenAIRequestError, used: DeliveryState): boolean {
  if (status !== 400 || !used.isStreamed || param === null) return false;
  return param === "stream" || (used.hasStreamOptions && param.startsWith("stream_options"));
}

/** Stops sending the refused field, for all requests of the adapter. Warns once. */
function adjustDelivery(error: OpenAIRequestError, { delivery, logger }: ExchangeSettings): void {
  const isOption = error.param !== "stream";
  const isKnown = isOption ? !delivery.hasStreamOptions : !delivery.isStreamed;
  if (isKnown) return; // another evaluation was faster
  if (isOption) delivery.hasStreamOptions = false;
  else delivery.isStreamed = false;
  const problem = isOption
    ? "The provider refuses stream_options. The adapter no longer sends it"
    : 'The provider refuses to stream. The adapter now uses delivery "buffered"';
  logger.warn(problem, { message: error.message });
  warn(problem, error);
}
