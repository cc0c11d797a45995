import type { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import type { AdapterSettings } from "../adapter-settings.ts";
import { findContainerFailure } from "../errors/container-failure.ts";
import { fromRequestError } from "../errors/from-request-error.ts";
import { isContainerRejection } from "../errors/rejection.ts";
import { type OpenAIRequestError, toRequestError } from "../errors/request-error.ts";
import type { History } from "../history/history.ts";
import { HttpClient } from "../http/http-client.ts";
import { getRequestId } from "../http/json-response.ts";
import { findNamedContainers } from "../request/request.ts";
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
export type ExchangeSettings = Pick<AdapterSettings, "client" | "timeoutMs" | "logger">;

/** Sends `POST /responses` once. A failure is returned, because the conversation may be able to repair it. */
export async function attemptExchange(
  history: History,
  base: RequestBase,
  settings: ExchangeSettings,
  signal: AbortSignal,
): Promise<RawResponse | OpenAIRequestError> {
  const { logger } = settings;
  const { model, max_output_tokens: maxOutputTokens } = base.value;
  logger.debug("request", { model, items: history.length, maxOutputTokens });
  try {
    const answer = await sendResponsesRequest(history, base, settings, signal);
    // If the container is lost during a turn, the HTTP status is 200 and the response has failed.
    const hasFailed = isPlainObject(answer.value) && answer.value["status"] === "failed";
    const gone = hasFailed ? findContainerFailure(answer.value, base) : null;
    if (gone) return gone;
    logger.debug("response", { model, requestId: answer.requestId });
    return answer;
  } catch (thrown) {
    const { secrets } = base;
    const error = toRequestError(thrown, { request: "POST /responses", signal, secrets });
    const { status, requestId, message } = error;
    logger.warn("request failed", { model, status, requestId, message });
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

async function sendResponsesRequest(
  history: History,
  base: RequestBase,
  { client, timeoutMs }: ExchangeSettings,
  signal: AbortSignal,
): Promise<RawResponse> {
  if (client instanceof HttpClient) {
    const body = history.toRequestBody(base.text);
    return await client.post("/responses", body, { signal, headers: base.headers });
  }
  const options = { maxRetries: 0, signal, timeout: timeoutMs, headers: base.headers };
  const value: unknown = await client.responses.create(history.toRequestValue(base.value), options);
  return { value, requestId: getRequestId(value) };
}
