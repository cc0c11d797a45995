import type { WireItem } from "../../../openai/wire.ts";
import { ApiProblem } from "../../api-problem.ts";
import type { ResponseStore } from "../../store/response-store.ts";
import { type SerializedItem, serializeItem } from "../../store/serialized-item.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import type { Sealer } from "../../turn/sealer.ts";
import { checkHistory } from "../check/check-history.ts";
import type { CheckedRequest } from "../check/request.ts";
import { createUnverifiedProblem, openCompactions } from "./compaction.ts";
import { Conversation, isCompaction } from "./conversation.ts";
import { RecentThreads } from "./recent-threads.ts";
import { Thread, type ThreadPoint } from "./thread.ts";

/** A finished turn to store. */
export interface FinishedTurn {
  readonly response: WireItem;
  /** All output items, including fields that the response does not show. */
  readonly output: readonly WireItem[];
  readonly include: ReadonlySet<string>;
  readonly conversation: Conversation;
}

/** Responses of one connection that its later requests can continue although they are not stored. */
export interface ConnectionResponses {
  /** Returns the conversation up to this response, or `undefined` if the connection does not have it. */
  get(id: string): ThreadPoint | undefined;
  /** Adds a finished response that is not stored. */
  add(id: string, point: ThreadPoint): void;
}

/** Options of {@link Conversations}. */
export interface ConversationsOptions {
  readonly store: ResponseStore;
  readonly sealer: Sealer;
  readonly catalog: ToolCatalog;
}

/** The conversations that requests continue. The cost of a turn does not depend on a conversation's length. */
export class Conversations {
  readonly #store: ResponseStore;
  readonly #sealer: Sealer;
  readonly #catalog: ToolCatalog;
  /** Recently used conversations. The cost of a lookup does not depend on their length. */
  readonly #recent = new RecentThreads();

  constructor({ store, sealer, catalog }: ConversationsOptions) {
    this.#store = store;
    this.#sealer = sealer;
    this.#catalog = catalog;
  }

  /** Returns the conversation of a request. Throws the error that OpenAI would return. */
  createConversation(
    { previousResponseId: previous, input }: Pick<CheckedRequest, "previousResponseId" | "input">,
    recent: ConnectionResponses | null = null,
  ): Conversation {
    const before =
      previous === null
        ? new Thread(this.#catalog).point
        : (recent?.get(previous) ?? this.#findPoint(previous));
    const requestItems = input.filter(({ type }) => type !== "compaction_trigger");
    const named = new Map(
      requestItems.filter(isReference).map((item) => this.#findStoredItem(item)),
    );
    checkHistory(requestItems, {
      stored: { isStored: (id) => Boolean(named.get(id)) },
      catalog: this.#catalog,
      before: before.history,
    });
    const items = requestItems.map(
      (item) => (isReference(item) && named.get(String(item["id"]))) || item,
    );
    this.#checkSeals(items, before.items);
    const own = items.map(serializeItem);
    return new Conversation({
      previous,
      before,
      own,
      unsealed: this.#openCompactions(items, before),
    });
  }

  /** Stores a finished turn, for requests with `store`. */
  store({ response, output, include, conversation }: FinishedTurn): void {
    const { previous, own } = conversation;
    const [id, createdAt] = [String(response["id"]), Number(response["created_at"])];
    const stored = {
      id,
      createdAt,
      response: { ...response, output: [] },
      include,
      output: output.map(serializeItem),
    };
    const isStored = this.#store.add({ ...stored, previous, input: own });
    // If the previous response was deleted during the turn, store the whole conversation with this one.
    if (!isStored)
      this.#store.add({ ...stored, previous: null, input: conversation.items.map(serializeItem) });
    const point = conversation.continueWith(stored.output);
    if (point) this.#recent.set(id, point);
  }

  /** Returns the conversation after a turn that is not stored. Like a stored one, it starts at a new compaction. */
  continueUnstored(conversation: Conversation, output: readonly WireItem[]): ThreadPoint {
    const added = output.map(serializeItem);
    const point = conversation.continueWith(added);
    if (point) return point;
    const compaction = output.findLastIndex(isCompaction);
    const items = conversation.items.map(serializeItem);
    return this.#createThread(compaction === -1 ? [...items, ...added] : added.slice(compaction));
  }

  #findPoint(id: string): ThreadPoint {
    if (this.#store.has(id)) return this.#recent.get(id) ?? this.#read(id);
    const message = `Previous response with id '${id}' not found.`;
    const param = "previous_response_id";
    throw new ApiProblem(400, message, { param, code: "previous_response_not_found" });
  }

  /** Reads a whole conversation from the database: after a restart, or where a conversation forks. */
  #read(id: string): ThreadPoint {
    const point = this.#createThread(this.#store.readConversation(id));
    this.#recent.set(id, point);
    return point;
  }

  #createThread(serialized: readonly SerializedItem[]): ThreadPoint {
    const thread = new Thread(this.#catalog);
    const items = serialized.map(({ item }) => item);
    this.#checkSeals(items, 0);
    thread.add(serialized, this.#openCompactions(items, thread.point));
    return thread.point;
  }

  /** Returns an item's id and the stored item with that id. */
  #findStoredItem({ id }: WireItem): readonly [string, WireItem | null] {
    return [String(id), this.#store.findItem(String(id))];
  }

  #checkSeals(items: readonly WireItem[], count: number): void {
    for (const [index, item] of items.entries()) {
      const { type, encrypted_content: sealed } = item;
      if (type !== "reasoning" || typeof sealed !== "string" || sealed === "") continue;
      if (!this.#sealer.open(sealed)) throw createUnverifiedProblem(item, count + index);
    }
  }

  /** Returns `null` if the items contain no compaction. */
  #openCompactions(items: readonly WireItem[], before: ThreadPoint): readonly WireItem[] | null {
    if (!items.some(isCompaction)) return null;
    const readable = before.thread.readable.slice(0, before.readable);
    const reader = { sealer: this.#sealer, catalog: this.#catalog };
    return openCompactions(items, reader, { count: before.items, readable });
  }
}

function isReference({ type, encrypted_content: sealed }: WireItem): boolean {
  return type === "item_reference" || (type === "reasoning" && !sealed);
}
