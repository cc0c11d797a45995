import { readString, readStringOrNull } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ToolCatalog } from "../tools/tool-catalog.ts";

/** A problem for which OpenAI would reject a conversation. */
export interface Fault {
  readonly message: string;
  /** Whether it is an output without its call. The call may be behind an item reference. */
  readonly isOrphan: boolean;
}

/** The state of a conversation after some items, so that later items can be checked without reading those again. */
export interface HistoryPoint {
  wasCalled(call: string): boolean;
  /** Calls without an output yet, with the name that an error uses for each. */
  readonly open: ReadonlyMap<string, string>;
  /** The first fault of each kind, in order. */
  readonly faults: readonly Fault[];
  /** The last item, if it is reasoning. */
  readonly reasoning: WireItem | null;
}

/** Tracks calls, their outputs and reasoning. Each item is added once, in order. */
export class History {
  readonly #catalog: ToolCatalog;
  readonly #before: HistoryPoint;
  /** Calls, each with the number of items before its first occurrence. */
  readonly #calls = new Map<string, number>();
  readonly #open: Map<string, string>;
  #faults: readonly Fault[];
  #reasoning: WireItem | null;
  #length = 0;

  constructor(catalog: ToolCatalog, before: HistoryPoint = START) {
    this.#catalog = catalog;
    this.#before = before;
    this.#open = new Map(before.open);
    this.#faults = before.faults;
    this.#reasoning = before.reasoning;
  }

  /** A snapshot of the current state. Items added later do not change it. */
  get point(): HistoryPoint {
    const [before, calls, length] = [this.#before, this.#calls, this.#length];
    return {
      wasCalled: (call) =>
        (calls.get(call) ?? Number.POSITIVE_INFINITY) < length || before.wasCalled(call),
      open: this.#open.size === 0 ? NO_CALLS : new Map(this.#open),
      faults: this.#faults,
      reasoning: this.#reasoning,
    };
  }

  /** Adds the next item and returns its faults. */
  add(item: WireItem): readonly Fault[] {
    const faults: Fault[] = [];
    if (this.#reasoning && !isByModel(item)) faults.push(createReasoningFault(this.#reasoning));
    const [type, callId] = [readItemType(item), readString(item, "call_id")];
    this.#reasoning = type === "reasoning" ? item : null;
    if (this.#catalog.mayNeedAnswer(type)) {
      const callKey = `${type} ${callId}`;
      if (!this.#calls.has(callKey)) this.#calls.set(callKey, this.#length);
      if (this.#catalog.needsAnswer(item)) this.#open.set(callKey, `${toWords(type)} ${callId}`);
    }
    const call = this.#catalog.calls.get(type);
    if (call !== undefined && !this.#markAnswered(`${call} ${callId}`)) {
      const message = `No tool call found for ${toWords(type)} with call_id ${callId}.`;
      faults.push({ message, isOrphan: true });
    }
    this.#length += 1;
    for (const fault of faults) this.#recordFault(fault);
    return faults;
  }

  /** Returns the faults that apply if the conversation ends here. */
  end(): readonly Fault[] {
    const [unanswered] = this.#open.values();
    return [
      ...(this.#reasoning ? [createReasoningFault(this.#reasoning)] : []),
      ...(unanswered === undefined
        ? []
        : [{ message: `No tool output found for ${unanswered}.`, isOrphan: false }]),
    ];
  }

  /** Marks a call as answered. Returns whether the call exists. */
  #markAnswered(call: string): boolean {
    this.#open.delete(call);
    return this.#calls.has(call) || this.#before.wasCalled(call);
  }

  #recordFault(fault: Fault): void {
    const isKnown = this.#faults.some(({ isOrphan }) => isOrphan === fault.isOrphan);
    if (!isKnown) this.#faults = [...this.#faults, fault];
  }
}

/** Returns an item's type. A reference may consist of an id only. */
export function readItemType(item: WireItem): string {
  const isBare = !("role" in item) && typeof item["id"] === "string";
  return readStringOrNull(item, "type") ?? (isBare ? "item_reference" : "");
}

const NO_CALLS: ReadonlyMap<string, string> = new Map();

const START: HistoryPoint = {
  wasCalled: () => false,
  open: NO_CALLS,
  faults: [],
  reasoning: null,
};

function isByModel(item: WireItem): boolean {
  const type = readItemType(item);
  if (type === "message" || type === "") return item["role"] === "assistant";
  if (type === "additional_tools" || type === "compaction_trigger") return false;
  return !/_(output|response)$/.test(type);
}

function createReasoningFault(reasoning: WireItem): Fault {
  const id = readString(reasoning, "id");
  const message = `Item '${id}' of type 'reasoning' was provided without its required following item.`;
  return { message, isOrphan: false };
}

/** Converts `function_call_output` to OpenAI's wording, `function call output`. */
function toWords(type: string): string {
  return type.replaceAll("_", " ");
}
