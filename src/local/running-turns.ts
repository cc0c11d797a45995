import type { WireItem } from "../openai/wire.ts";
import { ApiProblem } from "./api-problem.ts";
import { type Begun, Responses } from "./responses/responses.ts";

/**
 * Responses whose turns are waited for when they are disposed of, so that what they stand on can be
 * closed. A turn ends with its connection, or by `closing`.
 */
export class RunningTurns extends Responses implements AsyncDisposable {
  readonly #running = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();

  /** Aborts when they are disposed of: for requests that no socket ends. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  override begin(body: unknown): Begun {
    this.#closing.signal.throwIfAborted();
    return super.begin(body);
  }

  override async finish(
    begun: Begun,
    signal: AbortSignal,
    onItem?: (item: WireItem) => void,
  ): Promise<WireItem> {
    const turn = super.finish(begun, signal, onItem);
    this.#running.add(turn);
    try {
      return await turn;
    } finally {
      this.#running.delete(turn);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(closed());
    await Promise.allSettled(this.#running);
  }
}

/** To ask again would not help. */
function closed(): ApiProblem {
  const message = "The local provider was closed while the response was made.";
  const headers = { "x-should-retry": "false" };
  return new ApiProblem(503, message, { code: "provider_closed", headers });
}
