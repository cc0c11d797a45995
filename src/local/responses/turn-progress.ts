import type { WireItem } from "../../openai/wire.ts";
import type { ApiProblem } from "../api-problem.ts";
import { ConnectionDroppedError } from "../turn/connection-dropped-error.ts";
import type { MessageText } from "./events/events.ts";

/** The reports of a running turn. */
export interface TurnListener {
  /** Called once, when the first step is known to be possible and before it runs. */
  readonly onBegin?: (() => void | Promise<void>) | undefined;
  /**
   * Called with each item when it is complete, with the fields that only `include` shows. The turn waits for the
   * returned promise.
   */
  readonly onItem?: ((item: WireItem) => void | Promise<void>) | undefined;
  /**
   * Called with a hosted call that is about to run. `onItem` follows with the finished call. The turn waits for the
   * returned promise.
   */
  readonly onStart?: ((call: WireItem) => void | Promise<void>) | undefined;
  /**
   * Called with text that the model adds to a message. `onItem` follows with the finished message. The turn waits for
   * the returned promise.
   */
  readonly onText?: ((text: MessageText) => void | Promise<void>) | undefined;
  /** Called if the model fails with an error event, before the response ends as failed. */
  readonly onProblem?: ((problem: ApiProblem) => void | Promise<void>) | undefined;
  /** Called if the model drops the connection. The turn continues. @default the turn ends */
  readonly onDrop?: (() => void) | undefined;
}

/** Reports the progress of a turn to its listener. */
export class TurnProgress {
  readonly #output: readonly WireItem[];
  readonly #listener: TurnListener;
  #hasBegun = false;
  #reported = 0;

  constructor(output: readonly WireItem[], listener: TurnListener) {
    this.#output = output;
    this.#listener = listener;
  }

  /** Reports that the turn begins. Only the first call does. Returns a promise if the turn has to wait. */
  begin(): void | Promise<void> {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    return this.#listener.onBegin?.();
  }

  /** Whether the turn has begun. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Whether a listener waits for the beginning of the turn. */
  get awaitsBeginning(): boolean {
    return !this.#hasBegun && this.#listener.onBegin !== undefined;
  }

  /** Whether anything listens to items. */
  get isHeard(): boolean {
    return this.#listener.onItem !== undefined;
  }

  /** Whether anything listens to text that is being written. */
  get hearsText(): boolean {
    return this.#listener.onText !== undefined;
  }

  /** Whether the turn continues if the model drops the connection. */
  get survivesDrop(): boolean {
    return this.#listener.onDrop !== undefined;
  }

  /** Reports that the model drops the connection. Throws if that ends the turn. */
  drop(): void {
    if (!this.#listener.onDrop)
      throw new ConnectionDroppedError("The model dropped the connection.");
    this.#listener.onDrop();
  }

  /** Reports a hosted call that is about to run. */
  async reportStart(call: WireItem): Promise<void> {
    await this.#listener.onStart?.(call);
  }

  /** Reports text that the model adds to a message. */
  async reportText(text: MessageText): Promise<void> {
    await this.#listener.onText?.(text);
  }

  /** Reports the items that were not reported yet. */
  async reportItems(): Promise<void> {
    for (; this.#reported < this.#output.length; this.#reported++)
      await this.#listener.onItem?.(this.#output[this.#reported] ?? {});
  }
}
