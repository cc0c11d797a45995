import { maybeTextAt, textAt } from "../../base/reading.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ToolCatalog } from "../tools/tool-catalog.ts";

/** Something for which OpenAI would refuse a conversation. */
export interface Fault {
  readonly message: string;
  /** It is an output without its call, which may be behind a reference. */
  readonly isOrphan: boolean;
}

/** The state of a conversation after some items, so that the next ones are checked without reading those again. */
export interface HistoryPoint {
  wasCalled(call: string): boolean;
  /** Calls without an output yet, with how an error names each. */
  readonly open: ReadonlyMap<string, string>;
  /** The first of each kind, in their order. */
  readonly faults: readonly Fault[];
  /** The last item, if it is reasoning. */
  readonly thought: WireItem | null;
}

/** Tracks calls, answers and reasoning. Items are added one after the other, each once. */
export class History {
  readonly #catalog: ToolCatalog;
  readonly #before: HistoryPoint;
  /** By the number of items before the first one that makes the call. */
  readonly #calls = new Map<string, number>();
  readonly #open: Map<string, string>;
  #faults: readonly Fault[];
  #thought: WireItem | null;
  #length = 0;

  constructor(catalog: ToolCatalog, before: HistoryPoint = beginning) {
    this.#catalog = catalog;
    this.#before = before;
    this.#open = new Map(before.open);
    this.#faults = before.faults;
    this.#thought = before.thought;
  }

  /** As it now is: what is added later changes nothing of it. */
  get point(): HistoryPoint {
    const [before, calls, length] = [this.#before, this.#calls, this.#length];
    return {
      wasCalled: (call) =>
        (calls.get(call) ?? Number.POSITIVE_INFINITY) < length || before.wasCalled(call),
      open: this.#open.size === 0 ? nothing : new Map(this.#open),
      faults: this.#faults,
      thought: this.#thought,
    };
  }

  /** Takes the next item in; gives what is to be said against it here. */
  add(item: WireItem): readonly Fault[] {
    const faults: Fault[] = [];
    if (this.#thought && !isByModel(item)) faults.push(withoutFollower(this.#thought));
    const [type, callId] = [typeOf(item), textAt(item, "call_id")];
    this.#thought = type === "reasoning" ? item : null;
    if (this.#catalog.isAnswered(type)) {
      const made = `${type} ${callId}`;
      if (!this.#calls.has(made)) this.#calls.set(made, this.#length);
      if (this.#catalog.needsAnswer(item)) this.#open.set(made, `${spoken(type)} ${callId}`);
    }
    const call = this.#catalog.calls.get(type);
    if (call !== undefined && !this.#answer(`${call} ${callId}`)) {
      const message = `No tool call found for ${spoken(type)} with call_id ${callId}.`;
      faults.push({ message, isOrphan: true });
    }
    this.#length += 1;
    for (const fault of faults) this.#remember(fault);
    return faults;
  }

  /** What is to be said if nothing comes after. */
  end(): readonly Fault[] {
    const [unanswered] = this.#open.values();
    return [
      ...(this.#thought ? [withoutFollower(this.#thought)] : []),
      ...(unanswered === undefined
        ? []
        : [{ message: `No tool output found for ${unanswered}.`, isOrphan: false }]),
    ];
  }

  /** Whether there is such a call. */
  #answer(call: string): boolean {
    this.#open.delete(call);
    return this.#calls.has(call) || this.#before.wasCalled(call);
  }

  #remember(fault: Fault): void {
    const isKnown = this.#faults.some(({ isOrphan }) => isOrphan === fault.isOrphan);
    if (!isKnown) this.#faults = [...this.#faults, fault];
  }
}

/** An item's type; a reference may come as its bare id. */
export function typeOf(item: WireItem): string {
  const isBare = !("role" in item) && typeof item["id"] === "string";
  return maybeTextAt(item, "type") ?? (isBare ? "item_reference" : "");
}

const nothing: ReadonlyMap<string, string> = new Map();

const beginning: HistoryPoint = {
  wasCalled: () => false,
  open: nothing,
  faults: [],
  thought: null,
};

function isByModel(item: WireItem): boolean {
  const type = typeOf(item);
  if (type === "message" || type === "") return item["role"] === "assistant";
  if (type === "additional_tools" || type === "compaction_trigger") return false;
  return !/_(output|response)$/.test(type);
}

function withoutFollower(thought: WireItem): Fault {
  const id = textAt(thought, "id");
  const message = `Item '${id}' of type 'reasoning' was provided without its required following item.`;
  return { message, isOrphan: false };
}

/** `function_call_output` as OpenAI says it: `function call output`. */
function spoken(type: string): string {
  return type.replaceAll("_", " ");
}
