import { describe, expect, test } from "vitest";
import { getErrorMessage } from "../../base/errors.ts";
import type { WireItem } from "../../openai/wire.ts";
import { builtInCatalog } from "../tools/index.ts";
import { checkHistory } from "./check/check-history.ts";
import { History, type HistoryPoint } from "./history.ts";

const stored = { isStored: (id: string) => id !== "rs_lost" };

const items: readonly WireItem[] = [
  ...["call_1", "call_2"].flatMap((call_id) => [
    { type: "function_call", call_id },
    { type: "function_call_output", call_id },
    { type: "shell_call", call_id },
    { type: "shell_call_output", call_id },
  ]),
  { type: "shell_call", call_id: "call_3", environment: { type: "container_reference" } },
  { type: "shell_call_output", call_id: "call_3" },
  { type: "reasoning", id: "rs_1", encrypted_content: "sealed" },
  { type: "reasoning", id: "rs_2", encrypted_content: "sealed" },
  { type: "message", role: "user" },
  { type: "message", role: "assistant" },
];
const named: readonly WireItem[] = [
  { type: "item_reference", id: "fc_1" },
  { type: "item_reference", id: "rs_lost" },
  { type: "reasoning", id: "rs_lost" },
];

/** Returns a random number generator with a fixed seed. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function pickItems(from: readonly WireItem[], most: number, next: (below: number) => number) {
  return Array.from({ length: next(most) }, () => from[next(from.length)] ?? {});
}

function findFault(given: readonly WireItem[], before?: HistoryPoint): string {
  try {
    checkHistory(given, { stored, catalog: builtInCatalog, before });
    return "";
  } catch (error) {
    return getErrorMessage(error);
  }
}

function createPoint(given: readonly WireItem[]): HistoryPoint {
  const history = new History(builtInCatalog);
  for (const item of given) history.add(item);
  return history.point;
}

describe("History", () => {
  test("reports the same faults for items added later as for all at once", () => {
    const next = createRandom(7);
    const refusals = new Map<string, number>();
    for (let round = 0; round < 20_000; round++) {
      const before = pickItems(items, 7, next);
      const own = pickItems([...items, ...items, ...named], 6, next);
      const whole = findFault([...before, ...own]);
      expect(findFault(own, createPoint(before))).toBe(whole);
      const kind = whole.replaceAll(/(call|rs|fc)_\w+/g, "…");
      refusals.set(kind, (refusals.get(kind) ?? 0) + 1);
    }
    // Every kind of fault occurred, and often none.
    expect(refusals.size).toBe(7);
    for (const often of refusals.values()) expect(often).toBeGreaterThan(100);
  });

  test("does not change an earlier point", () => {
    const [call, output] = [
      { type: "function_call", call_id: "call_1" },
      { type: "function_call_output", call_id: "call_1" },
    ];
    const history = new History(builtInCatalog);
    const beginning = history.point;
    history.add(call);
    const asked = history.point;
    history.add(output);
    history.add({ type: "function_call_output", call_id: "call_9" });
    expect(findFault([output], beginning)).toContain("No tool call found");
    expect(findFault([], asked)).toBe("No tool output found for function call call_1.");
    expect(findFault([output], asked)).toBe("");
    expect(findFault([], history.point)).toContain("with call_id call_9.");
  });
});
