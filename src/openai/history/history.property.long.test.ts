import fc from "fast-check";
import { expect, test } from "vitest";
import type { TurnCompleted } from "../../adapter/events.ts";
import type { HistoryStep } from "../../adapter/model-client.ts";
import { noUsage } from "../../base/usage.ts";
import type { WireItem } from "../wire.ts";
import { History, type HistoryMark } from "./history.ts";
import { historySlice } from "./history-slice.ts";
import { wellFormed } from "./well-formed.ts";

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
  content: fc.string({ unit: "binary" }), // halves of characters among them
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
    }
  | { readonly do: "prompt"; readonly text: string }
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
});
const bare: fc.Arbitrary<Step> = fc
  .constantFrom("request" as const, "mark" as const, "step" as const)
  .map((what) => ({ do: what }));
const prompted: fc.Arbitrary<Step> = fc
  .constantFrom("x", "y", "żółw")
  .map((text) => ({ do: "prompt", text }));
const chosen: fc.Arbitrary<Step> = fc
  .tuple(fc.constantFrom("drop" as const, "restore" as const, "reload" as const), fc.nat())
  .map(([what, which]) => ({ do: what, which }));

const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: turn },
    { weight: 5, arbitrary: bare },
    { weight: 2, arbitrary: prompted },
    { weight: 3, arbitrary: chosen },
  ),
  { maxLength: 25 },
);

test("whatever happens to a conversation, what is sent is whole and the session can tell it", () => {
  fc.assert(
    fc.property(steps, fc.boolean(), (all, stored) => {
      const walk = new Walk(stored);
      for (const next of all) {
        walk.take(next);
        walk.checkBytes();
      }
      walk.take({ do: "request" });
      walk.take({ do: "step" });
    }),
    { numRuns: 400 },
  );
});

/** A history, the session's copy of it, and moments to return to. */
class Walk {
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
    if (step.do === "turn") this.#turn(step.parts, step.answers);
    else if (step.do === "request") this.#request();
    else if (step.do === "prompt") history.prompt(step.text);
    else if (step.do === "drop") this.#drop(step.which);
    else if (step.do === "step") this.#tell();
    else if (step.do === "mark") {
      this.#marks.push({ mark: history.mark(), items: [...history.items], bytes: this.#sent() });
    } else if (step.do === "restore") this.#restore(step.which);
    else this.#reload(step.which);
  }

  checkBytes(): void {
    const { items } = this.#history;
    const written = items.map((item) => JSON.stringify(this.#stored ? item : nameless(item)));
    expect(this.#sent()).toBe(`{"input":[${written.join(",")}],"model":"m"}`);
    const value = JSON.stringify(this.#history.value({ model: "m" }));
    expect(this.#sent()).toBe(value);
  }

  #turn(parts: readonly WireItem[], answers: readonly number[]): void {
    this.#history.add(parts);
    const calls = parts.filter(({ type }) => callTypes.includes(String(type)));
    for (const [place, { type, call_id }] of calls.entries()) {
      const output = { type: `${String(type)}_output`, call_id, id: `out_${place}`, output: "ok" };
      const times = answers[place % answers.length] ?? 1;
      this.#history.add(Array.from({ length: times }, () => ({ ...output })));
    }
  }

  #request(): void {
    const before = [...this.#history.items];
    const dropped = this.#history.settle();
    expect(refusals(this.#input(), this.#stored)).toEqual([]);
    expectSplit(before, this.#history.items, dropped);
    expect(this.#history.settle()).toEqual([]);
  }

  #drop(which: number): void {
    this.#request();
    const before = [...this.#history.items];
    const chosen = before[which % Math.max(1, before.length)];
    const container = which % 2 === 0 ? "cntr_1" : "none";
    const names = (item: WireItem) => item === chosen || item["container_id"] === container;
    const dropped = this.#history.drop(names);
    expect(this.#history.items.some(names)).toBe(false);
    expectSplit(before, this.#history.items, dropped);
    expect(refusals(this.#input(), this.#stored)).toEqual([]);
  }

  #restore(which: number): void {
    const chosen = this.#marks[which % Math.max(1, this.#marks.length)];
    if (!chosen) return;
    this.#history.restore(chosen.mark);
    expect(this.#history.items).toEqual(chosen.items);
    expect(this.#sent()).toBe(chosen.bytes);
  }

  #tell(): void {
    const step = this.#history.step();
    const told = historySlice.read(this.#session);
    const { items } = this.#history;
    expect(step.kept).toBeLessThanOrEqual(told.length);
    this.#session = historySlice.reduce(this.#session, turnWith(step));
    expect(historySlice.read(this.#session)).toEqual(items);
    // As small as it can be: what comes next is not what was there.
    const next = step.added[0];
    if (next && step.kept < told.length) expect(told[step.kept]).not.toBe(next);
  }

  /** Goes on from what the session was told, as much of it as was written before a crash. */
  #reload(which: number): void {
    const told = historySlice.read(this.#session);
    const stored = JSON.parse(JSON.stringify(told.slice(0, which % (told.length + 1))));
    const loaded = historySlice.load(stored);
    if (typeof loaded === "string") throw new Error(loaded);
    this.#session = loaded.kept;
    this.#marks = [];
    const items = historySlice.read(this.#session);
    this.#history = new History({ stored: this.#stored, items });
    expectSplit(items, this.#history.items, this.#history.dropped);
    expect(refusals(this.#input(), this.#stored)).toEqual([]);
    if (this.#history.dropped.length > 0) return;
    expect(this.#history.step()).toEqual({ kept: items.length, added: [] });
  }

  #sent(): string {
    return new TextDecoder().decode(this.#history.body('{"model":"m"}'));
  }

  #input(): readonly WireItem[] {
    return JSON.parse(this.#sent()).input;
  }
}

/** Each item of `all` is in one of the two, and in its order. */
function expectSplit(
  all: readonly object[],
  kept: readonly object[],
  dropped: readonly object[],
): void {
  const rest = [[...kept], [...dropped]];
  for (const item of all) expect(rest.some((list) => list[0] === item && list.shift())).toBe(true);
  expect(rest).toEqual([[], []]);
}

function turnWith(history: HistoryStep): TurnCompleted {
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

/** Each of them once, so that what may stay together is never a matter of taste. */
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

test("nothing that goes could have stayed with what stays", () => {
  const lists = fc.shuffledSubarray([...once], { maxLength: 8 });
  fc.assert(
    fc.property(lists, fc.boolean(), (items, stored) => {
      const best = wellFormed(items, { stored }).items;
      expect(refusals(best, stored)).toEqual([]);
      for (let chosen = 0; chosen < 2 ** items.length; chosen++) {
        const more = items.filter((item, place) => chosen & (1 << place) || best.includes(item));
        if (more.length > best.length) expect(refusals(more, stored)).not.toEqual([]);
      }
    }),
    { numRuns: 60 },
  );
});

/** What the provider would say of an input: slow, and of one mind with nobody. */
function refusals(input: readonly WireItem[], stored: boolean): readonly string[] {
  return input.flatMap((item, place) => {
    const [before, rest] = [input.slice(0, place), input.slice(place + 1)];
    const type = String(item["type"]);
    if (type === "reasoning") {
      const next = rest.find((other) => other["type"] !== "reasoning");
      const loose = !next || saidToModel(next) ? ["reasoning that leads to nothing"] : [];
      return stored || item["encrypted_content"] ? loose : ["reasoning that is only an id"];
    }
    if (!stored && type === "item_reference") return ["an id of what is not stored"];
    if (!stored && nameless(item) !== item) return [`an id on a ${type}`];
    // Of the items that share a call's name, every call is followed by an answer, and every answer
    // follows a call.
    const [call, answer] = halves(type);
    if (call === null) return [];
    const isHalf = (other: WireItem) =>
      [call, answer].includes(String(other["type"])) && nameOf(other) === nameOf(item);
    const next = rest.find(isHalf);
    const last = before.findLast(isHalf);
    const isPaired = type === call ? next?.["type"] === answer : last?.["type"] === call;
    return isPaired && typeof nameOf(item) === "string" ? [] : [`a ${type} without its other half`];
  });
}

function halves(type: string): readonly [call: string | null, answer: string | null] {
  if (type.startsWith("mcp_approval")) return ["mcp_approval_request", "mcp_approval_response"];
  const call = type.replace(/_output$/, "");
  return callTypes.includes(call) ? [call, `${call}_output`] : [null, null];
}

function nameOf(item: WireItem): unknown {
  if (item["type"] === "mcp_approval_request") return item["id"];
  return item["type"] === "mcp_approval_response" ? item["approval_request_id"] : item["call_id"];
}

function saidToModel({ type, role }: WireItem): boolean {
  const isOutput = typeof type === "string" && /_output$|^mcp_approval_response$/.test(type);
  return isOutput || (type === "message" && ["user", "system", "developer"].includes(String(role)));
}

/** The item without its id, where it is one that may be sent so; else the same. */
function nameless(item: WireItem): WireItem {
  const bare = /^(message|reasoning|(function|custom_tool)_call(_output)?|mcp_approval_response)$/;
  if (!bare.test(String(item["type"])) || !("id" in item)) return item;
  return Object.fromEntries(Object.entries(item).filter(([key]) => key !== "id"));
}
