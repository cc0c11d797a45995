import type { MessagePart } from "./start-block.ts";

/** Receives the parts of a turn. */
export interface PartReceiver {
  /** Receives a part. */
  onPart(part: MessagePart): void;
  /** Called when the parts of the turn so far are void. Parts that stay valid are delivered again. */
  onRestart(): void;
}

/** Remembers the delivered parts of a turn, because the SDK may withdraw some of them. */
export class PartLedger {
  readonly #receiver: PartReceiver;
  #entries: Entry[] = [];

  constructor(receiver: PartReceiver) {
    this.#receiver = receiver;
  }

  /** Delivers a part. `block` is the index of its content block in the current message. */
  add(part: MessagePart, block: number): void {
    this.#entries.push({ part, block });
    this.#receiver.onPart(part);
  }

  /** Ends the current message. Its parts can be withdrawn only together with the turn's. */
  settle(): void {
    this.#entries = this.#entries.map(({ part }) => ({ part, block: null }));
  }

  /** Withdraws the parts of the current message's blocks from an index. */
  withdrawFrom(index: number): void {
    this.#keep(({ block }) => block === null || block < index);
  }

  /** Withdraws all parts of the turn. */
  withdrawAll(): void {
    this.#keep(() => false);
  }

  /** Begins a turn: the parts so far are final. */
  clear(): void {
    this.#entries = [];
  }

  #keep(isKept: (entry: Entry) => boolean): void {
    const kept = this.#entries.filter(isKept);
    if (kept.length === this.#entries.length) return;
    this.#entries = kept;
    this.#receiver.onRestart();
    for (const { part } of kept) this.#receiver.onPart(part);
  }
}

interface Entry {
  readonly part: MessagePart;
  /** Index of the content block in the current message; `null` in earlier messages. */
  readonly block: number | null;
}
