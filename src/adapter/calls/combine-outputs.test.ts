import { describe, expect, test } from "vitest";
import type { HostedCall } from "../model-client.ts";
import { combineOutputs } from "./combine-outputs.ts";

/** The output of a call before and after its hook. */
type Change = readonly [declared: unknown, output: unknown];

/** Settles calls of the tool `a`. */
const settle = (outputs: readonly Change[]) =>
  outputs.map(([declared, output], index) => {
    const call: HostedCall = {
      name: "a",
      kind: "a",
      callId: `c${index}`,
      params: {},
      output,
      success: true,
      message: "OK",
      raw: {},
    };
    return { call, declared, tool: null };
  });

const combine = async (whole: unknown, ...outputs: readonly Change[]) =>
  (await combineOutputs(settle(outputs), new Map([["a", whole]]))).get("a");

describe("combineOutputs()", () => {
  test("keeps the reported outputs of tools without calls", async () => {
    expect([...(await combineOutputs([], new Map([["b", 1]])))]).toEqual([["b", 1]]);
  });

  test("uses the reported output if no hook changed anything", async () => {
    expect(await combine("whole", [{ n: [1] }, { n: [1] }], ["b", "b"])).toBe("whole");
  });

  test("ignores calls without an output", async () => {
    expect(await combine("whole", [null, null], ["b", "c"])).toBe("c");
    expect(await combine("whole", [null, null])).toBe("whole");
  });

  test.each([
    ["text", ["a", "A"], ["b", "B"], "B"],
    ["lists", [[1], [2]], [[3], [4, 4]], [2, 4, 4]],
    ["an object and text", [{}, { n: 1 }], ["b", "B"], "B"],
    ["class instances", [1, new Date(1)], [2, new Date(2)], new Date(2)],
  ] as const)("combines %s that hooks returned", async (_, one, two, expected) => {
    expect(await combine({ whole: 1 }, one, two)).toEqual(expected);
  });

  test("joins the lists of changed fields, and does not repeat records", async () => {
    const kept = { id: 1 };
    const changed = await combine(
      { list: [kept], same: "whole" },
      [
        { list: [], same: 1 },
        { list: [kept, { id: 2 }], same: 1 },
      ],
      [
        { list: [], same: 2 },
        { list: [{ id: 1 }, { id: 3 }], same: 2 },
      ],
    );
    expect(changed).toEqual({ list: [kept, { id: 2 }, { id: 3 }], same: "whole" });
  });

  test("detects changed and removed values in nested data", async () => {
    const one = { deep: { list: [{ n: 1 }], more: undefined } };
    expect(await combine({ deep: 0 }, [one, one], [one, { deep: { list: [{ n: 2 }] } }])).toEqual({
      deep: { list: [{ n: 2 }] },
    });
    expect(await combine({ deep: 0 }, [one, structuredClone(one)])).toEqual({ deep: 0 });
  });

  test("handles data that contains itself", async () => {
    const loop: Record<string, unknown> = { n: 1 };
    loop["self"] = loop;
    const other: Record<string, unknown> = { n: 2 };
    other["self"] = other;
    expect(await combine("whole", [loop, loop])).toBe("whole");
    expect(await combine("whole", [loop, other])).toBe(other);
  });

  test("keeps a field named __proto__ as data", async () => {
    const odd = JSON.parse('{"__proto__":[1]}');
    const combined = await combine({}, [{}, odd], [{}, odd]);
    expect(JSON.stringify(combined)).toBe('{"__proto__":[1,1]}');
  });
});
