import type { TokenUsage } from "../base/usage.ts";
import type { EventStamp } from "./event-stamp.ts";

/** Published when a conversation has been compacted. */
export interface ContextCompacted extends EventStamp {
  /** Discriminates the event. */
  readonly type: "ContextCompacted";
  /** Tokens of the conversation before the compaction. */
  readonly tokensBefore: number;
  /**
   * Tokens of the compacted conversation, estimated from the provider's report, or `null` if it
   * reports none.
   */
  readonly tokensAfter: number | null;
  /**
   * Part of the tokens that the compaction saved, negative if the conversation grew. An estimate:
   * for `"server"` from the sizes in bytes. `null` if unknown.
   */
  readonly savedRatio: number | null;
  /**
   * Size in tokens above which the conversation is compacted next. Higher than the threshold if the
   * compaction saved less than 20 %. For `"sdk"` the size at which the runtime compacted this time.
   */
  readonly nextAtTokens: number;
  /** How it was compacted. `"sdk"` means by the agent's own runtime. */
  readonly strategy: "endpoint" | "server" | "sdk";
  /** Tokens used by the compaction itself. `null` if the server compacted during a turn. */
  readonly usage: TokenUsage | null;
  /** Number of items before and after, or `null` if the runtime does not report it. */
  readonly itemsBefore: number | null;
  /** Number of items after the compaction, or `null` if the runtime does not report it. */
  readonly itemsAfter: number | null;
  /** Length of the content that only the provider can read. */
  readonly encryptedLength: number;
}

/**
 * Stores the compacted conversation in the session, with its encrypted content. In an evaluation it is
 * dispatched together with the `HistoryAdvanced` that it belongs to. `"*"` subscribers do not receive it.
 */
export interface CompactionKept extends EventStamp {
  /** Discriminates the event. */
  readonly type: "CompactionKept";
  /** The model for which the conversation was compacted. */
  readonly model: string;
  /** Tokens of the conversation before the compaction. */
  readonly tokens: number;
  /** The compacted items. */
  readonly window: readonly object[];
  /** Set if the next compaction is due at more tokens than the threshold. */
  readonly backoff?: CompactionBackoff | undefined;
}

/** How far compaction has backed off, because it saves too little. */
export interface CompactionBackoff {
  /** Compactions in a row that saved less than 20 %. */
  readonly unhelpfulCount: number;
  /** Size in tokens above which the next compaction is due. */
  readonly nextAtTokens: number;
}

/**
 * Published when the provider's next token count shows that a compaction saved more or less than
 * estimated, so that the next compaction is due at another size.
 */
export interface CompactionMeasured extends EventStamp {
  /** Discriminates the event. */
  readonly type: "CompactionMeasured";
  /** Part of the tokens that the compaction saved, at least or at most. */
  readonly savedRatio: number | null;
  /** Size in tokens above which the conversation is compacted next. */
  readonly nextAtTokens: number;
  /** Set if the next compaction is due at more tokens than the threshold. */
  readonly backoff?: CompactionBackoff | undefined;
}

/** Published when a stored compacted conversation is discarded. */
export interface CompactionDiscarded extends EventStamp {
  /** Discriminates the event. */
  readonly type: "CompactionDiscarded";
  /** Why it is discarded. */
  readonly reason: string;
}

/** Published when the conversation could not be compacted after an answer. */
export interface CompactionFailed extends EventStamp {
  /** Discriminates the event. */
  readonly type: "CompactionFailed";
  /** Tokens of the conversation. */
  readonly tokenCount: number;
  /** Why the compaction failed. */
  readonly reason: string;
}

/**
 * A change of the session's stored compaction, as an event without its stamp. The loop publishes it together
 * with the change of the conversation that it belongs to, so that a stored session has both or neither.
 */
export type CompactionChange =
  | Omit<CompactionKept, keyof EventStamp>
  | Omit<CompactionMeasured, keyof EventStamp>
  | Omit<CompactionDiscarded, keyof EventStamp>;
