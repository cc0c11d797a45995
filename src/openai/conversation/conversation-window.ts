import type { Announcement } from "../../adapter/events.ts";
import type { Turn } from "../../adapter/model-client.ts";
import { messageOf } from "../../base/errors.ts";
import { addUsage, noUsage, type TokenUsage } from "../../base/usage.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import { compactItems, countTokens } from "../compaction/compact.ts";
import { compactionSlice } from "../compaction/compaction-state.ts";
import { CompactionError } from "../errors/errors.ts";
import { OpenAIRequestError } from "../errors/request-error.ts";
import type { History } from "../history/history.ts";
import { sealedLength } from "../history/item-text.ts";
import { partOf, sideOf } from "../history/well-formed.ts";
import { withRetries } from "../http/retry.ts";
import type { WireItem } from "../wire.ts";
import type { ConversationSettings } from "./conversation-settings.ts";
import type { RequestBase } from "./exchange.ts";

/** The request whose tokens are counted. */
export interface Measured {
  readonly base: RequestBase;
  readonly rendered: RenderedPrompt;
  readonly signal: AbortSignal;
}

/** What an earlier conversation was compacted to, or why that is of no use. */
export interface CarriedOver {
  readonly items: readonly WireItem[];
  readonly discarded: string | null;
}

/** Compacts a conversation that is over its threshold. The prompt itself is never compacted. */
export class ConversationWindow {
  readonly #settings: ConversationSettings;
  readonly #publish: (event: Announcement) => void;
  /** What the provider counted last, and the bytes of the history and of the request's base then. */
  #last: { readonly tokens: number; readonly bytes: number; readonly base: number } | null = null;
  /** The bytes of the base of the request that comes next, or is being answered. */
  #baseBytes = 0;
  /** How many items there were after the last compaction: without more there is nothing to do. */
  #compactedTo: number | null = null;
  #usage: TokenUsage = noUsage;
  /** Within a handler: the conversation is not the session's, and neither is what it comes to. */
  #isNested = false;

  constructor(settings: ConversationSettings, publish: (event: Announcement) => void) {
    this.#settings = settings;
    this.#publish = publish;
  }

  get isEnabled(): boolean {
    return this.#settings.compaction.enabled;
  }

  /** What an earlier evaluation of the session was compacted to. */
  carriedOver({ isNested }: { readonly isNested: boolean }): CarriedOver {
    const { session, model } = this.#settings;
    this.#isNested = isNested;
    if (!this.isEnabled || isNested) return { items: [], discarded: null };
    session.register(compactionSlice);
    const { window, model: made } = session.get(compactionSlice);
    const items = window as readonly WireItem[];
    if (items.length === 0 || made === model) return { items, discarded: null };
    const discarded = `it was compacted for the model "${made}", and this is "${model}"`;
    this.#publish({ type: "CompactionDiscarded", reason: discarded });
    return { items: [], discarded };
  }

  /** The history is the prompt and what was carried over: there is nothing to compact yet. */
  onStart({ length }: History): void {
    this.#compactedTo = length;
  }

  /** The fields of a request that ask the server to compact. */
  get requestFields(): object {
    const { enabled, strategy, thresholdTokens } = this.#settings.compaction;
    if (!enabled || strategy !== "server") return {};
    return { context_management: [{ type: "compaction", compact_threshold: thresholdTokens }] };
  }

  /** Compacts the history if the next request would be over the threshold. */
  async compactIfNeeded(history: History, measured: Measured): Promise<boolean> {
    const { compaction } = this.#settings;
    if (!compaction.enabled || compaction.strategy !== "endpoint") return false;
    this.#baseBytes = measured.base.text.length * BYTES_A_CHARACTER;
    if (history.length === this.#compactedTo) return false;
    if (this.#atMost(history, measured) <= compaction.thresholdTokens) return false;
    if (!isCompactable(history)) return false;
    const tokens = await this.#count(history, measured);
    if (tokens === null) return false;
    if (tokens <= compaction.thresholdTokens) {
      this.#last = { tokens, bytes: history.bytes, base: this.#baseBytes };
      return false;
    }
    await this.#compact(history, tokens, measured);
    return true;
  }

  /** An answer has come, in which the server may have compacted the history. */
  onAnswer(history: History, turn: Turn, items: readonly WireItem[]): void {
    const { totalTokens } = turn.usage;
    const counted = { tokens: totalTokens, bytes: history.bytes, base: this.#baseBytes };
    this.#last = totalTokens > 0 ? counted : null; // some servers do not tell it
    if (!this.isEnabled || this.#settings.compaction.strategy !== "server") return;
    const place = items.findLastIndex(({ type }) => type === "compaction");
    if (place === -1) return;
    const before = history.length;
    // A call that is still to be answered stays, with what led to it: nothing has to go.
    const isOpen = items.slice(0, place).some((item) => sideOf(item) === "call");
    const window = isOpen ? items : items.slice(place);
    history.compacted(window);
    const { model } = this.#settings;
    const tokens = turn.usage.totalTokens;
    if (!this.#isNested) this.#publish({ type: "CompactionKept", model, tokens, window });
    const count = { before, after: history.length };
    this.#reportCompaction(window, { items: count, tokens, after: null, usage: null });
    this.#last = null;
  }

  /** Compacts after the last answer, for the next evaluation. A failure does not lose the answer. */
  async onFinish(history: History, measured: Measured): Promise<void> {
    try {
      await this.compactIfNeeded(history, measured);
    } catch (error) {
      measured.signal.throwIfAborted();
      const tokenCount = error instanceof CompactionError ? error.tokenCount : 0;
      const reason = messageOf(error);
      const { logger } = this.#settings;
      logger.error("the conversation could not be compacted", { tokenCount, reason });
      this.#publish({ type: "CompactionFailed", tokenCount, reason });
    }
  }

  /** What compactions have cost since the last call of this method. */
  takeUsage(): TokenUsage {
    const usage = this.#usage;
    this.#usage = noUsage;
    return usage;
  }

  /**
   * More tokens than this the request cannot have: a token is at least one byte, and what the
   * provider counted last is at least what it was sent. Files and images are not in the bytes.
   */
  #atMost({ bytes }: History, { rendered }: Measured): number {
    const base = this.#baseBytes;
    const byBytes = rendered.attachments.length === 0 ? bytes + base : Number.POSITIVE_INFINITY;
    const last = this.#last;
    if (!last) return byBytes;
    const grown = Math.max(0, bytes - last.bytes) + Math.max(0, base - last.base);
    return Math.min(byBytes, last.tokens + grown);
  }

  /** What the provider counts, or counted last where it does not; `null` if it never did. */
  async #count(history: History, { base, rendered, signal }: Measured): Promise<number | null> {
    const { client, timeoutMs } = this.#settings;
    const fields = countedFields(base.value);
    const request = {
      text: () => history.body(JSON.stringify(fields)),
      value: () => history.value(fields),
    };
    const options = { signal, timeoutMs, secrets: base.secrets };
    try {
      return await withRetries(() => countTokens(client, request, options), this.#settings, signal);
    } catch (error) {
      signal.throwIfAborted();
      const isMissing = error instanceof OpenAIRequestError && error.status === 404;
      if (isMissing) return this.#last?.tokens ?? null;
      throw new CompactionError(this.#last?.tokens ?? 0, error, rendered.promptName);
    }
  }

  async #compact(history: History, tokens: number, measured: Measured): Promise<void> {
    const before = history.length;
    const { model, session, client, timeoutMs } = this.#settings;
    const { rendered, base, signal } = measured;
    const { window, usage } = await compactItems(history.window, tokens, {
      ...{ client, model, session, timeoutMs, signal, retry: this.#settings },
      ...{ promptName: rendered.promptName, instructions: rendered.text, secrets: base.secrets },
      isKept: !this.#isNested,
    });
    history.compacted(window);
    this.#usage = addUsage(this.#usage, usage);
    this.#compactedTo = history.length;
    this.#last = null;
    const after = usage.outputTokens > 0 ? usage.outputTokens : null;
    this.#reportCompaction(window, {
      items: { before, after: history.length },
      tokens,
      after,
      usage,
    });
  }

  #reportCompaction(
    window: readonly WireItem[],
    of: {
      readonly items: { readonly before: number; readonly after: number };
      readonly tokens: number;
      readonly after: number | null;
      readonly usage: TokenUsage | null;
    },
  ): void {
    const { strategy } = this.#settings.compaction;
    this.#publish({
      type: "ContextCompacted",
      tokensBefore: of.tokens,
      tokensAfter: of.after,
      strategy,
      usage: of.usage,
      itemsBefore: of.items.before,
      itemsAfter: of.items.after,
      encryptedLength: sealedLength(window),
    });
  }
}

/** At most: a text's own length counts what UTF-8 may need three bytes for. */
const BYTES_A_CHARACTER = 3;
const COUNTED = ["model", "tools", "tool_choice", "parallel_tool_calls", "reasoning", "text"];

/** Whether it has more than what was told to the model: that is kept word for word. */
function isCompactable({ items }: History): boolean {
  return items.some((item) => partOf(item) !== "input");
}

function countedFields(request: object): object {
  return Object.fromEntries(Object.entries(request).filter(([key]) => COUNTED.includes(key)));
}
