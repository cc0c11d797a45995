import type { TurnRequest } from "../../adapter/model-client.ts";
import { raceAbort } from "../../base/clock.ts";
import { ThrottleError } from "../../base/evaluation-errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { BackgroundClient, RawResponse } from "../http/background-calls.ts";
import { BackgroundResponse } from "./background-response.ts";
import type { Exchange, ExchangeSettings } from "./send-request.ts";

/** How long an evaluation that ends waits for the cancellation of its response. */
const CANCEL_MS = 2_000;

/**
 * One turn whose response the provider runs in the background. It may have been submitted by another
 * process, and is cancelled at the provider if the evaluation gives it up.
 */
export class BackgroundTurn {
  readonly request: TurnRequest;
  /** The response to pick up instead of sending the request; `null` if there is none. */
  #submittedId: string | null;
  readonly #client: BackgroundClient;
  #current: BackgroundResponse | null = null;
  #cancelling: Promise<void> | null = null;

  constructor(request: TurnRequest, client: BackgroundClient) {
    this.request = request;
    this.#client = client;
    this.#submittedId = request.submittedId ?? null;
  }

  /** Gets the turn's response: the submitted one if the provider has it, otherwise a new one. */
  async exchange(exchange: Exchange, settings: ExchangeSettings): Promise<RawResponse> {
    const { signal } = exchange;
    signal.throwIfAborted();
    const connection = new AbortController();
    const work = this.#getAnswer({ ...exchange, signal: connection.signal }, settings);
    try {
      return await raceAbort(work, signal);
    } catch (error) {
      // A later process can pick up a stored response that could not be reached.
      const isKept = error instanceof ThrottleError && this.request.isDurable;
      this.#submittedId = this.#current?.unfinishedId ?? this.#submittedId;
      if (signal.aborted || !isKept) {
        this.#cancelling = this.#cancel(work, () => connection.abort(error), settings.logger);
      }
      throw error;
    }
  }

  /** Waits until a response that was given up is cancelled, for two seconds at most. */
  async close(): Promise<void> {
    await this.#cancelling;
  }

  async #getAnswer(exchange: Exchange, given: ExchangeSettings): Promise<RawResponse> {
    const id = this.#submittedId;
    const settings = { ...given, client: this.#client };
    if (id !== null) {
      this.#current = new BackgroundResponse(exchange, settings, this.request);
      const answer = await this.#current.pickUp(id);
      if (answer) return answer;
      this.#submittedId = null;
      this.request.onResubmitted?.(id);
    }
    const base = (id !== null && (await exchange.renew?.())) || exchange.base;
    this.#current = new BackgroundResponse({ ...exchange, base }, settings, this.request);
    return await this.#current.submit();
  }

  /** Cancels the response at the provider. Only reports errors. */
  async #cancel(work: Promise<unknown>, disconnect: () => void, logger: Logger): Promise<void> {
    const response = this.#current;
    const signal = AbortSignal.timeout(CANCEL_MS);
    response?.stream.abandon();
    try {
      // The provider may just be accepting the response, and only its id can cancel it.
      await raceAbort(Promise.race([response?.stream.accepted, work.catch(() => {})]), signal);
      disconnect();
      const id = response?.runningId;
      if (!id) return;
      const options = { maxRetries: 0, signal, timeout: CANCEL_MS };
      await this.#client.responses.cancel(id, options);
      logger.debug("response cancelled", { id });
    } catch (error) {
      disconnect();
      logger.warn("the response could not be cancelled", { error });
    }
  }
}
