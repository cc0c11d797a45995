import type { CompactionBackoff, CompactionChange } from "../../adapter/context-compacted.ts";
import type { AdapterEvent } from "../../adapter/events.ts";
import type { Turn } from "../../adapter/model-client.ts";
import { isWaitTooLong } from "../../adapter/throttle.ts";
import { raceAbort } from "../../base/clock.ts";
import { getErrorMessage } from "../../base/errors.ts";
import type { UnknownRecord } from "../../base/json.ts";
import { addUsage, noUsage, type TokenUsage } from "../../base/usage.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import {
  type CompactionDetails,
  compactItems,
  countTokens,
  estimateTokens,
  toCompactedEvent,
  toKeptEvent,
} from "../compaction/compact-items.ts";
import { CompactionPacer } from "../compaction/compaction-pacer.ts";
import { compactionSlice } from "../compaction/compaction-state.ts";
import { readWindowState, type TokenCount, type WindowState } from "../compaction/window-state.ts";
import { CompactionError } from "../errors/errors.ts";
import { OpenAIRequestError } from "../errors/request-error.ts";
import type { History } from "../history/history.ts";
import { classifyItem, getPairSide } from "../history/history-pairs.ts";
import { withRetries } from "../http/retry.ts";
import { getMessageText } from "../request/request.ts";
import type { WireItem } from "../wire.ts";
import type { ConversationSettings } from "./conversation-settings.ts";
import type { RequestBase } from "./send-request.ts";

/** The request to measure against the threshold. */
export interface MeasuredRequest {
  readonly base: RequestBase;
  readonly rendered: RenderedPrompt;
  readonly signal: AbortSignal;
}

/** The compacted window of an earlier conversation, or the reason it was discarded. */
export interface CarriedOverWindow {
  readonly items: readonly WireItem[];
  readonly discarded: string | null;
}

/** Compacts a conversation that exceeds its threshold. The prompt's system text is never compacted. */
export class ConversationWindow {
  readonly #settings: ConversationSettings;
  readonly #publish: (event: AdapterEvent) => void;
  /** The provider's last token count, with the byte sizes of the history and request base at that time. */
  #lastCount: TokenCount | null = null;
  /** The size in bytes of the current request's base. */
  #baseBytes = 0;
  /** The number of items after the last compaction. Compaction waits until it grows. */
  #itemsAfterCompaction: number | null = null;
  #pacer: CompactionPacer;
  #usage: TokenUsage = noUsage;
  /** Changes that are stored together with the next step of the history. */
  #changes: CompactionChange[] = [];
  /** Whether the evaluation runs inside a tool handler. Its window is then not stored in the session. */
  #isNested = false;

  constructor(settings: ConversationSettings, publish: (event: AdapterEvent) => void) {
    this.#settings = settings;
    this.#publish = publish;
    this.#pacer = this.#createPacer();
  }

  get isEnabled(): boolean {
    return this.#settings.compaction.enabled;
  }

  /** Loads the window that an earlier evaluation of the session was compacted to. */
  loadCarriedOver({ isNested }: { readonly isNested: boolean }): CarriedOverWindow {
    const { session, model } = this.#settings;
    this.#isNested = isNested;
    if (!this.isEnabled || isNested) return { items: [], discarded: null };
    session.register(compactionSlice);
    const state = session.get(compactionSlice);
    const { window, model: compactedFor } = state;
    const items = window as readonly WireItem[];
    if (items.length === 0 || compactedFor === model) {
      this.#pacer = this.#createPacer(state.backoff);
      return { items, discarded: null };
    }
    const discarded = `it was compacted for the model "${compactedFor}", but the model is now "${model}"`;
    this.#addChange({ type: "CompactionDiscarded", reason: discarded });
    return { items: [], discarded };
  }

  /** The state that `resume` restores, as JSON. */
  get state(): WindowState {
    const compactedTo = this.#itemsAfterCompaction;
    const usage = this.#usage.totalTokens > 0 ? this.#usage : null;
    return { lastCount: this.#lastCount, compactedTo, usage, ...this.#pacer.state };
  }

  /** Restores the state after a turn of an interrupted evaluation. Its history has the window. */
  resume(state: UnknownRecord): CarriedOverWindow {
    const carried = this.loadCarriedOver({ isNested: false });
    const { lastCount, compactedTo, usage, ...paced } = readWindowState(state);
    this.#lastCount = lastCount;
    this.#itemsAfterCompaction = compactedTo;
    this.#usage = usage ?? noUsage;
    this.#pacer.resume(paced);
    return { ...carried, items: [] };
  }

  /** Called when the history starts with a carried-over window, which is not compacted again. */
  onStart({ length }: History): void {
    this.#itemsAfterCompaction = length;
  }

  /** The size above which the server compacts; `null` if it does not. */
  get serverThreshold(): number | null {
    const { enabled, strategy } = this.#settings.compaction;
    return enabled && strategy === "server" ? this.#pacer.limit : null;
  }

  /** Whether the request may be too long, as far as its size tells. `compactIfNeeded` does nothing otherwise. */
  mayNeedCompaction(history: History, base: RequestBase): boolean {
    const { compaction } = this.#settings;
    if (!compaction.enabled || compaction.strategy !== "endpoint") return false;
    this.#baseBytes = base.text.length * MAX_BYTES_PER_CHARACTER;
    if (history.length === this.#itemsAfterCompaction) return false;
    if (this.#estimateMaxTokens(history) <= this.#pacer.limit) return false;
    return isCompactable(history);
  }

  /** Compacts the history if the next request would exceed the threshold. Returns whether it did. */
  async compactIfNeeded(history: History, measured: MeasuredRequest): Promise<boolean> {
    if (!this.mayNeedCompaction(history, measured.base)) return false;
    const tokens = await this.#countTokens(history, measured);
    if (tokens === null) return false;
    this.#lastCount = { tokens, bytes: history.byteLength, base: this.#baseBytes };
    this.#pacer.onMeasured(tokens, countRequestBytes(history, measured.base));
    if (tokens <= this.#pacer.limit) return false;
    await this.#compact(history, tokens, measured);
    return true;
  }

  /** Called for each response. Applies the server's compaction if the response has one. */
  onAnswer(
    history: History,
    { turn, items, base }: { turn: Turn; items: readonly WireItem[]; base: RequestBase },
  ): void {
    if (!this.isEnabled) return;
    const { totalTokens, inputTokens } = turn.usage;
    const counted = { tokens: totalTokens, bytes: history.byteLength, base: this.#baseBytes };
    this.#lastCount = totalTokens > 0 ? counted : null; // some servers do not report usage
    // The usage of a turn with hosted calls is more than the size of its request.
    if (inputTokens > 0 && turn.hostedCalls.length === 0)
      this.#pacer.onMeasured(inputTokens, countRequestBytes(history, base));
    if (this.#settings.compaction.strategy !== "server") return;
    const index = items.findLastIndex(({ type }) => type === "compaction");
    if (index !== -1) this.#applyServerCompaction(history, { turn, items, base, index });
  }

  #applyServerCompaction(
    history: History,
    answer: { turn: Turn; items: readonly WireItem[]; base: RequestBase; index: number },
  ): void {
    const { turn, items, base, index } = answer;
    const before = history.length;
    const answerBytes = items.reduce((sum, item) => sum + countBytes(item), 0);
    const bytesBefore = countRequestBytes(history, base) - answerBytes;
    // With an unanswered call before the compaction, all items stay: the call needs its context.
    const isOpen = items.slice(0, index).some((item) => getPairSide(item) === "call");
    const window = isOpen ? items : items.slice(index);
    history.replaceWithWindow(window);
    const bytesAfter = countRequestBytes(history, base);
    const tokens = turn.usage.totalTokens;
    // Compares this request with the next one: the answer's tokens include the compaction itself.
    const size = turn.usage.inputTokens > 0 ? turn.usage.inputTokens : tokens;
    const after = (size * bytesAfter) / Math.max(1, bytesBefore);
    const verdict = this.#pacer.judge({ tokensBefore: size, tokensAfter: after });
    this.#pacer.onCompacted(size, verdict, bytesAfter);
    const count = { before, after: history.length };
    this.#completeCompaction(window, { items: count, tokens, after: null, usage: null, verdict });
  }

  /**
   * Compacts after the last answer, for the next evaluation. A failure, a deadline or a cancellation
   * is reported, not thrown: the answer is not lost.
   */
  async onFinish(history: History, measured: MeasuredRequest): Promise<void> {
    try {
      await raceAbort(this.compactIfNeeded(history, measured), measured.signal);
    } catch (error) {
      const known = this.#lastCount?.tokens ?? 0;
      const tokenCount = error instanceof CompactionError ? error.tokenCount : known;
      const reason = getErrorMessage(error);
      const { logger } = this.#settings;
      logger.error("could not compact the conversation", { tokenCount, reason });
      this.#publish({ type: "CompactionFailed", tokenCount, reason });
    }
  }

  /**
   * Returns the changes of the session's compaction state since the last call. Publish them together with the
   * history that they belong to: a process that is lost in between must not leave one without the other.
   */
  takeChanges(): readonly CompactionChange[] {
    const changes = this.#changes;
    this.#changes = [];
    return changes;
  }

  /** Returns the token usage of compactions since the last call. */
  takeUsage(): TokenUsage {
    const usage = this.#usage;
    this.#usage = noUsage;
    return usage;
  }

  /**
   * Returns an upper bound of the request's tokens. A token has at least one byte, and the last count
   * covers everything sent so far. Bytes do not include attached files and images, so with attachments
   * only the last count gives a bound.
   */
  #estimateMaxTokens({ byteLength, hasAttachments }: History): number {
    const base = this.#baseBytes;
    const byBytes = hasAttachments ? Number.POSITIVE_INFINITY : byteLength + base;
    const last = this.#lastCount;
    if (!last) return byBytes;
    const grown = Math.max(0, byteLength - last.bytes) + Math.max(0, base - last.base);
    return Math.min(byBytes, last.tokens + grown);
  }

  /**
   * Counts the request's tokens at the provider. If the provider lacks the endpoint, returns the last
   * known count, or `null` without one. Returns `null` if the provider cannot read the history.
   */
  async #countTokens(
    history: History,
    { base, rendered, signal }: MeasuredRequest,
  ): Promise<number | null> {
    const { client, timeoutMs } = this.#settings;
    const fields = pickCountedFields(base.value);
    const request = {
      text: () => history.toRequestBody(JSON.stringify(fields)),
      createDigest: () => history.createDigest(() => JSON.stringify(fields)),
      value: () => history.toRequestValue(fields),
    };
    const options = { signal, timeoutMs, secrets: base.secrets };
    try {
      return await withRetries(() => countTokens(client, request, options), this.#settings, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (isWaitTooLong(error)) throw error; // the evaluation can be resumed after the wait
      const refusal = error instanceof OpenAIRequestError ? error : null;
      if (refusal?.status === 404) return this.#lastCount?.tokens ?? null;
      // The provider cannot read the history. The request itself reports that better than a compaction.
      if (refusal?.code === "invalid_encrypted_content") return null;
      const estimate = estimateTokens(countRequestBytes(history, base));
      throw new CompactionError(this.#lastCount?.tokens ?? estimate, error, rendered.promptName);
    }
  }

  async #compact(history: History, tokens: number, measured: MeasuredRequest): Promise<void> {
    const before = history.length;
    const { model, client, timeoutMs } = this.#settings;
    const { rendered, base, signal } = measured;
    const instructions = getMessageText(rendered.messages, "system") ?? undefined;
    const result = await compactItems(history.window, tokens, {
      ...{ client, model, timeoutMs, signal, retry: this.#settings },
      ...{ promptName: rendered.promptName, instructions, secrets: base.secrets },
      judge: (sizes) => this.#pacer.judge(sizes),
    });
    const { window, usage, tokensAfter, verdict } = result;
    history.replaceWithWindow(window);
    this.#pacer.onCompacted(tokens, verdict, countRequestBytes(history, base));
    this.#usage = addUsage(this.#usage, usage);
    this.#itemsAfterCompaction = history.length;
    const items = { before, after: history.length };
    this.#completeCompaction(window, { items, tokens, after: tokensAfter, usage, verdict });
  }

  #createPacer(backoff?: CompactionBackoff): CompactionPacer {
    return new CompactionPacer(this.#settings, backoff, (change) => this.#addChange(change));
  }

  #completeCompaction(window: readonly WireItem[], details: CompactionDetails): void {
    const { compaction, model } = this.#settings;
    this.#lastCount = null;
    this.#addChange(toKeptEvent(window, model, details));
    this.#publish(toCompactedEvent(window, compaction.strategy, details));
  }

  /** Adds a change, unless the conversation is nested: then it is not the session's. */
  #addChange(change: CompactionChange): void {
    if (!this.#isNested) this.#changes.push(change);
  }
}

/** The most bytes that UTF-8 needs for one UTF-16 code unit, which `length` counts. */
const MAX_BYTES_PER_CHARACTER = 3;
const COUNTED_FIELDS = [
  "model",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "reasoning",
  "text",
];

/** Returns the size of a request in bytes, to compare it with others: the base is counted in characters. */
function countRequestBytes({ byteLength }: History, { text }: RequestBase): number {
  return byteLength + text.length;
}

function countBytes(item: WireItem): number {
  return JSON.stringify(item).length;
}

/** Whether the history has output of the model. Compaction keeps input verbatim. */
function isCompactable({ items }: History): boolean {
  return items.some((item) => classifyItem(item) !== "input");
}

function pickCountedFields(request: object): object {
  return Object.fromEntries(
    Object.entries(request).filter(([key]) => COUNTED_FIELDS.includes(key)),
  );
}
