import type { WireItem } from "../../../openai/wire.ts";
import { ApiProblem, createMissingParameterProblem } from "../../api-problem.ts";
import { ConversationLocks, createLockedProblem } from "../../conversations/conversation-locks.ts";
import type {
  ConversationStore,
  ItemPage,
  StoredConversation,
} from "../../conversations/conversation-store.ts";
import type { Ids } from "../../ids.ts";
import type { ConversationEnd, ConversationLines } from "../../store/conversation-lines.ts";
import type { PageQuery } from "../../store/paging.ts";
import { type SerializedItem, serializeItem } from "../../store/serialized-item.ts";
import { checkStored } from "../check/check-history.ts";
import { assignItemId } from "./assign-item-id.ts";
import { isReference } from "./is-reference.ts";
import type { ThreadPoint } from "./thread.ts";
import type { Threads } from "./threads.ts";

/** Options of {@link NamedConversations}. */
export interface NamedConversationsOptions {
  readonly store: ConversationStore;
  /** The items of all conversations. */
  readonly lines: ConversationLines;
  readonly threads: Threads;
  readonly ids: Ids;
  /** Returns the current time in seconds since 1970. */
  readonly seconds: () => number;
}

type Metadata = StoredConversation["metadata"];

/**
 * The conversations that clients create and name by id. Requests that name one read its items before their own, and add
 * their input and output to it. The cost of a turn does not depend on the number of items.
 */
export class NamedConversations {
  readonly #store: ConversationStore;
  readonly #lines: ConversationLines;
  readonly #threads: Threads;
  readonly #ids: Ids;
  readonly #seconds: () => number;
  readonly #locks = new ConversationLocks();

  constructor({ store, lines, threads, ids, seconds }: NamedConversationsOptions) {
    this.#store = store;
    this.#lines = lines;
    this.#threads = threads;
    this.#ids = ids;
    this.#seconds = seconds;
  }

  create(metadata: Metadata, items: readonly WireItem[]): StoredConversation {
    const own = this.#prepareItems(items);
    const id = this.#ids.next("conv_");
    return this.#store.create({ id, createdAt: this.#seconds(), metadata }, own);
  }

  /** Returns a conversation. Throws if it does not exist or was deleted. */
  find(id: string): StoredConversation {
    return this.#store.find(id);
  }

  update(id: string, metadata: Metadata): StoredConversation {
    return this.#store.update(id, metadata);
  }

  /** Deletes a conversation, but not its items. */
  delete(id: string): void {
    const { end } = this.#store.find(id);
    this.#locks.check(id);
    this.#store.delete(id);
    this.#threads.forget(toThreadKey(end));
  }

  /** Adds items to the end of a conversation. Returns them with their ids. */
  addItems(id: string, items: readonly WireItem[]): readonly SerializedItem[] {
    const { end } = this.#store.find(id);
    this.#locks.check(id);
    const own = this.#prepareItems(items);
    if (own.some(({ item }) => this.#store.hasItem(end, String(item["id"]))))
      throw new ApiProblem(400, "Item already in conversation", {
        param: "items",
        code: "item_already_in_conversation",
      });
    if (own.length === 0) return own;
    const next = this.#store.advance(id, () => this.#lines.append(end, own));
    this.#threads.extend(toThreadKey(end), own, toThreadKey(next));
    return own;
  }

  readPage(id: string, query: PageQuery): ItemPage {
    return this.#store.readPage(this.#store.find(id).end, query);
  }

  /** Returns one item. Throws if the conversation does not contain it. */
  findItem(id: string, itemId: string): SerializedItem {
    return this.#store.findItem(this.#store.find(id).end, itemId);
  }

  /** Removes one item. Stored responses keep their input. */
  deleteItem(id: string, itemId: string): StoredConversation {
    this.#locks.check(id);
    const { end } = this.#store.find(id);
    const changed = this.#store.deleteItem(id, itemId);
    this.#threads.forget(toThreadKey(end));
    return changed;
  }

  /** Returns all conversation items, for a request that names the conversation. Throws if a response is being created for it. */
  readThread({ id, end }: StoredConversation): ThreadPoint {
    this.#locks.check(id);
    return this.#threads.find(toThreadKey(end), () => this.#store.read(end));
  }

  /** Returns a request's items with ids. Throws if the conversation already contains one of them. */
  assignIds({ end }: StoredConversation, items: readonly WireItem[]): readonly WireItem[] {
    return items.map((item) => {
      const { id } = item;
      if (typeof id !== "string") return assignItemId(item, this.#ids);
      if (!this.#store.hasItem(end, id)) return item;
      const message = `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`;
      throw new ApiProblem(400, message, { param: "input" });
    });
  }

  /**
   * Locks a conversation until the result is disposed. Throws OpenAI's error if another request operates on it, or has
   * changed it since this request read it.
   */
  lock({ id, end }: StoredConversation): Disposable {
    const { end: now } = this.#store.find(id);
    if (toThreadKey(now) !== toThreadKey(end)) throw createLockedProblem();
    return this.#locks.acquire(id);
  }

  /** Adds a finished turn to a conversation. `write` stores its items and returns where they end. */
  addTurn({ id }: StoredConversation, write: () => ConversationEnd): ConversationEnd {
    return this.#store.advance(id, write);
  }

  /** Resolves items that are already stored, and gives all others an id. */
  #prepareItems(items: readonly WireItem[]): readonly SerializedItem[] {
    const prepared = items.map((item, index) => {
      if (item["type"] === "compaction_trigger") throw createTriggerProblem(index);
      const stored = typeof item["id"] === "string" ? this.#lines.findItem(item["id"]) : null;
      if (isReference(item)) this.#checkReference(item, stored, index);
      return assignItemId(stored ? { ...stored, id: item["id"] } : item, this.#ids);
    });
    this.#threads.checkSeals(prepared, 0);
    return prepared.map(serializeItem);
  }

  #checkReference(item: WireItem, stored: WireItem | null, index: number): void {
    if (typeof item["id"] !== "string") throw createMissingParameterProblem(`items[${index}].id`);
    checkStored(item, { isStored: () => stored !== null });
  }
}

/** Returns the key of a conversation's items in memory. The items before an end never change. */
export function toThreadKey({ line, end }: ConversationEnd): string {
  return `${line}:${end}`;
}

function createTriggerProblem(index: number): ApiProblem {
  const param = `items[${index}]`;
  const message = `Invalid '${param}': an item of type 'compaction_trigger' cannot be added to a conversation.`;
  return new ApiProblem(400, message, { param, code: "invalid_value" });
}
