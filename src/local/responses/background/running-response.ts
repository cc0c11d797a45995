import { raceAbort } from "../../../base/clock.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { ConnectionDroppedError } from "../../turn/connection-dropped-error.ts";
import { isOpenStep, type OpenStep, type ResponseStep } from "../events/events.ts";
import type { StartedResponse } from "../started-response.ts";

/**
 * A response that runs in the background. It keeps its steps, so that any number of streams can follow it from the
 * start, each at the speed of its client.
 */
export class RunningResponse {
  readonly started: StartedResponse;
  readonly #steps: ResponseStep[];
  readonly #controller = new AbortController();
  /** The numbers of steps after which the model dropped all connections. */
  readonly #drops: number[] = [];
  #changed = Promise.withResolvers<void>();
  #isCancelled = false;

  constructor(started: StartedResponse) {
    this.started = started;
    this.#steps = [{ begin: started.response }];
  }

  /** Aborts when the response is cancelled or the server closes. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** The items so far, with all fields. */
  get items(): readonly WireItem[] {
    return this.#steps.flatMap((step) => ("item" in step ? [step.item] : []));
  }

  /** The item that has started and not finished, as its streams show it. Empty if there is none. */
  get open(): readonly OpenStep[] {
    const last = this.#steps.findLastIndex((step) => !isOpenStep(step));
    const steps = this.#steps.slice(last + 1).filter(isOpenStep);
    const texts = steps.flatMap((step) => ("text" in step ? [step.text] : []));
    if (!texts[0]) return steps;
    return [{ text: { ...texts[0], delta: texts.map(({ delta }) => delta).join("") } }];
  }

  /** Adds a step. Streams that follow the response send it. */
  add(step: ResponseStep): void {
    this.#steps.push(step);
    this.#wake();
  }

  /** Drops the connections of all streams that follow the response. They can be resumed. */
  drop(): void {
    this.#drops.push(this.#steps.length);
    this.#wake();
  }

  /** Ends the turn because the client cancels it. */
  cancel(): void {
    this.#isCancelled = true;
    this.#controller.abort(new Error("The response was cancelled."));
  }

  /** Ends the turn for another reason. */
  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Yields all steps, the coming ones too. Rejects if the signal aborts or the model drops the connection. */
  async *readSteps(signal: AbortSignal): AsyncGenerator<ResponseStep, void, undefined> {
    const earlierDrops = this.#drops.length;
    for (let place = 0; ; ) {
      if (place === this.#drops[earlierDrops])
        throw new ConnectionDroppedError("The model dropped the connection.");
      const step = this.#steps[place];
      if (step) {
        place++;
        yield step;
        if ("end" in step) return;
      } else await raceAbort(this.#changed.promise, signal);
    }
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
