import type { CompactionBackoff, CompactionChange } from "../../adapter/context-compacted.ts";
import type { Logger } from "../../base/logger.ts";
import type { CompactionSettings } from "./compaction-config.ts";
import type { UnmeasuredCompaction, WindowState } from "./window-state.ts";

/** The effect of one compaction, and when the next one is due. */
export interface CompactionVerdict {
  /** The part of the tokens that was saved, negative if there are more; `null` if unknown. */
  readonly savedRatio: number | null;
  readonly nextAtTokens: number;
  /** Set if the next compaction is due above the threshold. */
  readonly backoff?: CompactionBackoff;
}

/** The sizes of a conversation in tokens, before and after its compaction. */
export interface CompactedSizes {
  readonly tokensBefore: number;
  /** `null` if unknown. Then the threshold applies. */
  readonly tokensAfter: number | null;
}

/** The parts of a conversation's settings that decide when it is compacted. */
export interface PacerSettings {
  readonly compaction: CompactionSettings;
  readonly logger: Logger;
}

/**
 * Decides when a conversation is compacted: above the threshold, and later after compactions that
 * saved too little.
 */
export class CompactionPacer {
  readonly #settings: PacerSettings;
  readonly #onMeasurement: (change: CompactionChange) => void;
  #backoff: CompactionBackoff | undefined;
  /** The last compaction, until the provider counts the tokens after it. */
  #unmeasured: UnmeasuredCompaction | null = null;
  #hasWarned = false;

  constructor(
    settings: PacerSettings,
    backoff: CompactionBackoff | undefined,
    onMeasurement: (change: CompactionChange) => void,
  ) {
    this.#settings = settings;
    this.#backoff = backoff;
    this.#onMeasurement = onMeasurement;
  }

  /** The size in tokens above which the conversation is compacted. */
  get limit(): number {
    return getCompactionLimit(this.#backoff, this.#settings.compaction);
  }

  /** The state that `resume` restores. */
  get state(): Pick<WindowState, "backoff" | "unmeasured"> {
    return { backoff: this.#backoff ?? null, unmeasured: this.#unmeasured };
  }

  /** Restores the state of an interrupted evaluation. */
  resume({ backoff, unmeasured }: Pick<WindowState, "backoff" | "unmeasured">): void {
    this.#backoff = backoff ?? undefined;
    this.#unmeasured = unmeasured;
  }

  /** Judges a compaction. */
  judge(sizes: CompactedSizes): CompactionVerdict {
    return judgeCompaction(sizes, this.#backoff, this.#settings.compaction);
  }

  /** Called after a compaction. `bytesAfter` is the size of the next request. */
  onCompacted(tokensBefore: number, verdict: CompactionVerdict, bytesAfter: number): void {
    const isHelpful = !isUnhelpful(verdict);
    this.#unmeasured = { tokensBefore, bytesAfter, backoff: this.#backoff, isHelpful };
    this.#apply(verdict);
  }

  /**
   * Called with the provider's token count of a request of `bytes` bytes. Corrects the verdict on the
   * last compaction if the count contradicts the estimate: directly after it, the conversation had at
   * most as many tokens, and at least as many minus one per byte added since.
   */
  onMeasured(tokens: number, bytes: number): void {
    const last = this.#unmeasured;
    this.#unmeasured = null;
    if (!last) return;
    const { tokensBefore, isHelpful, backoff } = last;
    const tokensAfter = isHelpful ? tokens - Math.max(0, bytes - last.bytesAfter) : tokens;
    const sizes = { tokensBefore, tokensAfter: Math.max(0, tokensAfter) };
    const measured = judgeCompaction(sizes, backoff, this.#settings.compaction);
    if (isUnhelpful(measured) !== isHelpful) return;
    this.#apply(measured);
    this.#onMeasurement({ type: "CompactionMeasured", ...measured });
  }

  #apply(verdict: CompactionVerdict): void {
    const { savedRatio, nextAtTokens, backoff } = verdict;
    this.#backoff = backoff;
    if (backoff?.unhelpfulCount !== 1 || this.#hasWarned) return;
    this.#hasWarned = true;
    const remedy = "Raise the threshold, or shorten the prompt, its tools and the user messages.";
    const message = `a compaction saved less than ${MIN_SAVED_RATIO * 100} %. ${remedy}`;
    this.#settings.logger.warn(message, { savedRatio, nextAtTokens });
  }
}

/** Returns the size in tokens above which a conversation is compacted. */
export function getCompactionLimit(
  backoff: CompactionBackoff | undefined,
  { thresholdTokens }: Pick<CompactionSettings, "thresholdTokens">,
): number {
  return Math.max(thresholdTokens, backoff?.nextAtTokens ?? 0);
}

/**
 * Decides when the next compaction is due: above the threshold, but at least a distance above the
 * conversation's size, because a compaction just before that has little to save. The distance is 20 %
 * of the threshold, and doubles with each compaction in a row that saved less than 20 %.
 */
export function judgeCompaction(
  { tokensBefore, tokensAfter }: CompactedSizes,
  earlier: CompactionBackoff | undefined,
  { thresholdTokens, contextWindow }: Pick<CompactionSettings, "thresholdTokens" | "contextWindow">,
): CompactionVerdict {
  if (tokensAfter === null || tokensBefore <= 0)
    return { savedRatio: null, nextAtTokens: thresholdTokens };
  const savedRatio = 1 - tokensAfter / tokensBefore;
  const isHelpful = tokensAfter <= tokensBefore * (1 - MIN_SAVED_RATIO);
  const unhelpfulCount = isHelpful ? 0 : (earlier?.unhelpfulCount ?? 0) + 1;
  const doublings = Math.min(Math.max(0, unhelpfulCount - 1), MAX_DOUBLINGS);
  const distance = Math.ceil(thresholdTokens * FIRST_DISTANCE) * 2 ** doublings;
  const size = Math.ceil(isHelpful ? tokensAfter : Math.max(tokensBefore, tokensAfter));
  // Tries once more before the conversation no longer fits the model.
  const last = contextWindow === null ? Infinity : Math.floor(contextWindow * LAST_CHANCE);
  const due = size < last ? Math.min(size + distance, last) : size + distance;
  const nextAtTokens = Math.max(thresholdTokens, due);
  if (nextAtTokens === thresholdTokens && isHelpful) return { savedRatio, nextAtTokens };
  return { savedRatio, nextAtTokens, backoff: { unhelpfulCount, nextAtTokens } };
}

function isUnhelpful({ backoff }: CompactionVerdict): boolean {
  return backoff !== undefined && backoff.unhelpfulCount > 0;
}

/** A compaction that saves less than this part does not help. */
const MIN_SAVED_RATIO = 0.2;
/** The first distance to the next compaction, as a part of the threshold. */
const FIRST_DISTANCE = 0.2;
const MAX_DOUBLINGS = 30;
/** The part of the context window at which another compaction is tried in any case. */
const LAST_CHANCE = 0.9;
