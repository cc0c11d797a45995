import type { CompactionBackoff } from "../../adapter/context-compacted.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { readNumber, readRecord, type UnknownRecord } from "../../base/json.ts";
import { noUsage, type TokenUsage } from "../../base/usage.ts";

/**
 * The state of a conversation's compaction after a turn. The session's own compaction state may be newer, if the
 * process was lost between a compaction and the next turn.
 */
export interface WindowState {
  /** The provider's last token count; `null` if there is none. */
  readonly lastCount: TokenCount | null;
  /** The number of items after the last compaction; `null` before the first. */
  readonly compactedTo: number | null;
  /** The last compaction, if the provider has not counted the tokens after it. */
  readonly unmeasured: UnmeasuredCompaction | null;
  /** When the next compaction is due; `null` at the threshold. */
  readonly backoff: CompactionBackoff | null;
  /** Tokens of compactions that no turn has reported yet; `null` if there are none. */
  readonly usage: TokenUsage | null;
}

/** A token count, with the sizes in bytes of the history and of the request's base at that time. */
export interface TokenCount {
  readonly tokens: number;
  readonly bytes: number;
  readonly base: number;
}

/** A compaction whose effect is estimated. */
export interface UnmeasuredCompaction {
  readonly tokensBefore: number;
  readonly bytesAfter: number;
  /** The backoff before the compaction. */
  readonly backoff: CompactionBackoff | undefined;
  /** Whether it saved enough, as estimated. */
  readonly isHelpful: boolean;
}

/** Reads a stored state. Fields that cannot be read are unknown. */
export function readWindowState(state: UnknownRecord): WindowState {
  return {
    lastCount: readNumbers(state["lastCount"], ["tokens", "bytes", "base"]),
    compactedTo: readNumber(state, "compactedTo"),
    unmeasured: readUnmeasured(readRecord(state, "unmeasured")),
    backoff: readBackoff(state),
    usage: readNumbers(state["usage"], USAGE_KEYS),
  };
}

const USAGE_KEYS = Object.keys(noUsage) as readonly (keyof TokenUsage)[];

function readUnmeasured(record: UnknownRecord): UnmeasuredCompaction | null {
  const numbers = readNumbers(record, ["tokensBefore", "bytesAfter"]);
  const backoff = readBackoff(record) ?? undefined;
  return numbers && { ...numbers, backoff, isHelpful: record["isHelpful"] === true };
}

function readBackoff({ backoff }: UnknownRecord): CompactionBackoff | null {
  return readNumbers(backoff, ["unhelpfulCount", "nextAtTokens"]);
}

/** Reads a record of numbers; `null` if one is missing. */
function readNumbers<Key extends string>(
  value: unknown,
  keys: readonly Key[],
): Readonly<Record<Key, number>> | null {
  if (!isPlainObject(value)) return null;
  const entries = keys.map((key) => [key, readNumber(value, key)] as const);
  if (entries.some(([, number]) => number === null)) return null;
  return Object.fromEntries(entries) as Readonly<Record<Key, number>>;
}
