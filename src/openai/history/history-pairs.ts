import { isPlainObject } from "../../base/freeze.ts";
import { readRecords, readStringOrNull } from "../../base/json.ts";
import type { WireItem } from "../wire.ts";

/** Whether the provider stores its responses. If not, no item may be referenced by its id. */
export interface StorageMode {
  readonly stored: boolean;
}

/**
 * Splits items into valid and dropped ones, both in their original order. The provider accepts a call
 * only with its output, and reasoning only with the output after it. Drops as few items as possible.
 */
export function keepValidHistory(
  items: readonly object[],
  storage: StorageMode,
): { readonly items: readonly WireItem[]; readonly dropped: readonly WireItem[] } {
  const stays = markValidItems(items, storage);
  return {
    items: items.filter((_item, index): _item is WireItem => stays[index] === true),
    dropped: items.filter((_item, index): _item is WireItem => stays[index] === false),
  };
}

/** Returns, for each item, whether the provider accepts it; see {@link keepValidHistory}. */
export function markValidItems(items: readonly object[], storage: StorageMode): boolean[] {
  const pairing = new Pairing();
  const stays = items.map(
    (item, index) => isSendable(item, storage) && pairing.accept(item, index),
  );
  for (const { index } of pairing.listUnanswered()) stays[index] = false;
  // Must come last: a dropped call can leave its reasoning without output, and affects nothing more.
  items.reduceRight((followed, item, index) => {
    if (!stays[index]) return followed;
    const part = classifyItem(item);
    if (part === "reasoning") stays[index] = followed;
    return part === "reasoning" ? followed : part === "produced";
  }, false);
  return stays;
}

/**
 * Returns, for each item, whether it remains when the matching items are dropped. A call is dropped
 * with its output, an output with its call, and reasoning with the last of its output.
 */
export function markRemainingItems(
  items: readonly WireItem[],
  matches: (item: WireItem) => boolean,
): readonly boolean[] {
  const pairing = new Pairing();
  for (const [index, item] of items.entries()) pairing.accept(item, index);
  const stays = items.map((item) => !isPlainObject(item) || !matches(item));
  for (const { index, outputIndex } of pairing.iterateAnswered()) {
    if (stays[index] && stays[outputIndex]) continue;
    stays[index] = false;
    stays[outputIndex] = false;
  }
  for (const { start, outputStart, end } of iterateReasoningGroups(items)) {
    const hasNoOutput = outputStart < end && !stays.slice(outputStart, end).includes(true);
    if (hasNoOutput) stays.fill(false, start, outputStart);
  }
  return stays;
}

/** Indexes of reasoning, `start` to `outputStart`, and its output, `outputStart` to `end`, both half-open. */
export interface ReasoningGroup {
  readonly start: number;
  readonly outputStart: number;
  readonly end: number;
}

/** Yields the groups of items that the model produced. Either part of a group may be empty. */
export function* iterateReasoningGroups(items: readonly object[]): Generator<ReasoningGroup> {
  let start = 0;
  let outputStart = 0;
  for (const [index, item] of items.entries()) {
    const part = classifyItem(item);
    if (part === "produced") continue;
    if (part === "input" || outputStart < index) {
      yield { start, outputStart, end: index };
      start = part === "input" ? index + 1 : index;
    }
    outputStart = index + 1;
  }
  yield { start, outputStart, end: items.length };
}

/** Checks a growing list item by item, so that its validity is known without a scan. */
export class PairMonitor {
  readonly #storage: StorageMode;
  readonly #pairing = new Pairing();
  #observedCount = 0;
  #isBroken = false;
  #endsInReasoning = false;

  constructor(storage: StorageMode) {
    this.#storage = storage;
  }

  /** Whether all observed items are valid together. */
  get isComplete(): boolean {
    return !this.#isBroken && !this.#endsInReasoning && this.#pairing.unansweredCount === 0;
  }

  observe(item: WireItem): void {
    const fits = isSendable(item, this.#storage) && this.#pairing.accept(item, this.#observedCount);
    const part = classifyItem(item);
    if (!fits || (this.#endsInReasoning && part === "input")) this.#isBroken = true;
    this.#endsInReasoning = part === "reasoning";
    this.#observedCount += 1;
  }
}

/**
 * Returns the item in the form that is sent. Without storage, the id is removed from item types
 * that the provider is known to accept without one. Other items are sent unchanged.
 */
export function toSentItem(item: WireItem, { stored }: StorageMode): WireItem {
  if (stored || !SENT_WITHOUT_ID.has(getItemType(item)) || !Object.hasOwn(item, "id")) return item;
  const { id: _id, ...rest } = item;
  return rest;
}

/** Classifies an item: reasoning, input to the model, or output that the model produced. */
export function classifyItem(item: object): "reasoning" | "input" | "produced" {
  const type = getItemType(item);
  if (type === "reasoning") return type;
  if (type === "message") return isInputMessage(item) ? "input" : "produced";
  return type.endsWith(OUTPUT) || type === "mcp_approval_response" ? "input" : "produced";
}

/** Whether a message contains a file or an image. */
export function hasAttachment(item: object): boolean {
  if (!isPlainObject(item)) return false;
  const parts = readRecords(item, "content");
  return parts.some(({ type }) => type === "input_file" || type === "input_image");
}

/** Returns which half of a call-and-output pair an item is, or `null` for an unpaired type. */
export function getPairSide(item: object): "call" | "answer" | null {
  return toPairLink(item)?.side ?? null;
}

/** Returns an item's type. An item with a role and no type is a message. */
export function getItemType(item: object): string {
  if (!isPlainObject(item)) return "";
  return (
    readStringOrNull(item, "type") ?? (readStringOrNull(item, "role") === null ? "" : "message")
  );
}

const OUTPUT = "_output";
/** Types of calls that need an output. Other types need none, or are unknown. */
const CALLS_WITH_OUTPUT: ReadonlySet<string> = new Set([
  "function_call",
  "custom_tool_call",
  "shell_call",
  "apply_patch_call",
  "local_shell_call",
  "computer_call",
]);
const INPUT_ROLES: ReadonlySet<unknown> = new Set(["user", "system", "developer"]);
const SENT_WITHOUT_ID: ReadonlySet<string> = new Set([
  "message",
  "reasoning",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
  "mcp_approval_response",
]);

function isSendable(item: object, { stored }: StorageMode): item is WireItem {
  if (!isPlainObject(item)) return false;
  const type = getItemType(item);
  if (stored || (type !== "reasoning" && type !== "item_reference")) return true;
  return type === "reasoning" && Boolean(readStringOrNull(item, "encrypted_content"));
}

function isInputMessage(item: object): boolean {
  return isPlainObject(item) && INPUT_ROLES.has(item["role"]);
}

/** One half of a pair, and the keys that the other half shares. Without keys it cannot be matched. */
interface PairLink {
  readonly side: "call" | "answer";
  readonly keys: readonly string[];
}

function toPairLink(item: object): PairLink | null {
  if (!isPlainObject(item)) return null;
  const type = getItemType(item);
  if (type === "mcp_approval_request") return createPairLink("call", type, [item["id"]]);
  if (type === "mcp_approval_response") {
    return createPairLink("answer", "mcp_approval_request", [item["approval_request_id"]]);
  }
  const call = type.endsWith(OUTPUT) ? type.slice(0, -OUTPUT.length) : type;
  if (!CALLS_WITH_OUTPUT.has(call)) return null;
  const ids = call === "local_shell_call" ? [item["call_id"], item["id"]] : [item["call_id"]];
  return createPairLink(call === type ? "call" : "answer", call, ids);
}

function createPairLink(side: PairLink["side"], call: string, ids: readonly unknown[]): PairLink {
  const keys: string[] = [];
  for (const id of ids) if (typeof id === "string" && id !== "") keys.push(`${call} ${id}`);
  return { side, keys };
}

interface TrackedCall {
  readonly index: number;
  outputIndex: number | null;
}

/** Matches each output with its call as items are added. */
class Pairing {
  #unansweredCount = 0;
  readonly #calls: TrackedCall[] = [];
  /** The latest call of each key. Some servers reuse call ids across responses. */
  readonly #latest = new Map<string, TrackedCall>();

  /** Whether the item has an unpaired type, matches an open call, or is a call whose output may follow. */
  accept(item: object, index: number): boolean {
    const half = toPairLink(item);
    if (half === null) return true;
    return half.side === "call"
      ? this.#openCall(half.keys, index)
      : this.#closeCall(half.keys, index);
  }

  get unansweredCount(): number {
    return this.#unansweredCount;
  }

  listUnanswered(): readonly TrackedCall[] {
    return this.#calls.filter(({ outputIndex }) => outputIndex === null);
  }

  *iterateAnswered(): Generator<{ readonly index: number; readonly outputIndex: number }> {
    for (const { index, outputIndex } of this.#calls) {
      if (outputIndex !== null) yield { index, outputIndex };
    }
  }

  #openCall(keys: readonly string[], index: number): boolean {
    const isOpen = (key: string) => this.#latest.get(key)?.outputIndex === null;
    if (keys.length === 0 || keys.some(isOpen)) return false;
    const call = { index, outputIndex: null };
    this.#calls.push(call);
    for (const key of keys) this.#latest.set(key, call);
    this.#unansweredCount += 1;
    return true;
  }

  #closeCall(keys: readonly string[], index: number): boolean {
    const calls = keys.map((key) => this.#latest.get(key));
    const call = calls.find((candidate) => candidate?.outputIndex === null);
    if (!call) return false;
    call.outputIndex = index;
    this.#unansweredCount -= 1;
    return true;
  }
}
