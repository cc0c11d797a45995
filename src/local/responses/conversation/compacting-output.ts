import type { WireItem } from "../../../openai/wire.ts";
import type { TurnOutcome } from "../../turn/turn.ts";
import { History } from "../history.ts";
import { type CompactionServices, createCompactionItem } from "./compaction.ts";
import type { Conversation } from "./conversation.ts";

/**
 * The output of a turn whose conversation exceeds the client's threshold: it gets a compaction item,
 * regardless of how the turn ends. Calls that the client has to answer follow the item, with their
 * reasoning, so that clients may omit everything before it.
 */
export class CompactingOutput {
  readonly #conversation: Conversation;
  readonly #services: CompactionServices;
  readonly #onItem: (item: WireItem) => void | Promise<void>;
  readonly #history: History;
  /** Items since the last point at which no call was open. They are not reported yet. */
  #held: WireItem[] = [];
  #hasCompaction = false;

  constructor(
    conversation: Conversation,
    services: CompactionServices,
    onItem: (item: WireItem) => void | Promise<void>,
  ) {
    this.#conversation = conversation;
    this.#services = services;
    this.#onItem = onItem;
    this.#history = new History(services.catalog);
  }

  /** Adds an item of the turn, and reports it once a compaction could follow it. */
  async add(item: WireItem): Promise<void> {
    this.#hasCompaction ||= item["type"] === "compaction";
    this.#history.add(item);
    this.#held.push(item);
    const { open, reasoning } = this.#history.point;
    if (open.size === 0 && reasoning === null) await this.#report();
  }

  /** Returns the turn's whole output, with the compaction. Reports the items that were held. */
  async finish({ output, status }: TurnOutcome): Promise<readonly WireItem[]> {
    if (this.#hasCompaction || status === "failed") {
      await this.#report();
      return output;
    }
    const before = output.slice(0, output.length - this.#held.length);
    const after = output.slice(before.length);
    const item = createCompactionItem([...this.#conversation.readable, ...before], this.#services);
    await this.#onItem(item);
    await this.#report();
    return [...before, item, ...after];
  }

  async #report(): Promise<void> {
    for (const item of this.#held.splice(0)) await this.#onItem(item);
  }
}
