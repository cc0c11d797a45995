import fc from "fast-check";
import { expect, test } from "vitest";
import type { TurnCompleted } from "../../adapter/events.ts";
import type { HistoryStep } from "../../adapter/model-client.ts";
import { noUsage } from "../../base/usage.ts";
import type { WireItem } from "../wire.ts";
import { History, type HistoryMark } from "./history.ts";
import { keepValidHistory } from "./history-pairs.ts";
import { historySlice } from "./history-slice.ts";

const callTypes = ["function_call", "custom_tool_call", "shell_call", "apply_patch_call"];
const ids = fc.constantFrom("a", "b", "c", "call_(.*)", 'd"\u2028');

const call = fc.record(
  { type: fc.constantFrom(...callTypes), call_id: ids, id: fc.string(), arguments: fc.string() },
  { requiredKeys: ["type", "arguments"] },
);
const reasoning = fc.record(
  { type: fc.constant("reasoning"), id: ids, encrypted_content: fc.constantFrom("gAAA", "", null) },
  { requiredKeys: ["type"] },
);
const hosted = fc.record({
  type: fc.constantFrom("web_search_call", "code_interpreter_call", "mcp_call", "telepathy"),
  id: ids,
  container_id: fc.constantFrom("cntr_1", "cntr_2"),
});
const message = fc.record({
  type: fc.constant("message"),
  role: fc.constantFrom("assistant", "user", "developer"),
  id: fc.string(),
  content: fc.string({ unit: "binary" }), // includes lone surrogates
});
const rare = fc.oneof(
  fc.record({ type: fc.constant("mcp_approval_request"), id: ids }),
  fc.record({ type: fc.constant("item_reference"), id: ids }),
  fc.dictionary(fc.oneof(fc.string(), fc.constant("__proto__")), fc.jsonValue()),
);
const part: fc.Arbitrary<WireItem> = fc.oneof(
  { weight: 4, arbitrary: reasoning },
  { weight: 4, arbitrary: call },
  { weight: 2, arbitrary: hosted },
  { weight: 2, arbitrary: message },
  { weight: 1, arbitrary: rare },
);

type Step =
  | {
      readonly do: "turn";
      readonly parts: readonly WireItem[];
      readonly answers: readonly number[];
      /** Whether the parts come from the provider, so that they are serialized later. */
      readonly areParsed: boolean;
    }
  | { readonly do: "prompt"; readonly text: string | null; readonly role: "system" | "user" }
  | { readonly do: "open" }
  | { readonly do: "answered" }
  | { readonly do: "compact" }
  | { readonly do: "request" }
  | { readonly do: "mark" }
  | { readonly do: "step" }
  | { readonly do: "drop"; readonly which: number }
  | { readonly do: "restore"; readonly which: number }
  | { readonly do: "reload"; readonly which: number };

const turn: fc.Arbitrary<Step> = fc.record({
  do: fc.constant("turn" as const),
  parts: fc.array(part, { maxLength: 6 }),
  answers: fc.array(fc.constantFrom(1, 1, 1, 0, 2), { minLength: 1 }),
  areParsed: fc.boolean(),
});
const bare: fc.Arbitrary<Step> = fc
  .constantFrom(
    ...(["request", "mark", "step", "request", "mark", "step"] as const),
    ...(["open", "answered", "compact"] as const),
  )
  .map((what) => ({ do: what }));
const promptStep: fc.Arbitrary<Step> = fc
  .tuple(
    fc.constantFrom("x", "y", "żółw", null),
    fc.constantFrom("system" as const, "user" as const),
  )
  .map(([text, role]) => ({ do: "prompt", text, role }));
const chosen: fc.Arbitrary<Step> = fc
  .tuple(fc.constantFrom("drop" as const, "restore" as const, "reload" as const), fc.nat())
  .map(([what, which]) => ({ do: what, which }));

const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: turn },
    { weight: 5, arbitrary: bare },
    { weight: 2, arbitrary: promptStep },
    { weight: 3, arbitrary: chosen },
  ),
  { maxLength: 25 },
);

test("every sequence of steps leaves a valid request and a matching session", () => {
  fc.assert(
    fc.property(steps, fc.boolean(), (all, stored) => {
      const model = new HistoryModel(stored);
      for (const next of all) {
        model.take(next);
        if (next.do !== "turn" || !next.areParsed) model.checkBytes();
      }
      model.checkBytes();
      model.take({ do: "request" });
      model.take({ do: "step" });
    }),
    { numRuns: 400 },
  );
});

/** A history with the session's copy and the marks to restore. */
class HistoryModel {
  #history: History;
  #session: unknown = historySlice.first;
  readonly #stored: boolean;
  #marks: { mark: HistoryMark; items: readonly WireItem[]; bytes: string }[] = [];

  constructor(stored: boolean) {
    this.#stored = stored;
    this.#history = new History({ stored });
  }

  take(step: Step): void {
    const history = this.#history;
    if (step.do === "turn") this.#turn(step);
    else if (step.do === "request") this.#request();
    else if (step.do === "prompt") this.#setPrompt(step.text, step.role);
    else if (step.do === "open") history.startOpening();
    else if (step.do === "answered") history.endOpening();
    else if (step.do === "compact") this.#compact();
    else if (step.do === "drop") this.#drop(step.which);
    else if (step.do === "step") this.#recordStep();
    else if (step.do === "mark") {
      this.#marks.push({
        mark: history.mark(),
        items: [...history.items],
        bytes: this.#readRequest(),
      });
    } else if (step.do === "restore") this.#restore(step.which);
    else this.#reload(step.which);
  }

  checkBytes(): void {
    const { items } = this.#history;
    const written = items.map((item) => JSON.stringify(this.#stored ? item : removeId(item)));
    expect(this.#readRequest()).toBe(`{"input":[${written.join(",")}],"model":"m"}`);
    const value = JSON.stringify(this.#history.toRequestValue({ model: "m" }));
    expect(this.#readRequest()).toBe(value);
  }

  #setPrompt(text: string | null, role: "system" | "user"): void {
    const history = this.#history;
    history.setPrompt(text, role);
    const items = [...history.items];
    history.setPrompt(text, role); // the same text changes nothing
    expect(history.items).toEqual(items);
    const isSent = items.some((item) => item["role"] === role && item["content"] === text);
    if (text !== null && role === "system") expect(isSent).toBe(true);
  }

  #compact(): void {
    const history = this.#history;
    const { length } = history;
    const compacted = history.window.length;
    history.replaceWithWindow([{ type: "compaction", id: "cmp_1" }]);
    expect(history.length).toBe(length - compacted + 1);
    expect(history.window.at(-1)).toEqual({ type: "compaction", id: "cmp_1" });
  }

  #turn({ parts, answers, areParsed }: Step & { readonly do: "turn" }): void {
    if (areParsed) this.#history.addParsed(parts);
    else this.#history.add(parts);
    const calls = parts.filter(({ type }) => callTypes.includes(String(type)));
    for (const [place, { type, call_id }] of calls.entries()) {
      const output = { type: `${String(type)}_output`, call_id, id: `out_${place}`, output: "ok" };
      const times = answers[place % answers.length] ?? 1;
      this.#history.add(Array.from({ length: times }, () => ({ ...output })));
    }
  }

  #request(): void {
    const before = [...this.#history.items];
    const dropped = this.#history.dropInvalid();
    expect(findProblems(this.#readInput(), this.#stored)).toEqual([]);
    expectSplit(before, this.#history.items, dropped);
    expect(this.#history.dropInvalid()).toEqual([]);
  }

  #drop(which: number): void {
    this.#request();
    const before = [...this.#history.items];
    const chosen = before[which % Math.max(1, before.length)];
    const container = which % 2 === 0 ? "cntr_1" : "none";
    const matches = (item: WireItem) => item === chosen || item["container_id"] === container;
    const dropped = this.#history.drop(matches);
    expect(this.#history.items.some(matches)).toBe(false);
    expectSplit(before, this.#history.items, dropped);
    expect(findProblems(this.#readInput(), this.#stored)).toEqual([]);
  }

  #restore(which: number): void {
    const chosen = this.#marks[which % Math.max(1, this.#marks.length)];
    if (!chosen) return;
    this.#history.restore(chosen.mark);
    expect(this.#history.items).toEqual(chosen.items);
    expect(this.#readRequest()).toBe(chosen.bytes);
  }

  #recordStep(): void {
    const step = this.#history.takeStep();
    const recorded = historySlice.read(this.#session);
    const { items } = this.#history;
    expect(step.kept).toBeLessThanOrEqual(recorded.length);
    this.#session = historySlice.reduce(this.#session, createTurn(step));
    expect(historySlice.read(this.#session)).toEqual(items);
    // The step is minimal: the first added item differs from the stored one.
    const next = step.added[0];
    if (next && step.kept < recorded.length) expect(recorded[step.kept]).not.toBe(next);
  }

  /** Continues from a prefix of the stored history, as after a crash. */
  #reload(which: number): void {
    const recorded = historySlice.read(this.#session);
    const stored = JSON.parse(JSON.stringify(recorded.slice(0, which % (recorded.length + 1))));
    const loaded = historySlice.load(stored);
    if (typeof loaded === "string") throw new Error(loaded);
    this.#session = loaded.kept;
    this.#marks = [];
    const items = historySlice.read(this.#session);
    this.#history = new History({ stored: this.#stored, items });
    expectSplit(items, this.#history.items, this.#history.dropped);
    expect(findProblems(this.#readInput(), this.#stored)).toEqual([]);
    if (this.#history.dropped.length > 0) return;
    expect(this.#history.takeStep()).toEqual({ kept: items.length, added: [] });
  }

  #readRequest(): string {
    return new TextDecoder().decode(this.#history.toRequestBody('{"model":"m"}'));
  }

  #readInput(): readonly WireItem[] {
    return JSON.parse(this.#readRequest()).input;
  }
}

/** Expects each item of `all` in either `kept` or `dropped`, in order. */
function expectSplit(
  all: readonly object[],
  kept: readonly object[],
  dropped: readonly object[],
): void {
  const rest = [[...kept], [...dropped]];
  for (const item of all) expect(rest.some((list) => list[0] === item && list.shift())).toBe(true);
  expect(rest).toEqual([[], []]);
}

function createTurn(history: HistoryStep): TurnCompleted {
  return Object.freeze({
    type: "TurnCompleted",
    sessionId: "s",
    promptName: "p",
    adapter: "openai",
    createdAt: "2030-01-01T12:00:00.000Z",
    turn: 1,
    text: "",
    toolCalls: [],
    hostedCalls: [],
    usage: noUsage,
    durationMs: 0,
    requestId: null,
    history,
  });
}

/** Each item occurs once, so that the best selection is unique. */
const once: readonly WireItem[] = [
  { type: "function_call", call_id: "a" },
  { type: "function_call_output", call_id: "a" },
  { type: "shell_call", call_id: "a" },
  { type: "shell_call_output", call_id: "a" },
  { type: "mcp_approval_request", id: "mcpr_1" },
  { type: "mcp_approval_response", approval_request_id: "mcpr_1" },
  { type: "reasoning", encrypted_content: "gAAA" },
  { type: "reasoning", encrypted_content: null },
  { type: "message", role: "assistant" },
  { type: "message", role: "user" },
  { type: "web_search_call" },
  { type: "item_reference" },
];

test("keepValidItems() drops as few items as possible", () => {
  const lists = fc.shuffledSubarray([...once], { maxLength: 8 });
  fc.assert(
    fc.property(lists, fc.boolean(), (items, stored) => {
      const best = keepValidHistory(items, { stored }).items;
      expect(findProblems(best, stored)).toEqual([]);
      for (let chosen = 0; chosen < 2 ** items.length; chosen++) {
        const more = items.filter((item, place) => chosen & (1 << place) || best.includes(item));
        if (more.length > best.length) expect(findProblems(more, stored)).not.toEqual([]);
      }
    }),
    { numRuns: 60 },
  );
});

/** Returns the provider's objections to an input. A slow reference that shares no code with the source. */
function findProblems(input: readonly WireItem[], stored: boolean): readonly string[] {
  return input.flatMap((item, place) => {
    const [before, rest] = [input.slice(0, place), input.slice(place + 1)];
    const type = String(item["type"]);
    if (type === "reasoning") {
      const next = rest.find((other) => other["type"] !== "reasoning");
      const loose = !next || isModelInput(next) ? ["reasoning that leads to nothing"] : [];
      return stored || item["encrypted_content"] ? loose : ["reasoning that is only an id"];
    }
    if (!stored && type === "item_reference") return ["an id of what is not stored"];
    if (!stored && removeId(item) !== item) return [`an id on a ${type}`];
    // Among the items with the same call id, an output must follow every call, and every output must
    // follow a call.
    const [call, answer] = getPairTypes(type);
    if (call === null) return [];
    const isHalf = (other: WireItem) =>
      [call, answer].includes(String(other["type"])) && getPairKey(other) === getPairKey(item);
    const next = rest.find(isHalf);
    const last = before.findLast(isHalf);
    const isPaired = type === call ? next?.["type"] === answer : last?.["type"] === call;
    return isPaired && typeof getPairKey(item) === "string"
      ? []
      : [`a ${type} without its other half`];
  });
}

function getPairTypes(type: string): readonly [call: string | null, answer: string | null] {
  if (type.startsWith("mcp_approval")) return ["mcp_approval_request", "mcp_approval_response"];
  const call = type.replace(/_output$/, "");
  return callTypes.includes(call) ? [call, `${call}_output`] : [null, null];
}

function getPairKey(item: WireItem): unknown {
  if (item["type"] === "mcp_approval_request") return item["id"];
  return item["type"] === "mcp_approval_response" ? item["approval_request_id"] : item["call_id"];
}

function isModelInput({ type, role }: WireItem): boolean {
  const isOutput = typeof type === "string" && /_output$|^mcp_approval_response$/.test(type);
  return isOutput || (type === "message" && ["user", "system", "developer"].includes(String(role)));
}

/** Returns the item without its id if its type can be sent without one, otherwise the same object. */
function removeId(item: WireItem): WireItem {
  const bare = /^(message|reasoning|(function|custom_tool)_call(_output)?|mcp_approval_response)$/;
  if (!bare.test(String(item["type"])) || !("id" in item)) return item;
  return Object.fromEntries(Object.entries(item).filter(([key]) => key !== "id"));
}
