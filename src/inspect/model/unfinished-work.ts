import { readString, type UnknownRecord } from "../../base/json.ts";
import { addUsage, noUsage, type TokenUsage } from "../../base/usage.ts";

/** Tokens and cost of a turn or an evaluation. */
export interface Work {
  readonly usage: TokenUsage;
  /** In US dollars; `null` if it is not known. */
  readonly usd: number | null;
}

/**
 * What was counted of evaluations that have not ended, so that their ends count only what is new. Nested evaluations are
 * known by the names of their prompts only: those that run at the same time share their turns.
 */
export class UnfinishedWork {
  readonly #counted = new Map<string, Work>();

  /** Adds a counted turn. */
  addTurn(event: UnknownRecord, turn: Work): void {
    this.#counted.set(getName(event), sumWork(this.#getCounted(event), turn));
  }

  /** Returns what an evaluation's total has in addition to the counted turns, never less than nothing. */
  takeRest(event: UnknownRecord, total: Work): Work {
    const counted = this.#getCounted(event);
    const rest = subtractWork(total, counted);
    // A nested evaluation leaves the turns of others with its name. Another one may resume, for example when it was
    // parked, and its next total includes all its turns.
    const next = isNested(event) ? subtractWork(counted, total) : sumWork(counted, rest);
    this.#counted.set(getName(event), next);
    return rest;
  }

  /** Forgets all evaluations: those that have not ended will not. */
  clear(): void {
    this.#counted.clear();
  }

  #getCounted(event: UnknownRecord): Work {
    return this.#counted.get(getName(event)) ?? NOTHING;
  }
}

const NOTHING: Work = { usage: noUsage, usd: null };

function isNested(event: UnknownRecord): boolean {
  return event["nested"] === true;
}

function getName(event: UnknownRecord): string {
  return isNested(event) ? `nested ${readString(event, "promptName")}` : "";
}

function sumWork(one: Work, other: Work): Work {
  const usd = other.usd === null ? one.usd : (one.usd ?? 0) + other.usd;
  return { usage: addUsage(one.usage, other.usage), usd };
}

function subtractWork(one: Work, other: Work): Work {
  const usage: TokenUsage = {
    inputTokens: subtractCount(one.usage.inputTokens, other.usage.inputTokens),
    outputTokens: subtractCount(one.usage.outputTokens, other.usage.outputTokens),
    cachedTokens: subtractCount(one.usage.cachedTokens, other.usage.cachedTokens),
    reasoningTokens: subtractCount(one.usage.reasoningTokens, other.usage.reasoningTokens),
    totalTokens: subtractCount(one.usage.totalTokens, other.usage.totalTokens),
  };
  return { usage, usd: one.usd === null ? null : subtractUsd(one.usd, other.usd ?? 0) };
}

function subtractCount(one: number, other: number): number {
  return one > other ? one - other : 0;
}

/** Sums of the same costs differ by rounding errors. */
function subtractUsd(one: number, other: number): number {
  return one - other > 1e-9 ? one - other : 0;
}
