import type { WireItem } from "../../../openai/wire.ts";
import { ApiProblem } from "../../api-problem.ts";
import type { ConversationEnd } from "../../store/conversation-lines.ts";
import type { NewResponse, ResponseStore } from "../../store/response-store.ts";
import { serializeItem } from "../../store/serialized-item.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import { checkHistory } from "../check/check-history.ts";
import type { CheckedRequest } from "../check/request.ts";
import { Conversation, isCompaction } from "./conversation.ts";
import { isReference } from "./is-reference.ts";
import { type NamedConversations, toThreadKey } from "./named-conversations.ts";
import type { ThreadPoint } from "./thread.ts";
import type { Threads } from "./threads.ts";

/** A finished turn to store. */
export interface FinishedTurn {
  readonly response: WireItem;
  /** All output items, including fields that the response does not show. */
  readonly output: readonly WireItem[];
  readonly include: ReadonlySet<string>;
  /** What the response's stream showed and the response does not. @default nothing */
  readonly replay?: WireItem | null | undefined;
  readonly conversation: Conversation;
  /** Whether clients can retrieve the response: the request's `store`. @default true */
  readonly isStored?: boolean | undefined;
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
  /** The conversations that requests name by id. */
  readonly named: NamedConversations;
  readonly threads: Threads;
  readonly catalog: ToolCatalog;
}

/** The part of a request that selects its conversation. */
export type ConversationRequest = Pick<CheckedRequest, "previousResponseId" | "input"> &
  Partial<Pick<CheckedRequest, "conversationId">>;

/** The conversations that requests continue. The cost of a turn does not depend on a conversation's length. */
export class Conversations {
  readonly #store: ResponseStore;
  readonly #named: NamedConversations;
  readonly #threads: Threads;
  readonly #catalog: ToolCatalog;

  constructor({ store, named, threads, catalog }: ConversationsOptions) {
    this.#store = store;
    this.#named = named;
    this.#threads = threads;
    this.#catalog = catalog;
  }

  /** Returns the conversation of a request. Throws the error that OpenAI would return. */
  createConversation(
    { previousResponseId: previous, conversationId = null, input }: ConversationRequest,
    recent: ConnectionResponses | null = null,
  ): Conversation {
    const home = conversationId === null ? null : this.#named.find(conversationId);
    const before = home ? this.#named.readThread(home) : this.#findPoint(previous, recent);
    const requestItems = input.filter(({ type }) => type !== "compaction_trigger");
    const named = new Map(
      requestItems.filter(isReference).map((item) => this.#findStoredItem(item)),
    );
    checkHistory(requestItems, {
      stored: { isStored: (id) => Boolean(named.get(id)) },
      catalog: this.#catalog,
      before: before.history,
    });
    const resolved = requestItems.map(
      (item) => (isReference(item) && named.get(String(item["id"]))) || item,
    );
    const items = home ? this.#named.assignIds(home, resolved) : resolved;
    this.#threads.checkSeals(items, before.items);
    const own = items.map(serializeItem);
    const unsealed = this.#threads.openCompactions(items, before);
    return new Conversation({ previous, home, before, own, unsealed });
  }

  /**
   * Locks the conversation that a request names, until the result is disposed. Throws OpenAI's error if another request
   * operates on it. Returns `null` if the request names none.
   */
  lock({ home }: Conversation): Disposable | null {
    return home && this.#named.lock(home);
  }

  /** Stores a response that is still running. `store` replaces it when it has finished. */
  storeRunning({
    response,
    include,
    conversation,
  }: Pick<FinishedTurn, "response" | "include" | "conversation">): void {
    const { own: input, home } = conversation;
    const [id, createdAt] = [String(response["id"]), Number(response["created_at"])];
    const stored = { id, createdAt, response, include, input, output: [] };
    this.#store.markRunning(id);
    if (home) this.#store.addAfter(home.end, stored);
    else this.#storeResponse(stored, conversation);
  }

  /** Stores a finished turn: its response, unless `isStored` is `false`, and its items in the named conversation. */
  store({ response, output, include, replay, conversation, isStored = true }: FinishedTurn): void {
    const { own: input, home } = conversation;
    const [id, createdAt] = [String(response["id"]), Number(response["created_at"])];
    const serialized = output.map(serializeItem);
    const shown = { ...response, output: [] };
    const stored = { id, createdAt, response: shown, include, replay, input, output: serialized };
    const keys = isStored ? [id] : [];
    const write = (after: ConversationEnd) =>
      isStored
        ? this.#store.addAfter(after, stored)
        : this.#store.lines.append(after, input, serialized);
    if (home === null) this.#storeResponse(stored, conversation);
    else if (isLasting(response)) {
      keys.push(toThreadKey(this.#named.addTurn(home, () => write(home.end))));
    } else {
      if (isStored) write(home.end);
      return; // the next turn continues from the same point
    }
    const point = conversation.continueWith(serialized);
    if (point) for (const key of keys) this.#threads.keep(key, point);
    if (home) this.#threads.forget(toThreadKey(home.end));
  }

  /** Returns the conversation after a turn that is not stored. Like a stored one, it starts at a new compaction. */
  continueUnstored(conversation: Conversation, output: readonly WireItem[]): ThreadPoint {
    const added = output.map(serializeItem);
    const point = conversation.continueWith(added);
    if (point) return point;
    const compaction = output.findLastIndex(isCompaction);
    const items = conversation.items.map(serializeItem);
    return this.#threads.create(compaction === -1 ? [...items, ...added] : added.slice(compaction));
  }

  #storeResponse(stored: Omit<NewResponse, "previous">, conversation: Conversation): void {
    if (this.#store.add({ ...stored, previous: conversation.previous })) return;
    // The previous response was deleted during the turn: store the whole conversation with this one.
    this.#store.addAfter(null, { ...stored, input: conversation.items.map(serializeItem) });
  }

  /** Returns the conversation up to a response. */
  #findPoint(id: string | null, recent: ConnectionResponses | null): ThreadPoint {
    if (id === null) return this.#threads.create([]);
    const known = recent?.get(id);
    if (known) return known;
    if (this.#store.isRunning(id)) throw createRunningProblem(id);
    if (this.#store.has(id)) return this.#threads.find(id, () => this.#store.readConversation(id));
    const message = `Previous response with id '${id}' not found.`;
    const param = "previous_response_id";
    throw new ApiProblem(400, message, { param, code: "previous_response_not_found" });
  }

  /** Returns an item's id and the stored item with that id. */
  #findStoredItem({ id }: WireItem): readonly [string, WireItem | null] {
    return [String(id), this.#store.findItem(String(id))];
  }
}

function createRunningProblem(id: string): ApiProblem {
  const message = `Previous response with id '${id}' is still in progress. Wait until it is completed, or cancel it.`;
  return new ApiProblem(400, message, { param: "previous_response_id" });
}

/** Whether a response's items become part of its conversation: not if it failed or was cancelled. */
function isLasting({ status }: WireItem): boolean {
  return status === "completed" || status === "incomplete";
}
