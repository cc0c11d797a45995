import { isPlainObject } from "../../base/freeze.ts";
import { maybeTextAt } from "../../base/reading.ts";
import type { WireItem } from "../wire.ts";

/** Whether the provider keeps what it answers; if not, no item may be named by its id. */
export interface Keeping {
  readonly stored: boolean;
}

/**
 * The conversation within `items` that the provider accepts, in their order: calls with their
 * outputs, and reasoning with what it led to. Nothing goes that could stay with the rest.
 */
export function wellFormed(
  items: readonly object[],
  keeping: Keeping,
): { readonly items: readonly WireItem[]; readonly dropped: readonly WireItem[] } {
  const stays = fitting(items, keeping);
  return {
    items: items.filter((_item, place): _item is WireItem => stays[place] === true),
    dropped: items.filter((_item, place): _item is WireItem => stays[place] === false),
  };
}

/** Says of each item whether it is among the well formed ones. */
export function fitting(items: readonly object[], keeping: Keeping): boolean[] {
  const pairing = new Pairing();
  const stays = items.map((item, place) => isFit(item, keeping) && pairing.takes(item, place));
  for (const { place } of pairing.unanswered) stays[place] = false;
  // Last of all: dropping a call takes away what its reasoning led to, and tears nothing else.
  items.reduceRight((followed, item, place) => {
    if (!stays[place]) return followed;
    const part = partOf(item);
    if (part === "reasoning") stays[place] = followed;
    return part === "reasoning" ? followed : part === "produced";
  }, false);
  return stays;
}

/**
 * Says of each item whether it stays when those that `names` picks go: with a call goes its output,
 * with an output its call, and with all that reasoning led to the reasoning.
 */
export function without(
  items: readonly WireItem[],
  names: (item: WireItem) => boolean,
): readonly boolean[] {
  const pairing = new Pairing();
  for (const [place, item] of items.entries()) pairing.takes(item, place);
  const stays = items.map((item) => !isPlainObject(item) || !names(item));
  for (const { place, answer } of pairing.answered()) {
    if (stays[place] && stays[answer]) continue;
    stays[place] = false;
    stays[answer] = false;
  }
  for (const { start, led, end } of groupsOf(items)) {
    const leadsNowhere = led < end && !stays.slice(led, end).includes(true);
    if (leadsNowhere) stays.fill(false, start, led);
  }
  return stays;
}

/** Reasoning, from `start` to before `led`, and what it led to, from `led` to before `end`. */
export interface Group {
  readonly start: number;
  readonly led: number;
  readonly end: number;
}

/** The items that the model produced, group by group; either part of a group may be empty. */
export function* groupsOf(items: readonly object[]): Generator<Group> {
  let start = 0;
  let led = 0;
  for (const [place, item] of items.entries()) {
    const part = partOf(item);
    if (part === "produced") continue;
    if (part === "input" || led < place) {
      yield { start, led, end: place };
      start = part === "input" ? place + 1 : place;
    }
    led = place + 1;
  }
  yield { start, led, end: items.length };
}

/** Watches a list as it grows, so that nobody has to go through it to know that it is whole. */
export class Watch {
  readonly #keeping: Keeping;
  readonly #pairing = new Pairing();
  #seen = 0;
  #torn = false;
  #reasoning = false;

  constructor(keeping: Keeping) {
    this.#keeping = keeping;
  }

  /** Whether all that was seen is well formed. */
  get whole(): boolean {
    return !this.#torn && !this.#reasoning && this.#pairing.unanswered.size === 0;
  }

  see(item: WireItem): void {
    const fits = isFit(item, this.#keeping) && this.#pairing.takes(item, this.#seen);
    const part = partOf(item);
    if (!fits || (this.#reasoning && part === "input")) this.#torn = true;
    this.#reasoning = part === "reasoning";
    this.#seen += 1;
  }
}

/**
 * The item as it is sent: where nothing is stored, ids go from the items that the provider is known
 * to take without; all else is sent as it came.
 */
export function lowered(item: WireItem, { stored }: Keeping): WireItem {
  if (stored || !SENT_WITHOUT_ID.has(typeOf(item)) || !Object.hasOwn(item, "id")) return item;
  const { id: _id, ...rest } = item;
  return rest;
}

/** What an item is to the reasoning before it. */
export function partOf(item: object): "reasoning" | "input" | "produced" {
  const type = typeOf(item);
  if (type === "reasoning") return type;
  if (type === "message") return isInputMessage(item) ? "input" : "produced";
  return type.endsWith(OUTPUT) || type === "mcp_approval_response" ? "input" : "produced";
}

/** Which half of a pair an item is, of a call and its output; `null` if it stands alone. */
export function sideOf(item: object): "call" | "answer" | null {
  return linkOf(item)?.side ?? null;
}

/** An item's type; one with a role and no type is a message. */
export function typeOf(item: object): string {
  if (!isPlainObject(item)) return "";
  return maybeTextAt(item, "type") ?? (maybeTextAt(item, "role") === null ? "" : "message");
}

const OUTPUT = "_output";
/** Calls that need an output; those of other types stand alone, or are unknown here. */
const ANSWERED_CALLS: ReadonlySet<string> = new Set([
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

function isFit(item: object, { stored }: Keeping): item is WireItem {
  if (!isPlainObject(item)) return false;
  const type = typeOf(item);
  if (stored || (type !== "reasoning" && type !== "item_reference")) return true;
  return type === "reasoning" && Boolean(maybeTextAt(item, "encrypted_content"));
}

function isInputMessage(item: object): boolean {
  return isPlainObject(item) && INPUT_ROLES.has(item["role"]);
}

/** Half of a pair, and what the other half knows it by: nothing, if it is torn. */
interface Link {
  readonly side: "call" | "answer";
  readonly names: readonly string[];
}

function linkOf(item: object): Link | null {
  if (!isPlainObject(item)) return null;
  const type = typeOf(item);
  if (type === "mcp_approval_request") return link("call", type, [item["id"]]);
  if (type === "mcp_approval_response") {
    return link("answer", "mcp_approval_request", [item["approval_request_id"]]);
  }
  const call = type.endsWith(OUTPUT) ? type.slice(0, -OUTPUT.length) : type;
  if (!ANSWERED_CALLS.has(call)) return null;
  const ids = call === "local_shell_call" ? [item["call_id"], item["id"]] : [item["call_id"]];
  return link(call === type ? "call" : "answer", call, ids);
}

function link(side: Link["side"], call: string, ids: readonly unknown[]): Link {
  const texts = ids.filter((id) => typeof id === "string" && id !== "");
  return { side, names: texts.map((id) => `${call} ${id}`) };
}

interface Call {
  readonly place: number;
  answer: number | null;
}

/** Finds each output its call, as the items come. */
class Pairing {
  readonly unanswered = new Set<Call>();
  readonly #calls: Call[] = [];
  /** The latest call of each name: some servers count anew in each response. */
  readonly #latest = new Map<string, Call>();

  /** Whether the item stands alone, has found its call, or may yet find its output. */
  takes(item: object, place: number): boolean {
    const half = linkOf(item);
    if (half === null) return true;
    return half.side === "call" ? this.#open(half.names, place) : this.#close(half.names, place);
  }

  *answered(): Generator<{ readonly place: number; readonly answer: number }> {
    for (const { place, answer } of this.#calls) {
      if (answer !== null) yield { place, answer };
    }
  }

  #open(names: readonly string[], place: number): boolean {
    const isOpen = (name: string) => this.#latest.get(name)?.answer === null;
    if (names.length === 0 || names.some(isOpen)) return false;
    const call = { place, answer: null };
    this.#calls.push(call);
    for (const name of names) this.#latest.set(name, call);
    this.unanswered.add(call);
    return true;
  }

  #close(names: readonly string[], place: number): boolean {
    const calls = names.map((name) => this.#latest.get(name));
    const call = calls.find((one) => one?.answer === null);
    if (!call) return false;
    call.answer = place;
    this.unanswered.delete(call);
    return true;
  }
}
