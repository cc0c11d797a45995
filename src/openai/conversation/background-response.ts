import type { TurnRequest } from "../../adapter/model-client.ts";
import { ThrottleError } from "../../base/evaluation-errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { readString } from "../../base/json.ts";
import { type OpenAIRequestError, toRequestError } from "../errors/request-error.ts";
import { TransportEndError } from "../errors/transport-errors.ts";
import {
  type BackgroundCall,
  type BackgroundClient,
  followResponse,
  type RawResponse,
  retrieveResponse,
} from "../http/background-calls.ts";
import { withRetries } from "../http/retry.ts";
import { BackgroundStream } from "../response/background-stream.ts";
import type { WireItem } from "../wire.ts";
import { type Exchange, type ExchangeSettings, sendRequest } from "./send-request.ts";

/** The first and the longest time between two requests for a response that cannot be streamed. */
const POLL_MS = { first: 500, longest: 10_000 } as const;

type BackgroundSettings = ExchangeSettings & { readonly client: BackgroundClient };

/**
 * A response that the provider runs in the background. When the connection is cut, its events are read
 * over another one, from where they stopped.
 */
export class BackgroundResponse {
  readonly stream: BackgroundStream;
  readonly #exchange: Exchange;
  readonly #settings: BackgroundSettings;
  readonly #request: TurnRequest;
  #requestId: string | null = null;
  #isLost = false;

  constructor(exchange: Exchange, settings: BackgroundSettings, request: TurnRequest) {
    this.#exchange = exchange;
    this.#settings = settings;
    this.#request = request;
    this.stream = new BackgroundStream(exchange.listener, async (id) => {
      await request.onSubmitted?.(id);
    });
  }

  /** The provider's id of the response if its end was not received; otherwise `null`. */
  get unfinishedId(): string | null {
    return this.stream.isComplete ? null : this.stream.id;
  }

  /** The provider's id of the response if it may still run; otherwise `null`. */
  get runningId(): string | null {
    return this.#isLost ? null : this.unfinishedId;
  }

  /** Sends the request, and waits for the response. */
  async submit(): Promise<RawResponse> {
    const { stream } = this;
    let id: string;
    try {
      const answer = await sendRequest(this.#exchange, this.#settings, stream);
      this.#requestId = answer.requestId;
      id = stream.id ?? readField(answer.value, "id");
      if (id !== "") await stream.submit(id);
      if (id === "" || stream.isComplete || !isRunning(answer)) return answer;
    } catch (thrown) {
      if (stream.id === null) throw thrown; // nothing is known to run
      id = stream.id;
      const error = this.#toError(thrown);
      if (!isCut(error)) throw error;
      this.#onCut(error);
      await stream.submit(id); // the id is stored before its response is waited for
    }
    return await this.#follow(id);
  }

  /**
   * Waits for a response that was submitted earlier. Returns `null` if it is of no use: the provider
   * no longer has it, or it has failed or was cancelled.
   */
  async pickUp(id: string): Promise<RawResponse | null> {
    this.stream.setId(id);
    const answer = await this.#retry(() => this.#retrieve(id));
    if (answer === null) return null;
    if (!isRunning(answer)) return USABLE.has(readField(answer.value, "status")) ? answer : null;
    this.#settings.logger.debug("response picked up", { id });
    return await this.#follow(id);
  }

  /** Reads the events that follow the last one, over as many connections as it takes. */
  async #follow(id: string): Promise<RawResponse> {
    const { stream } = this;
    const { delivery } = this.#settings;
    while (delivery.isStreamed && (stream.received === 0 || stream.lastNumber !== null)) {
      const outcome = await this.#retry(() => this.#resume(id));
      if (outcome === "refused") break;
      if (outcome === "gone") throw this.#createLossError();
      if (outcome !== "cut") return this.#finish(outcome);
    }
    return await this.#poll(id);
  }

  /** Reads events over one connection. It is a failed attempt only if no new event arrives. */
  async #resume(id: string): Promise<RawResponse | "cut" | "refused" | "gone"> {
    const { stream } = this;
    const { client, logger } = this.#settings;
    const before = stream.received;
    const after = stream.lastNumber;
    logger.debug("response resumed", { id, after });
    try {
      const [receiver, context] = [stream, this.#context];
      const answer = await followResponse(client, this.#toCall(id), { after, receiver, context });
      const isOver = stream.isComplete || !isRunning(answer); // otherwise it is not a stream
      return isOver ? answer : "refused";
    } catch (thrown) {
      const error = this.#toError(thrown);
      if (error.status === 404) return "gone";
      if (error.status === 400) return "refused";
      if (isCut(error)) this.#onCut(error);
      if (isCut(error) && stream.received > before) return "cut";
      throw error;
    }
  }

  /** Asks for the response until it has finished. */
  async #poll(id: string): Promise<RawResponse> {
    const { clock } = this.#settings;
    const { signal, listener } = this.#exchange;
    for (let delayMs: number = POLL_MS.first; ; delayMs = Math.min(delayMs * 2, POLL_MS.longest)) {
      const answer = await this.#retry(() => this.#retrieve(id));
      if (answer === null) throw this.#createLossError();
      if (!isRunning(answer)) return this.#finish(answer);
      listener?.observer.onReceived(0, `response.${readField(answer.value, "status")}`);
      await clock.sleep(delayMs, signal);
    }
  }

  #finish({ value, requestId }: RawResponse): RawResponse {
    if (!this.stream.isComplete && isPlainObject(value)) this.stream.deliverRest(value);
    return { value, requestId: this.#requestId ?? requestId };
  }

  /** Fetches the response as it is; `null` if the provider does not have it. */
  async #retrieve(id: string): Promise<RawResponse | null> {
    try {
      return await retrieveResponse(this.#settings.client, this.#toCall(id));
    } catch (thrown) {
      const error = this.#toError(thrown);
      if (error.status === 404) return null;
      throw error;
    }
  }

  /** Creates the error for a response that the provider lost while it ran. The turn is sent again. */
  #createLossError(): ThrottleError {
    this.#isLost = true;
    const { promptName } = this.#request.rendered;
    const message = `The provider no longer has the response ${this.stream.id}`;
    return new ThrottleError(message, { promptName, requestId: this.#requestId, kind: "server" });
  }

  #onCut(error: OpenAIRequestError): void {
    this.#requestId ??= error.requestId;
    const { message } = error;
    this.#settings.logger.info("connection lost", { id: this.stream.id, message });
  }

  async #retry<Result>(request: () => Promise<Result>): Promise<Result> {
    return await withRetries(request, this.#settings, this.#exchange.signal);
  }

  #toCall(id: string): BackgroundCall {
    const { base, signal } = this.#exchange;
    const { timeoutMs } = this.#settings;
    const options = { maxRetries: 0, signal, timeout: timeoutMs, headers: base.headers };
    return { id, include: base.value.include ?? [], options };
  }

  get #context() {
    const { base, signal } = this.#exchange;
    const { timeoutMs } = this.#settings;
    return { request: "GET /responses", signal, secrets: base.secrets, timeoutMs };
  }

  #toError(thrown: unknown): OpenAIRequestError {
    // The official client parses the half of an event after which the stream ended.
    const isHalf = thrown instanceof SyntaxError && this.stream.id !== null;
    return toRequestError(isHalf ? new TransportEndError() : thrown, this.#context);
  }
}

/** The statuses of a response that has an answer. */
const USABLE: ReadonlySet<string> = new Set(["completed", "incomplete"]);

function isRunning({ value }: RawResponse): boolean {
  const status = readField(value, "status");
  return status === "queued" || status === "in_progress";
}

function isCut({ reason }: OpenAIRequestError): boolean {
  return reason === "network" || reason === "timeout";
}

function readField(value: unknown, key: keyof WireItem): string {
  return isPlainObject(value) ? readString(value, String(key)) : "";
}
