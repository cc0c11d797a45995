import type { CrashPoint } from "./crash-order.ts";

/** The expected results of a run that was killed at a point and then resumed, on every adapter and store. */
export interface CrashCase {
  readonly name: string;
  readonly point: CrashPoint;
  /** The turns of all requests. @default each turn once */
  readonly requests?: readonly number[];
  /** How often tools took effect that did not take it as in a run without a crash. */
  readonly effects?: Readonly<Record<string, number>>;
  /** The ids of calls that are reported to the model as unknown. @default none */
  readonly unknown?: readonly string[];
}

/** How often each tool takes effect in a run without a crash. */
export const usualEffects: Readonly<Record<string, number>> = {
  charge: 1,
  note: 1,
  ship: 2,
  look: 1,
  book: 1,
};

/** The answers of each turn's calls in a run without a crash, by the number of the next turn. */
export const usualAnswers: Readonly<Record<number, readonly string[]>> = {
  2: ["OK\n\ncharge done", "OK\n\nnote done"],
  3: ["OK\n\nship done", "OK\n\nship done"],
  4: ["OK\n\nlook done", "OK\n\nbook done"],
};

/** The rows of the failure matrix that concern an evaluation. */
export const crashCases: readonly CrashCase[] = [
  { name: "when the session is claimed", point: { at: "barrier claimed" } },
  {
    name: "while the first request is in flight",
    point: { at: "request" },
    requests: [1, 1, 2, 3, 4],
  },
  {
    name: "while a later request is in flight",
    point: { at: "request", nth: 3, flushed: true },
    requests: [1, 2, 3, 3, 4],
  },
  {
    name: "when a response has arrived and is not stored",
    point: { at: "event TurnCompleted" },
    requests: [1, 1, 2, 3, 4],
  },
  { name: "when a response is stored, before its calls", point: { at: "barrier turn-completed" } },
  {
    name: "when a once call is stored as started",
    point: { at: "barrier calls-started" },
    effects: { charge: 0 },
    unknown: ["call_charge_1"],
  },
  {
    name: "when parallel once calls are stored as started",
    point: { at: "barrier calls-started", nth: 2 },
    effects: { ship: 0 },
    unknown: ["call_ship_1", "call_ship_2"],
  },
  {
    name: "in a once call before its effect",
    point: { at: "before charge" },
    effects: { charge: 0 },
    unknown: ["call_charge_1"],
  },
  {
    name: "in a once call after its effect",
    point: { at: "after charge" },
    unknown: ["call_charge_1"],
  },
  {
    name: "in a parallel once call after the first effect",
    point: { at: "after ship" },
    effects: { ship: 1 },
    unknown: ["call_ship_1", "call_ship_2"],
  },
  {
    name: "in an idempotent call after its effect",
    point: { at: "after note", flushed: true },
    effects: { note: 2 },
  },
  {
    name: "between two calls of a turn, before the second one's effect",
    point: { at: "before note", flushed: true },
  },
  {
    name: "when a once call is answered and its result is not stored",
    point: { at: "event ToolInvoked" },
    unknown: ["call_charge_1"],
  },
  { name: "in a reconciled call before its effect", point: { at: "before book" } },
  { name: "in a reconciled call after its effect", point: { at: "after book" } },
  {
    name: "when the answer is stored, before the end",
    point: { at: "barrier turn-completed", nth: 4 },
  },
  { name: "when the end is not stored", point: { at: "event PromptExecuted" } },
  { name: "when the end is stored", point: { at: "barrier executed" } },
];
