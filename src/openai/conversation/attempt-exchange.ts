import type { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { warn } from "../../base/warn.ts";
import type { AdapterSettings, DeliveryState } from "../adapter-settings.ts";
import { findRejection } from "../errors/container-failure.ts";
import { fromRequestError } from "../errors/from-request-error.ts";
import { isContainerRejection } from "../errors/rejection.ts";
import { type OpenAIRequestError, toRequestError } from "../errors/request-error.ts";
import type { History } from "../history/history.ts";
import { streamWithClient } from "../http/client-stream.ts";
import { HttpClient } from "../http/http-client.ts";
import { getRequestId } from "../http/json-response.ts";
import { findNamedContainers } from "../request/request.ts";
import type { TurnListener } from "../response/response-parts.ts";
import { ResponseStream } from "../response/response-stream.ts";
import type { WireRequest } from "../wire.ts";
import { createContainerGoneError } from "./check-containers.ts";

/** A request without its input, as a value and as JSON. */
export interface RequestBase {
  readonly value: WireRequest;
  readonly text: string;
  /** Headers that hosted tools add. */
  readonly headers: Readonly<Record<string, string>>;
  /** Strings to redact from errors. */
  readonly secrets: readonly string[];
}

/** The provider's response, not yet parsed. */
export interface RawResponse {
  readonly value: unknown;
  readonly requestId: string | null;
}

/** The adapter settings that an exchange uses. */
export type ExchangeSettings = Pick<
  AdapterSettings,
  "client" | "timeoutMs" | "logger" | "delivery"
>;

/** One request and its observer. */
export interface Exchange {
  readonly history: History;
  readonly base: RequestBase;
  readonly signal: AbortSignal;
  /** Observes the response as it arrives; `null` if nothing does. */
  readonly listener: TurnListener | null;
}

/** Sends `POST /responses` once. A failure is returned, because the conversation may be able to repair it. */
export async function attemptExchange(
  exchange: Exchange,
  settings: ExchangeSettings,
): Promise<RawResponse | OpenAIRequestError> {
  const { history, base, signal } = exchange;
  const { logger, delivery, timeoutMs } = settings;
  const { model, max_output_tokens: maxOutputTokens } = base.value;
  logger.debug("request", { model, items: history.length, maxOutputTokens });
  const used = { ...delivery };
  try {
    const answer = await sendResponsesRequest(exchange, settings);
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
      return await attemptExchange(exchange, settings);
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

const REQUEST = "POST /responses";

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

async function sendResponsesRequest(
  exchange: Exchange,
  { client, timeoutMs, delivery }: ExchangeSettings,
): Promise<RawResponse> {
  const { history, base, signal, listener } = exchange;
  const { headers, secrets } = base;
  const stream = delivery.isStreamed ? toStreamFields(delivery) : null;
  if (client instanceof HttpClient) {
    if (!stream) {
      return await client.post("/responses", history.toRequestBody(base.text), { signal, headers });
    }
    // After the other fields, so that requests with the same prompt begin alike.
    const fields = `${base.text.slice(0, -1)},${JSON.stringify(stream).slice(1)}`;
    const body = history.toRequestBody(fields);
    const receiver = new ResponseStream(listener);
    return await client.postStreamed("/responses", body, receiver, { signal, headers });
  }
  const options = { maxRetries: 0, signal, timeout: timeoutMs, headers };
  const body = history.toRequestValue(base.value);
  if (stream) {
    const context = { request: REQUEST, signal, secrets, timeoutMs };
    const request = { body: { ...body, ...stream }, options, context };
    return await streamWithClient(client, request, new ResponseStream(listener));
  }
  const value: unknown = await client.responses.create(body, options);
  return { value, requestId: getRequestId(value) };
}

/** Creates the fields that make the provider stream. Padding of events would only cost time. */
function toStreamFields({ hasStreamOptions }: DeliveryState): object {
  const options = hasStreamOptions && { stream_options: { include_obfuscation: false } };
  return { stream: true, ...options };
}
