import { describe, expect, test } from "vitest";
import type { WireItem } from "../../../openai/wire.ts";
import { builtInCatalog } from "../../tools/index.ts";
import { remembered } from "./remembered.ts";

const said = (role: string, content: string) => ({ type: "message", role, content });
const call = (id: string) => ({ type: "function_call", call_id: id, name: "look" });
const answer = (id: string) => ({ type: "function_call_output", call_id: id, output: id });
const thought = { type: "reasoning", id: "rs_1" };

const atMost = (count: number) => (items: readonly WireItem[]) => items.length <= count;

describe("what a compaction remembers", () => {
  test("is everything, where that fits", () => {
    const items = [said("user", "One."), call("a"), answer("a")];
    expect(remembered(items, atMost(3), builtInCatalog)).toBe(items);
  });

  test("is the newest that fits, and all that the model was told", () => {
    const [system, user, developer] = ["system", "user", "developer"].map((role) =>
      said(role, role),
    );
    const told = [system ?? {}, user ?? {}];
    const old = [call("a"), answer("a"), said("assistant", "Old.")];
    const recent = [said("assistant", "New."), call("b"), answer("b")];
    const items = [...told, ...old, developer ?? {}, ...recent];
    expect(remembered(items, atMost(6), builtInCatalog)).toEqual([...told, developer, ...recent]);
    expect(remembered(items, atMost(5), builtInCatalog)).toEqual([
      ...told,
      developer,
      call("b"),
      answer("b"),
    ]);
  });

  test("never is half a call, nor what a thought led to without the thought", () => {
    const items = [thought, call("a"), call("b"), answer("a"), answer("b"), said("assistant", "1")];
    for (const count of [5, 4, 3, 2, 1]) {
      expect(remembered(items, atMost(count), builtInCatalog)).toEqual([said("assistant", "1")]);
    }
  });

  test("is at least the last of what was done, though it be too much", () => {
    const items = [said("assistant", "Old."), call("a"), answer("a")];
    expect(remembered(items, atMost(1), builtInCatalog)).toEqual([call("a"), answer("a")]);
    expect(remembered([call("a"), answer("a")], atMost(0), builtInCatalog)).toEqual([
      call("a"),
      answer("a"),
    ]);
  });
});
