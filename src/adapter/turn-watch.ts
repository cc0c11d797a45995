import type { BusEvent } from "../session/event-map.ts";
import type { Evaluation } from "./evaluation.ts";
import type { Turn } from "./model-client.ts";
import type { ResponsePart, StreamFeed, TurnObserver } from "./turn-observer.ts";

/** How often `TurnProgressed` is published while a response arrives. */
const PROGRESS_MS = 1_000;

/**
 * Watches one turn if somebody observes it: passes the parts of its response to the readers of the
 * stream, and publishes `TurnProgressed`. Returns `null` if nobody does.
 */
export function watchTurn(
  evaluation: Evaluation,
  feed: StreamFeed | undefined,
  turn: number,
): TurnWatch | null {
  const { bus } = evaluation.session;
  const isHeard = bus.hears?.("TurnProgressed") ?? true;
  return feed || isHeard ? new TurnWatch(evaluation, feed ?? null, { turn, isHeard }) : null;
}

/** Observes one turn. Dispose it when the turn has ended. */
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
  }

  /** Delivers a turn whose client delivered no parts. */
  onCompleted({ text, toolCalls, hostedCalls, delegatedCalls = [] }: Turn): void {
    const feed = this.#feed;
    if (!feed || this.#hasDelivered) return;
    const turn = this.#turn;
    for (const { callId, kind, success } of hostedCalls) {
      feed.onPart({ type: "hostedCall", turn, callId, kind, status: getStatus(success) });
    }
    for (const { callId, kind } of delegatedCalls) {
      feed.onPart({ type: "hostedCall", turn, callId, kind, status: getStatus(true) });
    }
    for (const { callId, name, arguments: delta } of toolCalls) {
      feed.onPart({ type: "toolCall", turn, callId, name, delta });
    }
    if (text !== "") feed.onPart({ type: "text", turn, delta: text });
  }

  [Symbol.dispose](): void {
    this.#ended.abort();
  }

  async #publishRegularly(): Promise<void> {
    const { clock } = this.#evaluation;
    for (;;) {
      await clock.sleep(PROGRESS_MS, this.#ended.signal, { background: true });
      this.#publish();
    }
  }

  /** Publishes on the bus only: slices do not reduce progress, so that no store records it. */
  #publish(): void {
    const { session, prompt, adapterName, clock } = this.#evaluation;
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
    session.bus.publish(event);
  }
}

function getStatus(success: boolean): string {
  return success ? "completed" : "failed";
}
