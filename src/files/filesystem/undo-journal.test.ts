import { expect, test } from "vitest";
import { UndoJournal } from "./undo-journal.ts";

test("without a snapshot nothing is kept", () => {
  const journal = new UndoJournal<string>();
  journal.record("a", "b");
  expect([journal.isWanted, journal.length]).toEqual([false, 0]);
});

test("changes since a snapshot are given newest first, and are gone once it is rewound", () => {
  const journal = new UndoJournal<string>();
  const snapshot = journal.snapshot();
  journal.record("a");
  journal.record("b", "c");
  expect(journal.since(snapshot)).toEqual(["c", "b", "a"]);
  journal.rewind(snapshot);
  expect([journal.since(snapshot), journal.length, journal.isWanted]).toEqual([[], 0, true]);
});

test("changes that could not be undone are given again", () => {
  const journal = new UndoJournal<string>();
  const snapshot = journal.snapshot();
  journal.record("a", "b", "c");
  journal.rewind(snapshot, ["a", "b"]);
  expect(journal.since(snapshot)).toEqual(["b", "a"]);
});

test("releasing gives what no other snapshot needs, and in the end nothing is kept", () => {
  const journal = new UndoJournal<string>();
  const [first, , third] = ["a", "b", "c"].map((change) => {
    const snapshot = journal.snapshot();
    journal.record(change);
    return snapshot;
  });
  if (!first || !third) throw new Error("three snapshots were taken");
  expect(journal.release(first)).toEqual(["a"]);
  expect(journal.length).toBe(2);
  expect(journal.release(third)).toEqual([]);
  expect(journal.since(journal.snapshot())).toEqual([]);
  expect(journal.clear()).toEqual(["b", "c"]);
  journal.record("d");
  expect([journal.length, journal.isWanted]).toEqual([0, false]);
});

test("places stay right when what came before them was dropped", () => {
  const journal = new UndoJournal<string>();
  const first = journal.snapshot();
  journal.record("a", "b");
  const second = journal.snapshot();
  journal.record("c");
  journal.release(first);
  const third = journal.snapshot();
  journal.record("d");
  expect(journal.since(second)).toEqual(["d", "c"]);
  journal.rewind(third);
  expect(journal.since(second)).toEqual(["c"]);
});

test("a snapshot costs the same however much was recorded before", () => {
  const journal = new UndoJournal<number>();
  journal.snapshot();
  for (let change = 0; change < 100_000; change++) journal.record(change);
  for (let taken = 0; taken < 100_000; taken++) journal.snapshot();
  expect(journal.length).toBe(100_000);
});

test("the error says why a snapshot is none, or no longer one", () => {
  const journal = new UndoJournal<string>();
  const first = journal.snapshot();
  const second = journal.snapshot();
  journal.rewind(first);
  expect(() => journal.since(second)).toThrow(
    'EINVAL: "snapshot-2" is void: an earlier snapshot was restored',
  );
  journal.release(first);
  expect(() => journal.since(first)).toThrow('EINVAL: "snapshot-1" was released');
  const foreign = new UndoJournal<string>().snapshot();
  expect(() => journal.since(foreign)).toThrow("is not a snapshot of this file system");
  expect(() => journal.release(foreign)).toThrow("is not a snapshot of this file system");
  expect(() => journal.since(null as never)).toThrow('EINVAL: "null" is not a snapshot');
  expect(journal.release(second)).toEqual([]);
});
