import type { WireItem } from "../openai/wire.ts";
import { ApiProblem } from "./api-problem.ts";
import { Responses } from "./responses/responses.ts";
import type { ConnectionOptions, StartedResponse } from "./responses/started-response.ts";
import type { TurnListener } from "./responses/turn-progress.ts";

/**
 * Responses that wait for their running turns when disposed, so that the resources the turns use can be closed
 * afterward. A turn ends with its connection or when `closing` aborts.
 */
export class RunningTurns extends Responses implements AsyncDisposable {
  readonly #running = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();

  /** Aborts on disposal. It ends requests that do not come from a socket. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  override start(
    body: unknown,
    codeTimeoutMs?: number | null,
    options?: ConnectionOptions,
  ): StartedResponse {
    this.#closing.signal.throwIfAborted();
    return super.start(body, codeTimeoutMs, options);
  }

  override finish(
    started: StartedResponse,
    signal: AbortSignal,
    listener?: TurnListener,
  ): Promise<WireItem> {
    const turn = super.finish(started, signal, listener);
    this.#running.add(turn);
    const remove = () => this.#running.delete(turn);
    turn.then(remove, remove); // the caller does not wait for it
    return turn;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(createClosedProblem());
    await Promise.allSettled(this.#running);
  }
}

/** The error for turns that the shutdown ended. Clients must not retry them. */
function createClosedProblem(): ApiProblem {
  const message = "The local provider was closed before the response was complete.";
  const headers = { "x-should-retry": "false" };
  return new ApiProblem(503, message, { code: "provider_closed", headers });
}
