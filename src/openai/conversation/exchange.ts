import type { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import type { Logger } from "../../base/logger.ts";
import { complaintAboutContainer } from "../errors/complaint.ts";
import { evaluationErrorOf } from "../errors/evaluation-error.ts";
import { failedContainer } from "../errors/failed-container.ts";
import { type OpenAIRequestError, requestErrorFrom } from "../errors/request-error.ts";
import type { History } from "../history/history.ts";
import { repairFor } from "../history/repairs.ts";
import { HttpClient, type OpenAIClient, requestIdOf } from "../http/client.ts";
import type { WireItem, WireRequest } from "../wire.ts";
import { containerGone, containersNamed } from "./container-check.ts";

export interface ExchangeOptions {
  readonly signal: AbortSignal;
  readonly promptName: string;
  /** Told what was dropped so that the provider would take the rest. */
  repaired(reason: string, dropped: readonly WireItem[]): void;
  /** The request with another container, if it failed because its own is gone; else `null`. */
  replaced(error: OpenAIRequestError): Promise<Rest | null>;
  /** What it means that the request failed after all, where that is not the caller's to mend. */
  lost(error: OpenAIRequestError): PromptEvaluationError | null;
}

/** A request without its input, as data and as text. */
export interface Rest {
  readonly value: WireRequest;
  readonly text: string;
  /** What its errors may not say. */
  readonly secrets: readonly string[];
}

interface Answer {
  readonly value: unknown;
  readonly requestId: string | null;
}

/** `POST /responses` on either client; a history the provider will not take is mended once. */
export class Exchange {
  readonly #client: OpenAIClient;
  readonly #timeoutMs: number;
  readonly #logger: Logger;

  constructor(settings: {
    readonly client: OpenAIClient;
    readonly timeoutMs: number;
    readonly logger: Logger;
  }) {
    this.#client = settings.client;
    this.#timeoutMs = settings.timeoutMs;
    this.#logger = settings.logger;
  }

  async create(history: History, rest: Rest, options: ExchangeOptions): Promise<Answer> {
    const first = await this.#attempt(history, rest, options.signal);
    if ("value" in first) return first;
    const replaced = await options.replaced(first);
    if (replaced) return await this.#lastAttempt(history, replaced, options);
    const [own = null] = containersNamed(rest.value.tools ?? []); // looked for, so it lives
    const repair = repairFor(first, history.items, own);
    const dropped = repair ? history.drop((item) => repair.names(item)) : [];
    if (!repair || dropped.length === 0) throw this.#explained(first, rest, options);
    options.repaired(repair.reason, dropped);
    return await this.#lastAttempt(history, rest, options);
  }

  async #lastAttempt(history: History, rest: Rest, options: ExchangeOptions): Promise<Answer> {
    const second = await this.#attempt(history, rest, options.signal);
    if ("value" in second) return second;
    throw this.#explained(second, rest, options);
  }

  async #attempt(
    history: History,
    rest: Rest,
    signal: AbortSignal,
  ): Promise<Answer | OpenAIRequestError> {
    const { model, max_output_tokens: maxOutputTokens } = rest.value;
    this.#logger.debug("request", { model, items: history.length, maxOutputTokens });
    try {
      const answer = await this.#send(history, rest, signal);
      const gone = isPlainObject(answer.value) && failedContainer(answer.value, rest);
      if (gone) return gone;
      this.#logger.debug("response", { model, requestId: answer.requestId });
      return answer;
    } catch (thrown) {
      const { secrets } = rest;
      const error = requestErrorFrom(thrown, { request: "POST /responses", signal, secrets });
      const { status, requestId, message } = error;
      this.#logger.warn("request failed", { model, status, requestId, message });
      return error;
    }
  }

  async #send(history: History, rest: Rest, signal: AbortSignal): Promise<Answer> {
    const client = this.#client;
    if (client instanceof HttpClient) {
      return await client.post("/responses", history.body(rest.text), { signal });
    }
    const options = { maxRetries: 0, signal, timeout: this.#timeoutMs };
    const value: unknown = await client.responses.create(history.value(rest.value), options);
    return { value, requestId: requestIdOf(value) };
  }

  /** A container of the caller's that died is the caller's to replace. */
  #explained(error: OpenAIRequestError, { value }: Rest, options: ExchangeOptions) {
    const { promptName } = options;
    const lost = options.lost(error);
    if (lost) return lost;
    const [id] = containersNamed(value.tools ?? []);
    return id !== undefined && complaintAboutContainer(error)
      ? containerGone(id, error, promptName)
      : evaluationErrorOf(error, promptName);
  }
}
