import type { BusEvent } from "../session/event-map.ts";
import type { Evaluation } from "./evaluation.ts";
import { listParts } from "./list-parts.ts";
import type { Turn } from "./model-client.ts";
import type { ResponsePart, StreamFeed, TurnObserver } from "./turn-observer.ts";

/** How often `TurnProgressed` is published while a response arrives. */
const PROGRESS_MS = 1_000;

/** Why the progress of a turn ends. Without a reason, `abort` creates an error, which costs more. */
const ENDED = "The turn has ended";

/**
 * Observes one turn: passes the parts of its response to the readers of the stream, and publishes
 * `TurnProgressed` if it has a subscriber. Dispose it when the turn has ended.
 */
export class TurnWatch implements TurnObserver, Disposable {
  readonly #evaluation: Evaluation;
  readonly #feed: StreamFeed | null;
  readonly #turn: number;
  readonly #isHeard: boolean;
  readonly #startedAt: number;
  readonly #ended = new AbortController();
  #receivedBytes = 0;
  #last = "";
  /** Whether the current attempt has delivered a part. */
  #hasDelivered = false;

  constructor(
    evaluation: Evaluation,
    feed: StreamFeed | null,
    { turn, isHeard }: { readonly turn: number; readonly isHeard: boolean },
  ) {
    this.#evaluation = evaluation;
    this.#feed = feed;
    this.#turn = turn;
    this.#isHeard = isHeard;
    this.#startedAt = evaluation.clock.now();
    if (isHeard) this.#publishRegularly().catch(() => {}); // the turn has ended
  }

  get wantsParts(): boolean {
    return this.#feed !== null;
  }

  get backlog(): Promise<void> | null {
    return this.#feed?.backlog ?? null;
  }

  onPart(part: ResponsePart): void {
    this.#hasDelivered = true;
    this.#feed?.onPart(part);
  }

  onReceived(bytes: number, last: string): void {
    this.#receivedBytes += bytes;
    this.#last = last;
  }

  onStatus(last: string): void {
    this.#last = last;
    if (this.#isHeard) this.#publish();
  }

  onRestart(): void {
    if (this.#hasDelivered) this.#feed?.onRestart(this.#turn);
    this.#hasDelivered = false;
    this.#receivedBytes = 0;
    this.#last = "";
  }

  /** Delivers the parts of a turn whose client delivered none. */
  onCompleted(turn: Turn): void {
    if (!this.#feed || this.#hasDelivered) return;
    for (const part of listParts(turn, this.#turn)) this.#feed.onPart(part);
  }

  [Symbol.dispose](): void {
    this.#ended.abort(ENDED);
  }

  async #publishRegularly(): Promise<void> {
    const { clock } = this.#evaluation;
    for (let slept = true; slept; ) {
      const before = clock.now();
      await clock.sleep(PROGRESS_MS, this.#ended.signal, { background: true });
      slept = clock.now() > before; // a clock that does not wait would repeat this forever
      this.#publish();
    }
  }

  /**
   * Publishes on the bus only: slices do not reduce progress, so that no store records it. Only
   * reports errors: the turn continues without a sign of progress.
   */
  #publish(): void {
    const { session, prompt, adapterName, clock, logger } = this.#evaluation;
    const now = clock.now();
    const event: BusEvent = Object.freeze({
      type: "TurnProgressed",
      sessionId: session.id,
      promptName: prompt.name,
      adapter: adapterName,
      createdAt: new Date(now).toISOString(),
      turn: this.#turn,
      elapsedMs: now - this.#startedAt,
      receivedBytes: this.#receivedBytes,
      last: this.#last,
    });
    try {
      session.bus.publish(event);
    } catch (error) {
      logger.error("TurnProgressed could not be published", { error });
    }
  }
}
