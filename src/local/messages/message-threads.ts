import { isPlainObject } from "../../base/freeze.ts";
import type { WireItem } from "../../openai/wire.ts";
import { ApiProblem } from "../api-problem.ts";
import { string } from "../validators/validator.ts";
import { anthropicWording } from "./check/anthropic-wording.ts";
import { createInvalidProblem } from "./check/invalid-problem.ts";
import { assertAnthropic, readRecord, record, tag } from "./check/record.ts";

/** The fields of a request that a thread stores. */
export interface ThreadState {
  readonly system?: unknown;
  readonly tools?: unknown;
  readonly messages: readonly unknown[];
}

/** A turn of a thread: the whole conversation, and what to do when the turn ends. */
export interface ThreadTurn {
  /** The request's body with the thread's system prompt, tools and earlier messages. */
  readonly body: WireItem;
  /** Stores the conversation after the turn under the id of its message. */
  save(messageId: string, messages: readonly unknown[], bytes: number): void;
  /** Ends a turn that failed, so that the client can continue from the same message again. */
  release(): void;
}

interface StoredThread {
  /** `null` if a later message has continued the thread: its state is stored under that message. */
  readonly state: ThreadState | null;
  readonly bytes: number;
  isContinuing: boolean;
}

/**
 * Stores conversations between requests, for clients that send only new messages (Anthropic's beta
 * `message-threads`). The states are in memory. After an eviction or a restart of the server, a continuation fails with
 * `thread_not_found`, and Anthropic's SDK sends the whole conversation again.
 */
export class MessageThreads {
  readonly #byMessage = new Map<string, StoredThread>();
  #bytes = 0;

  /** Starts a turn if the request has a `thread`, otherwise returns `null`. */
  begin(body: unknown): ThreadTurn | null {
    const thread = isPlainObject(body) ? body["thread"] : undefined;
    if (!isPlainObject(body) || thread === undefined || thread === null) return null;
    const { type, previous_message_id: id } = readRecord(kind, thread, "thread");
    if (type === "create") return this.#createTurn(body, null);
    assertAnthropic(continued, thread, "thread");
    return this.#continueThread(body, String(id));
  }

  #continueThread(body: WireItem, id: string): ThreadTurn {
    const stored = this.#byMessage.get(id);
    if (!stored) throw createNotFoundProblem(id);
    const repeated = ["system", "tools"].find((key) => body[key] !== undefined);
    if (repeated !== undefined) throw anthropicWording.unknownField(repeated);
    const { messages } = body;
    if (!Array.isArray(messages)) throw anthropicWording.wrongKind("messages", ["array"], messages);
    const { state, isContinuing } = stored;
    if (state === null)
      throw createInvalidProblem(
        "thread",
        `The response '${id}' has already been continued, and each response can be continued only once. Continue from the most recent response of the thread.`,
        "thread_already_continued",
      );
    if (isContinuing)
      throw createInvalidProblem(
        "thread",
        `Another request is still continuing from the response '${id}'. Wait until it completes, and continue from its response.`,
        "thread_continue_in_flight",
      );
    stored.isContinuing = true;
    return this.#createTurn({ ...body, ...state, messages: [...state.messages, ...messages] }, id);
  }

  #createTurn(body: WireItem, previousId: string | null): ThreadTurn {
    const { system, tools } = body;
    return {
      body,
      save: (messageId, messages, bytes) => {
        if (previousId !== null)
          this.#store(previousId, { state: null, bytes: 0, isContinuing: false });
        this.#store(messageId, { state: { system, tools, messages }, bytes, isContinuing: false });
      },
      release: () => {
        const stored = previousId === null ? undefined : this.#byMessage.get(previousId);
        if (stored) stored.isContinuing = false;
      },
    };
  }

  /** Stores an entry, and evicts the oldest ones beyond the limits. */
  #store(id: string, thread: StoredThread): void {
    this.#delete(id);
    this.#byMessage.set(id, thread);
    this.#bytes += thread.bytes;
    for (const oldest of this.#byMessage.keys()) {
      if (this.#byMessage.size <= MAX_THREADS && this.#bytes <= MAX_BYTES) return;
      this.#delete(oldest);
    }
  }

  #delete(id: string): void {
    this.#bytes -= this.#byMessage.get(id)?.bytes ?? 0;
    this.#byMessage.delete(id);
  }
}

const MAX_THREADS = 1000;
const MAX_BYTES = 64 * 1024 * 1024;

const kind = record({ type: tag("create", "continue") });
const continued = record({ previous_message_id: string() });

function createNotFoundProblem(id: string): ApiProblem {
  const message = `thread: No thread was found for the response '${id}'. Send the whole conversation with thread: {"type": "create"}.`;
  return new ApiProblem(404, message, { facts: { error_code: "thread_not_found" } });
}

/**
 * Returns a turn's messages after its answer. An empty answer is not stored, because messages must have content.
 * A compaction replaces the messages that it summarizes.
 */
export function createNextMessages(
  { messages }: WireItem,
  content: readonly WireItem[],
): readonly unknown[] {
  const isCompacted = content[0]?.["type"] === "compaction";
  const earlier: readonly unknown[] = isCompacted ? [] : Array.from(Object(messages));
  return content.length === 0 ? earlier : [...earlier, { role: "assistant", content }];
}
