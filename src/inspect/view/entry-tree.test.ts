import { expect, test } from "vitest";
import type { Entry } from "../entry.ts";
import { type EntryFilter, EntryTree, isActive } from "./entry-tree.ts";

const all: EntryFilter = { kinds: null, onlyFailed: false, query: "", found: new Set<string>() };

function create(key: string, parent: string | null, more: Partial<Entry> = {}): Entry {
  return {
    ...{ key, parent, kind: "call", type: "ToolInvoked", title: key, text: "" },
    ...{ status: "ok", at: null, ms: null, ...more },
  };
}

function createTree(): EntryTree {
  const tree = new EntryTree();
  tree.put([
    create("1", null, { kind: "evaluation" }),
    create("1.1", "1", { kind: "turn" }),
    create("1.1.1", "1.1", { title: "bake", text: "Rye bread" }),
    create("1.2", "1", { kind: "turn" }),
    create("1.2.1", "1.2", { title: "sell", status: "failed" }),
  ]);
  return tree;
}

const list = (tree: EntryTree, filter = all, collapsed: readonly string[] = []) =>
  tree
    .listRows(filter, new Set(collapsed))
    .map(({ entry, depth, isMatch }) => `${depth} ${entry.key}${isMatch ? "" : " (outside)"}`);

test("lists entries below the ones that contain them, without what is collapsed", () => {
  const tree = createTree();
  expect(list(tree)).toEqual(["0 1", "1 1.1", "2 1.1.1", "1 1.2", "2 1.2.1"]);
  expect(list(tree, all, ["1.1"])).toEqual(["0 1", "1 1.1", "1 1.2", "2 1.2.1"]);
  expect(tree.size).toBe(5);
  expect(tree.listChildren("1").map(({ key }) => key)).toEqual(["1.1", "1.2"]);
  expect(tree.listPath("1.2.1").map(({ key }) => key)).toEqual(["1", "1.2", "1.2.1"]);
  expect(tree.sort(["1.2.1", "1.1"]).map(({ key }) => key)).toEqual(["1.1", "1.2.1"]);
});

test("filters by text in any case, kind and failure, and shows what contains the matches", () => {
  const tree = createTree();
  expect(list(tree, { ...all, query: "RYE" }, ["1"])).toEqual([
    "0 1 (outside)",
    "1 1.1 (outside)",
    "2 1.1.1",
  ]);
  expect(list(tree, { ...all, kinds: new Set(["turn"]) })).toEqual([
    "0 1 (outside)",
    "1 1.1",
    "1 1.2",
  ]);
  expect(list(tree, { ...all, onlyFailed: true })).toEqual([
    "0 1 (outside)",
    "1 1.2 (outside)",
    "2 1.2.1",
  ]);
  expect(list(tree, { ...all, query: "nowhere" })).toEqual([]);
  expect(list(tree, { ...all, query: "nowhere", found: new Set(["1.1.1"]) })).toHaveLength(3);
  expect(isActive(all)).toBe(false);
});

test("searches the new text of an entry that changed", () => {
  const tree = createTree();
  expect(list(tree, { ...all, query: "wheat" })).toEqual([]);
  tree.put([create("1.1.1", "1.1", { text: "Wheat" })]);
  expect(list(tree, { ...all, query: "wheat" })).toHaveLength(3);
});

test("shows an entry that arrives before the one that contains it", () => {
  const tree = new EntryTree();
  tree.put([create("1.1", "1"), create("1.2", "1")]);
  expect(list(tree)).toEqual([]);
  tree.put([create("1", null)]);
  expect(list(tree)).toEqual(["0 1", "1 1.1", "1 1.2"]);
});

test("ends the path of an entry that claims to contain itself", () => {
  const tree = new EntryTree();
  tree.put([create("a", "b"), create("b", "a")]);
  expect(tree.listPath("a").length).toBeLessThan(200);
  expect(list(tree)).toEqual([]);
});

test("an unknown entry has no children", () => {
  expect(createTree().listChildren("9")).toEqual([]);
});
