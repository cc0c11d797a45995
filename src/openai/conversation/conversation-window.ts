import type { Announcement } from "../../adapter/announce.ts";
import type { Turn } from "../../adapter/model-client.ts";
import { messageOf } from "../../base/errors.ts";
import { addUsage, noUsage, type TokenUsage } from "../../base/usage.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import type { Session } from "../../session/session.ts";
import { CompactionManager } from "../compaction/compaction.ts";
import { countTokens } from "../compaction/compaction-calls.ts";
import type { CompactionSettings } from "../compaction/compaction-config.ts";
import { compactionSlice } from "../compaction/compaction-state.ts";
import { CompactionError } from "../errors/errors.ts";
import { OpenAIRequestError } from "../errors/request-error.ts";
import type { History } from "../history/history.ts";
import { partOf, sideOf } from "../history/well-formed.ts";
import type { OpenAIClient } from "../http/client.ts";
import { type Patience, patiently } from "../http/patience.ts";
import { sealedLength } from "../response/sealed-content.ts";
import type { WireItem } from "../wire.ts";
import type { Rest } from "./exchange.ts";

/** What a conversation is kept short by. */
export interface WindowSettings {
  readonly client: OpenAIClient;
  readonly model: string;
  readonly compaction: CompactionSettings;
  readonly session: Session;
  readonly timeoutMs: number;
  readonly patience: Patience;
}

/** The request that is to be measured, and what it is for. */
export interface Measured {
  readonly rest: Rest;
  readonly rendered: RenderedPrompt;
  readonly signal: AbortSignal;
}

/** What a conversation goes on from, or why it does not. */
export interface Carried {
  readonly items: readonly WireItem[];
  readonly discarded: string | null;
}

/** Keeps a conversation within its threshold; the prompt itself stays outside of that. */
export class ConversationWindow {
  readonly #settings: WindowSettings;
  readonly #announce: (event: Announcement) => void;
  /** What the provider counted last, and how long the history and the rest of the request were then. */
  #last: { readonly tokens: number; readonly bytes: number; readonly rest: number } | null = null;
  /** Of the request that comes next, or is being answered. */
  #restBytes = 0;
  /** How many items there were after the last compaction: without more there is nothing to do. */
  #compactedTo: number | null = null;
  #usage: TokenUsage = noUsage;
  /** Within a handler: the conversation is not the session's, and neither is what it comes to. */
  #isNested = false;

  constructor(settings: WindowSettings, announce: (event: Announcement) => void) {
    this.#settings = settings;
    this.#announce = announce;
  }

  get isEnabled(): boolean {
    return this.#settings.compaction.enabled;
  }

  /** What an earlier evaluation of the session left to go on from; what is of no use is let go. */
  carried({ isNested }: { readonly isNested: boolean }): Carried {
    const { session, model } = this.#settings;
    this.#isNested = isNested;
    if (!this.isEnabled || isNested) return { items: [], discarded: null };
    session.register(compactionSlice);
    const { window, model: made } = session.get(compactionSlice);
    const items = window as readonly WireItem[];
    if (items.length === 0 || made === model) return { items, discarded: null };
    const discarded = `it was compacted for the model "${made}", and this is "${model}"`;
    this.#announce({ type: "CompactionDiscarded", reason: discarded });
    return { items: [], discarded };
  }

  /** The history is what was carried over and the prompt: there is nothing in it to compact yet. */
  begun({ length }: History): void {
    this.#compactedTo = length;
  }

  /** What a request says of compaction. */
  get fields(): object {
    const { enabled, strategy, thresholdTokens } = this.#settings.compaction;
    if (!enabled || strategy !== "server") return {};
    return { context_management: [{ type: "compaction", compact_threshold: thresholdTokens }] };
  }

  /** Makes the history shorter if the next request would be over the threshold; says if it did. */
  async before(history: History, measured: Measured): Promise<boolean> {
    const { compaction } = this.#settings;
    if (!compaction.enabled || compaction.strategy !== "endpoint") return false;
    this.#restBytes = measured.rest.text.length * BYTES_A_CHARACTER;
    if (history.length === this.#compactedTo) return false;
    if (this.#atMost(history, measured) <= compaction.thresholdTokens) return false;
    if (!isCompactable(history)) return false;
    const tokens = await this.#count(history, measured);
    if (tokens === null) return false;
    if (tokens <= compaction.thresholdTokens) {
      this.#last = { tokens, bytes: history.bytes, rest: this.#restBytes };
      return false;
    }
    await this.#compact(history, tokens, measured);
    return true;
  }

  /** Takes note of an answer, and of what the server compacted within it. */
  answered(history: History, turn: Turn, items: readonly WireItem[]): void {
    const { totalTokens } = turn.usage;
    const counted = { tokens: totalTokens, bytes: history.bytes, rest: this.#restBytes };
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
    if (!this.#isNested) this.#announce({ type: "CompactionKept", model, tokens, window });
    const count = { before, after: history.length };
    this.#tell(window, { items: count, tokens, after: null, usage: null });
    this.#last = null;
  }

  /** After the last answer: the next evaluation starts short. The answer is had, whatever happens. */
  async finished(history: History, measured: Measured): Promise<void> {
    try {
      await this.before(history, measured);
    } catch (error) {
      measured.signal.throwIfAborted();
      const tokenCount = error instanceof CompactionError ? error.tokenCount : 0;
      const reason = messageOf(error);
      const { logger } = this.#settings.patience;
      logger.error("the conversation could not be compacted", { tokenCount, reason });
      this.#announce({ type: "CompactionFailed", tokenCount, reason });
    }
  }

  /** What compactions have cost since this was last asked. */
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
    const rest = this.#restBytes;
    const byBytes = rendered.attachments.length === 0 ? bytes + rest : Number.POSITIVE_INFINITY;
    const last = this.#last;
    if (!last) return byBytes;
    const grown = Math.max(0, bytes - last.bytes) + Math.max(0, rest - last.rest);
    return Math.min(byBytes, last.tokens + grown);
  }

  /** What the provider counts, or counted last where it does not; `null` if it never did. */
  async #count(history: History, { rest, rendered, signal }: Measured): Promise<number | null> {
    const { client, patience, timeoutMs } = this.#settings;
    const fields = countedFields(rest.value);
    const request = {
      text: () => history.body(JSON.stringify(fields)),
      value: () => history.value(fields),
    };
    const options = { signal, timeoutMs, secrets: rest.secrets };
    try {
      return await patiently(() => countTokens(client, request, options), patience, signal);
    } catch (error) {
      signal.throwIfAborted();
      const isMissing = error instanceof OpenAIRequestError && error.status === 404;
      if (isMissing) return this.#last?.tokens ?? null;
      throw new CompactionError(this.#last?.tokens ?? 0, error, rendered.promptName);
    }
  }

  async #compact(history: History, tokens: number, measured: Measured): Promise<void> {
    const before = history.length;
    const manager = this.#manager(measured);
    const { window, usage } = await manager.compactWithUsage(history.window, tokens);
    history.compacted(window);
    this.#usage = addUsage(this.#usage, usage);
    this.#compactedTo = history.length;
    this.#last = null;
    const after = usage.outputTokens > 0 ? usage.outputTokens : null;
    this.#tell(window, { items: { before, after: history.length }, tokens, after, usage });
  }

  #manager({ rest, rendered, signal }: Measured): CompactionManager {
    const { client, compaction, session, model, patience, timeoutMs } = this.#settings;
    const { promptName, text: instructions } = rendered;
    const about = { model, instructions, promptName, secrets: rest.secrets };
    const how = { clock: patience.clock, patience, timeoutMs, signal, keeps: !this.#isNested };
    return new CompactionManager(client, compaction, session, { ...about, ...how });
  }

  #tell(
    window: readonly WireItem[],
    of: {
      readonly items: { readonly before: number; readonly after: number };
      readonly tokens: number;
      readonly after: number | null;
      readonly usage: TokenUsage | null;
    },
  ): void {
    const { strategy } = this.#settings.compaction;
    this.#announce({
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
