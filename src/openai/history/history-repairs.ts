import { readRecord, readStringOrNull } from "../../base/json.ts";
import { quoteValue } from "../../base/quote-value.ts";
import {
  canConcernHistory,
  findLostContainerId,
  findTextAfter,
  findTextBetween,
  mentionsExpiredContainer,
  type Rejection,
} from "../errors/rejection.ts";
import type { WireItem } from "../wire.ts";
import { classifyItem, getItemType, getPairSide, iterateReasoningGroups } from "./history-pairs.ts";

/** The items to drop so that the provider accepts the history. */
export interface HistoryRepair {
  readonly reason: string;
  matches(item: WireItem): boolean;
}

/**
 * Finds the repair for an error of the provider, or `null` if the error is not about the history.
 * If the error names no container, `except` is the container that is known to be alive.
 */
export function findRepair(
  complaint: Rejection,
  items: readonly WireItem[],
  except: string | null = null,
): HistoryRepair | null {
  if (!canConcernHistory(complaint)) return null;
  for (const rule of RULES) {
    const found = rule(complaint.message, items, except);
    if (!found || found.items.length === 0) continue;
    const named = new Set(found.items);
    return { reason: found.reason, matches: (item) => named.has(item) };
  }
  return null;
}

/** Returns the id of the container that a call ran in, or `null`. */
export function getContainerId(item: WireItem): string | null {
  if (!getItemType(item).endsWith("_call")) return null;
  const environment = readRecord(item, "environment");
  return readStringOrNull(item, "container_id") ?? readStringOrNull(environment, "container_id");
}

type Rule = (
  message: string,
  items: readonly WireItem[],
  except: string | null,
) => { readonly reason: string; readonly items: readonly WireItem[] } | null;

const RULES: readonly Rule[] = [
  findUnknownItem,
  findLoneReasoning,
  findItemWithoutReasoning,
  findUnansweredCall,
  findOutputWithoutCall,
  findUnknownContainerCalls,
  findLostContainerCalls,
];

function findUnknownItem(message: string, items: readonly WireItem[]): ReturnType<Rule> {
  const id = findTextBetween(message, "Item with id '", "' not found");
  if (id === null) return null;
  // Drops the items that the provider would reject next: if it stores nothing, other calls of the
  // same type, because unlike reasoning they have no encrypted content; and all output of unknown
  // reasoning.
  const isStored = !message.includes("not persisted");
  const found = items.filter((item) => item["id"] === id);
  const types = new Set(
    found.map(getItemType).filter((type) => !isStored && type.endsWith("_call")),
  );
  const isMatch = (item: WireItem) => item["id"] === id || types.has(getItemType(item));
  const named = items.flatMap((item, index) => {
    if (!isMatch(item)) return [];
    return classifyItem(item) === "reasoning" ? sliceRestOfGroup(items, index) : [item];
  });
  return { reason: `the provider has no item ${quoteValue(id)}`, items: named };
}

function findLoneReasoning(message: string, items: readonly WireItem[]): ReturnType<Rule> {
  if (!message.includes("' was provided without its required following item")) return null;
  const id = findTextBetween(message, "Item '", "' of type '");
  const named = items.filter((item) => item["id"] === id);
  return { reason: `reasoning ${quoteValue(id)} is not followed by its output`, items: named };
}

function findItemWithoutReasoning(message: string, items: readonly WireItem[]): ReturnType<Rule> {
  if (!message.includes("' was provided without its required 'reasoning' item")) return null;
  const id = findTextBetween(message, "Item '", "' of type '");
  const named = items.flatMap((item, index) =>
    item["id"] === id ? sliceRestOfGroup(items, index) : [],
  );
  return { reason: `item ${quoteValue(id)} lacks the reasoning before it`, items: named };
}

function findUnansweredCall(message: string, items: readonly WireItem[]): ReturnType<Rule> {
  const kind = findTextAfter(message, "No tool output found for ");
  const mention = kind && findTextAfter(kind, "call ");
  if (!mention) return null;
  const named = items.filter(
    (item) => getPairSide(item) === "call" && startsWithCallId(item, mention),
  );
  return { reason: `call ${quoteValue(named[0]?.["call_id"])} has no output`, items: named };
}

function findOutputWithoutCall(message: string, items: readonly WireItem[]): ReturnType<Rule> {
  const kind = findTextAfter(message, "No tool call found for ");
  const mention = kind && findTextAfter(kind, "with call_id ");
  if (!mention) return null;
  const named = items.filter(
    (item) => getPairSide(item) === "answer" && startsWithCallId(item, mention),
  );
  return { reason: `the output of ${quoteValue(named[0]?.["call_id"])} has no call`, items: named };
}

function findUnknownContainerCalls(message: string, items: readonly WireItem[]): ReturnType<Rule> {
  const id = findLostContainerId(message);
  if (id === null) return null;
  const named = items.filter((item) => getContainerId(item) === id);
  return { reason: `container ${quoteValue(id)} no longer exists`, items: named };
}

function findLostContainerCalls(
  message: string,
  items: readonly WireItem[],
  except: string | null,
): ReturnType<Rule> {
  if (!mentionsExpiredContainer(message)) return null;
  const named = items.filter((item) => {
    const container = getContainerId(item);
    return container !== null && container !== except;
  });
  return { reason: "a container that calls ran in no longer exists", items: named };
}

/** Returns the item at `index` and the items after it in its group. */
function sliceRestOfGroup(items: readonly WireItem[], index: number): readonly WireItem[] {
  const group = [...iterateReasoningGroups(items)].find(
    ({ start, end }) => start <= index && index < end,
  );
  return items.slice(index, group?.end ?? index + 1);
}

/** Whether `mention` starts with the item's call id, followed by the end of the text or sentence. */
function startsWithCallId(item: WireItem, mention: string): boolean {
  const id = readStringOrNull(item, "call_id");
  if (!id || !mention.startsWith(id)) return false;
  return /^\.?(\s|$)/.test(mention.slice(id.length));
}
