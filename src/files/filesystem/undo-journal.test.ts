import { expect, test } from "vitest";
import { UndoJournal } from "./undo-journal.ts";

test("UndoJournal records nothing without a snapshot", () => {
  const journal = new UndoJournal<string>();
  journal.record("a", "b");
  expect([journal.hasSnapshots, journal.length]).toEqual([false, 0]);
});

test("UndoJournal returns changes newest first and removes them on rewind", () => {
  const journal = new UndoJournal<string>();
  const snapshot = journal.snapshot();
  journal.record("a");
  journal.record("b", "c");
  expect(journal.getChangesSince(snapshot)).toEqual(["c", "b", "a"]);
  journal.rewind(snapshot);
  expect([journal.getChangesSince(snapshot), journal.length, journal.hasSnapshots]).toEqual([
    [],
    0,
    true,
  ]);
});

test("UndoJournal retains changes that could not be undone", () => {
  const journal = new UndoJournal<string>();
  const snapshot = journal.snapshot();
  journal.record("a", "b", "c");
  journal.rewind(snapshot, ["a", "b"]);
  expect(journal.getChangesSince(snapshot)).toEqual(["b", "a"]);
});

test("UndoJournal.release() returns the changes that no other snapshot needs", () => {
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
  expect(journal.getChangesSince(journal.snapshot())).toEqual([]);
  expect(journal.clear()).toEqual(["b", "c"]);
  journal.record("d");
  expect([journal.length, journal.hasSnapshots]).toEqual([0, false]);
});

test("UndoJournal adjusts positions when earlier changes are removed", () => {
  const journal = new UndoJournal<string>();
  const first = journal.snapshot();
  journal.record("a", "b");
  const second = journal.snapshot();
  journal.record("c");
  journal.release(first);
  const third = journal.snapshot();
  journal.record("d");
  expect(journal.getChangesSince(second)).toEqual(["d", "c"]);
  journal.rewind(third);
  expect(journal.getChangesSince(second)).toEqual(["c"]);
});

test("UndoJournal.snapshot() takes the same time for any number of recorded changes", () => {
  const journal = new UndoJournal<number>();
  journal.snapshot();
  for (let change = 0; change < 100_000; change++) journal.record(change);
  for (let taken = 0; taken < 100_000; taken++) journal.snapshot();
  expect(journal.length).toBe(100_000);
});

test("UndoJournal explains why a snapshot is invalid", () => {
  const journal = new UndoJournal<string>();
  const first = journal.snapshot();
  const second = journal.snapshot();
  journal.rewind(first);
  expect(() => journal.getChangesSince(second)).toThrow(
    'EINVAL: "snapshot-2" is invalid because an earlier snapshot was restored. Take a new one.',
  );
  journal.release(first);
  expect(() => journal.getChangesSince(first)).toThrow('EINVAL: "snapshot-1" was released');
  const foreign = new UndoJournal<string>().snapshot();
  expect(() => journal.getChangesSince(foreign)).toThrow("is not a snapshot of this file system");
  expect(() => journal.release(foreign)).toThrow("is not a snapshot of this file system");
  expect(() => journal.getChangesSince(null as never)).toThrow('EINVAL: "null" is not a snapshot');
  expect(journal.release(second)).toEqual([]);
});
