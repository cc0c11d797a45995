import type { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { complaintAboutContainer } from "../errors/complaint.ts";
import { evaluationErrorOf } from "../errors/evaluation-error.ts";
import { failedContainer } from "../errors/failed-container.ts";
import { type OpenAIRequestError, requestErrorFrom } from "../errors/request-error.ts";
import type { History } from "../history/history.ts";
import { HttpClient } from "../http/http-client.ts";
import { requestIdOf } from "../http/result.ts";
import { containersNamed } from "../request/request.ts";
import type { AdapterSettings } from "../settings.ts";
import type { WireRequest } from "../wire.ts";
import { containerGone } from "./container-check.ts";

/** A request without its input, as data and as text. */
export interface RequestBase {
  readonly value: WireRequest;
  readonly text: string;
  /** What errors must not show. */
  readonly secrets: readonly string[];
}

/** The provider's answer, not read yet. */
export interface Answer {
  readonly value: unknown;
  readonly requestId: string | null;
}

/** What an exchange uses of the adapter's settings. */
export type ExchangeSettings = Pick<AdapterSettings, "client" | "timeoutMs" | "logger">;

/** Sends `POST /responses` once. A failure is returned: the conversation may be able to mend it. */
export async function attemptExchange(
  history: History,
  base: RequestBase,
  settings: ExchangeSettings,
  signal: AbortSignal,
): Promise<Answer | OpenAIRequestError> {
  const { logger } = settings;
  const { model, max_output_tokens: maxOutputTokens } = base.value;
  logger.debug("request", { model, items: history.length, maxOutputTokens });
  try {
    const answer = await send(history, base, settings, signal);
    // The container can die within an answer: the status is 200, and the response has failed.
    const hasFailed = isPlainObject(answer.value) && answer.value["status"] === "failed";
    const gone = hasFailed ? failedContainer(answer.value, base) : null;
    if (gone) return gone;
    logger.debug("response", { model, requestId: answer.requestId });
    return answer;
  } catch (thrown) {
    const { secrets } = base;
    const error = requestErrorFrom(thrown, { request: "POST /responses", signal, secrets });
    const { status, requestId, message } = error;
    logger.warn("request failed", { model, status, requestId, message });
    return error;
  }
}

/** The error that the caller gets for a request that has failed for good. */
export function toEvaluationError(
  error: OpenAIRequestError,
  { value }: RequestBase,
  promptName: string,
): PromptEvaluationError {
  const [id] = containersNamed(value.tools ?? []);
  // A container of the caller's that has died is the caller's to replace.
  return id !== undefined && complaintAboutContainer(error)
    ? containerGone(id, error, promptName)
    : evaluationErrorOf(error, promptName);
}

async function send(
  history: History,
  base: RequestBase,
  { client, timeoutMs }: ExchangeSettings,
  signal: AbortSignal,
): Promise<Answer> {
  if (client instanceof HttpClient) {
    return await client.post("/responses", history.body(base.text), { signal });
  }
  const options = { maxRetries: 0, signal, timeout: timeoutMs };
  const value: unknown = await client.responses.create(history.value(base.value), options);
  return { value, requestId: requestIdOf(value) };
}
