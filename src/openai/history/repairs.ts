import { maybeTextAt, recordAt } from "../../base/reading.ts";
import { show } from "../../base/show.ts";
import {
  type Complaint,
  isContainerGone,
  lostContainerId,
  mayBeAboutHistory,
  textAfter,
  textBetween,
} from "../errors/complaint.ts";
import type { WireItem } from "../wire.ts";
import { groupsOf, partOf, sideOf, typeOf } from "./well-formed.ts";

/** What to drop from a history so that the provider takes it. */
export interface Repair {
  readonly reason: string;
  names(item: WireItem): boolean;
}

/**
 * The repair that a complaint asks for; `null` where it is not about the history. Where a complaint
 * does not say which container is meant, `except` is the one that is known to live.
 */
export function repairFor(
  complaint: Complaint,
  items: readonly WireItem[],
  except: string | null = null,
): Repair | null {
  if (!mayBeAboutHistory(complaint)) return null;
  for (const rule of RULES) {
    const found = rule(complaint.message, items, except);
    if (!found || found.items.length === 0) continue;
    const named = new Set(found.items);
    return { reason: found.reason, names: (item) => named.has(item) };
  }
  return null;
}

/** The container that a call ran in, if it ran in one. */
export function containerOf(item: WireItem): string | null {
  if (!typeOf(item).endsWith("_call")) return null;
  const environment = recordAt(item, "environment");
  return maybeTextAt(item, "container_id") ?? maybeTextAt(environment, "container_id");
}

type Rule = (
  message: string,
  items: readonly WireItem[],
  except: string | null,
) => { readonly reason: string; readonly items: readonly WireItem[] } | null;

const RULES: readonly Rule[] = [
  unknownItem,
  reasoningAlone,
  reasoningMissing,
  callUnanswered,
  answerUnasked,
  containerUnknown,
  containerGone,
];

function unknownItem(message: string, items: readonly WireItem[]): ReturnType<Rule> {
  const id = textBetween(message, "Item with id '", "' not found");
  if (id === null) return null;
  // What would be refused next goes too: where nothing is kept, other calls of its type, none of
  // which is sealed as reasoning is; and what unknown reasoning led to.
  const isKept = !message.includes("not persisted");
  const found = items.filter((item) => item["id"] === id);
  const types = new Set(found.map(typeOf).filter((type) => !isKept && type.endsWith("_call")));
  const isMeant = (item: WireItem) => item["id"] === id || types.has(typeOf(item));
  const named = items.flatMap((item, place) => {
    if (!isMeant(item)) return [];
    return partOf(item) === "reasoning" ? restOfGroup(items, place) : [item];
  });
  return { reason: `the provider does not have the item ${show(id)}`, items: named };
}

function reasoningAlone(message: string, items: readonly WireItem[]): ReturnType<Rule> {
  if (!message.includes("' was provided without its required following item")) return null;
  const id = textBetween(message, "Item '", "' of type '");
  const named = items.filter((item) => item["id"] === id);
  return { reason: `reasoning ${show(id)} lacks what it led to`, items: named };
}

function reasoningMissing(message: string, items: readonly WireItem[]): ReturnType<Rule> {
  if (!message.includes("' was provided without its required 'reasoning' item")) return null;
  const id = textBetween(message, "Item '", "' of type '");
  const named = items.flatMap((item, place) =>
    item["id"] === id ? restOfGroup(items, place) : [],
  );
  return { reason: `item ${show(id)} lacks the reasoning that led to it`, items: named };
}

function callUnanswered(message: string, items: readonly WireItem[]): ReturnType<Rule> {
  const kind = textAfter(message, "No tool output found for ");
  const said = kind && textAfter(kind, "call ");
  if (!said) return null;
  const named = items.filter((item) => sideOf(item) === "call" && isNamed(item, said));
  return { reason: `call ${show(named[0]?.["call_id"])} has no output`, items: named };
}

function answerUnasked(message: string, items: readonly WireItem[]): ReturnType<Rule> {
  const kind = textAfter(message, "No tool call found for ");
  const said = kind && textAfter(kind, "with call_id ");
  if (!said) return null;
  const named = items.filter((item) => sideOf(item) === "answer" && isNamed(item, said));
  return { reason: `the output of ${show(named[0]?.["call_id"])} has no call`, items: named };
}

function containerUnknown(message: string, items: readonly WireItem[]): ReturnType<Rule> {
  const id = lostContainerId(message);
  if (id === null) return null;
  const named = items.filter((item) => containerOf(item) === id);
  return { reason: `the container ${show(id)} is gone`, items: named };
}

function containerGone(
  message: string,
  items: readonly WireItem[],
  except: string | null,
): ReturnType<Rule> {
  if (!isContainerGone(message)) return null;
  const named = items.filter((item) => {
    const container = containerOf(item);
    return container !== null && container !== except;
  });
  return { reason: "a container that calls ran in is gone", items: named };
}

/** The item at `place` and what comes after it in its group. */
function restOfGroup(items: readonly WireItem[], place: number): readonly WireItem[] {
  const group = [...groupsOf(items)].find(({ start, end }) => start <= place && place < end);
  return items.slice(place, group?.end ?? place + 1);
}

/** Whether `said` begins with the call's id and then ends, or ends its sentence. */
function isNamed(item: WireItem, said: string): boolean {
  const id = maybeTextAt(item, "call_id");
  if (!id || !said.startsWith(id)) return false;
  return /^\.?(\s|$)/.test(said.slice(id.length));
}
