import { expect, test } from "vitest";
import type { Entry } from "../entry.ts";
import { EntryList } from "./entry-list.ts";

const entry: Entry = {
  ...{ key: "1", parent: null, kind: "event", type: "Mine", title: "Mine", text: "" },
  ...{ status: "none", at: null, ms: null },
};

test("a change of an unknown entry adds nothing", () => {
  const list = new EntryList();
  list.update("1", { title: "Other" });
  expect([list.size, list.takeChanges()]).toEqual([0, []]);
});

test("an entry whose key is taken has a variant of the key", () => {
  const list = new EntryList();
  expect([list.add(entry, null), list.add(entry, null)]).toEqual(["1", "1~2"]);
  list.update("1~2", { title: "Other" });
  expect(list.list().map(({ key, title }) => [key, title])).toEqual([
    ["1", "Mine"],
    ["1~2", "Other"],
  ]);
});

test("an entry keeps at most eight positions", () => {
  const list = new EntryList();
  for (let n = 0; n < 10; n++) list.addPosition("1", { n, index: 0 });
  expect(list.getPositions("1")).toHaveLength(8);
  expect(list.getPositions("2")).toEqual([]);
});
