import { describe, expect, test } from "vitest";
import type { WireItem } from "../../../openai/wire.ts";
import { builtInCatalog } from "../../tools/index.ts";
import { createCompactionDigest } from "./compaction-digest.ts";

const createMessage = (role: string, content: string) => ({ type: "message", role, content });
const createCall = (id: string) => ({ type: "function_call", call_id: id, name: "look" });
const createOutput = (id: string) => ({ type: "function_call_output", call_id: id, output: id });
const thought = { type: "reasoning", id: "rs_1" };

const fitsCount = (count: number) => (items: readonly WireItem[]) => items.length <= count;

describe("createCompactionDigest()", () => {
  test("returns all items if they fit", () => {
    const items = [createMessage("user", "One."), createCall("a"), createOutput("a")];
    expect(createCompactionDigest(items, fitsCount(3), builtInCatalog)).toBe(items);
  });

  test("returns the newest items that fit, and all input messages", () => {
    const [system, user, developer] = ["system", "user", "developer"].map((role) =>
      createMessage(role, role),
    );
    const told = [system ?? {}, user ?? {}];
    const old = [createCall("a"), createOutput("a"), createMessage("assistant", "Old.")];
    const recent = [createMessage("assistant", "New."), createCall("b"), createOutput("b")];
    const items = [...told, ...old, developer ?? {}, ...recent];
    expect(createCompactionDigest(items, fitsCount(6), builtInCatalog)).toEqual([
      ...told,
      developer,
      ...recent,
    ]);
    expect(createCompactionDigest(items, fitsCount(5), builtInCatalog)).toEqual([
      ...told,
      developer,
      createCall("b"),
      createOutput("b"),
    ]);
  });

  test("never splits a call from its output or reasoning from its following item", () => {
    const items = [
      thought,
      createCall("a"),
      createCall("b"),
      createOutput("a"),
      createOutput("b"),
      createMessage("assistant", "1"),
    ];
    for (const count of [5, 4, 3, 2, 1]) {
      expect(createCompactionDigest(items, fitsCount(count), builtInCatalog)).toEqual([
        createMessage("assistant", "1"),
      ]);
    }
  });

  test("returns at least the newest group of items, even if it does not fit", () => {
    const items = [createMessage("assistant", "Old."), createCall("a"), createOutput("a")];
    expect(createCompactionDigest(items, fitsCount(1), builtInCatalog)).toEqual([
      createCall("a"),
      createOutput("a"),
    ]);
    expect(
      createCompactionDigest([createCall("a"), createOutput("a")], fitsCount(0), builtInCatalog),
    ).toEqual([createCall("a"), createOutput("a")]);
  });
});
