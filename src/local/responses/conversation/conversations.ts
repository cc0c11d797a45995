import type { WireItem } from "../../../openai/wire.ts";
import { ApiProblem } from "../../api-problem.ts";
import type { ResponseStore } from "../../store/response-store.ts";
import { type WrittenItem, written } from "../../store/written-item.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import type { Sealer } from "../../turn/sealed.ts";
import type { CheckedRequest } from "../check/request.ts";
import { checkHistory } from "../check/request-history.ts";
import { tampered, unsealed } from "./compaction.ts";
import { Conversation, isCompaction } from "./conversation.ts";
import { RecentThreads } from "./recent-threads.ts";
import { Thread, type ThreadPoint } from "./thread.ts";

/** A response that has come about, and what it is kept with. */
export interface FinishedTurn {
  readonly response: WireItem;
  /** All of it, whatever the response shows. */
  readonly output: readonly WireItem[];
  readonly include: ReadonlySet<string>;
  readonly conversation: Conversation;
}

/** What conversations are kept in and read with. */
export interface ConversationsOptions {
  readonly store: ResponseStore;
  readonly sealer: Sealer;
  readonly catalog: ToolCatalog;
}

/** Conversations that requests go on with. A long one costs a turn no more than a short one. */
export class Conversations {
  readonly #store: ResponseStore;
  readonly #sealer: Sealer;
  readonly #catalog: ToolCatalog;
  /** Conversations used lately: a lookup here costs the same at any length. */
  readonly #recent = new RecentThreads();

  constructor({ store, sealer, catalog }: ConversationsOptions) {
    this.#store = store;
    this.#sealer = sealer;
    this.#catalog = catalog;
  }

  /** All that a request goes on from, or what OpenAI would say against it. */
  of({
    previousResponseId: previous,
    input,
  }: Pick<CheckedRequest, "previousResponseId" | "input">): Conversation {
    const before = previous === null ? new Thread(this.#catalog).point : this.#upTo(previous);
    const given = input.filter(({ type }) => type !== "compaction_trigger");
    const named = new Map(given.filter(isNamed).map((item) => this.#named(item)));
    checkHistory(given, {
      stored: { isStored: (id) => Boolean(named.get(id)) },
      catalog: this.#catalog,
      before: before.history,
    });
    const items = given.map((item) => (isNamed(item) && named.get(String(item["id"]))) || item);
    this.#checkSeals(items, before.items);
    const own = items.map(written);
    return new Conversation({ previous, before, own, unsealed: this.#unsealed(items, before) });
  }

  /** What was asked for with `store`. */
  keep({ response, output, include, conversation }: FinishedTurn): void {
    const { previous, own } = conversation;
    const [id, createdAt] = [String(response["id"]), Number(response["created_at"])];
    const kept = {
      id,
      createdAt,
      response: { ...response, output: [] },
      include,
      output: output.map(written),
    };
    const isKept = this.#store.put({ ...kept, previous, input: own });
    // Where the response before it was deleted meanwhile, it keeps what it went on from by itself.
    if (!isKept)
      this.#store.put({ ...kept, previous: null, input: conversation.items.map(written) });
    const point = conversation.goOn(kept.output);
    if (point) this.#recent.set(id, point);
  }

  #upTo(id: string): ThreadPoint {
    if (this.#store.has(id)) return this.#recent.get(id) ?? this.#read(id);
    const message = `Previous response with id '${id}' not found.`;
    const param = "previous_response_id";
    throw new ApiProblem(400, message, { param, code: "previous_response_not_found" });
  }

  /** After a restart, or where a conversation parts: all of it is read, once. */
  #read(id: string): ThreadPoint {
    const thread = new Thread(this.#catalog);
    const kept: readonly WrittenItem[] = this.#store.conversation(id);
    const items = kept.map(({ item }) => item);
    this.#checkSeals(items, 0);
    thread.add(kept, this.#unsealed(items, thread.point));
    const { point } = thread;
    this.#recent.set(id, point);
    return point;
  }

  /** What is only named, as it was kept. */
  #named({ id }: WireItem): readonly [string, WireItem | null] {
    return [String(id), this.#store.item(String(id))];
  }

  #checkSeals(items: readonly WireItem[], count: number): void {
    for (const [index, { type, encrypted_content: sealed }] of items.entries()) {
      if (type !== "reasoning" || typeof sealed !== "string" || sealed === "") continue;
      if (!this.#sealer.open(sealed)) throw tampered(count + index);
    }
  }

  /** `null` if these items are what they seem. */
  #unsealed(items: readonly WireItem[], before: ThreadPoint): readonly WireItem[] | null {
    if (!items.some(isCompaction)) return null;
    const readable = before.thread.readable.slice(0, before.readable);
    const reader = { sealer: this.#sealer, catalog: this.#catalog };
    return unsealed(items, reader, { count: before.items, readable });
  }
}

function isNamed({ type, encrypted_content: sealed }: WireItem): boolean {
  return type === "item_reference" || (type === "reasoning" && !sealed);
}
