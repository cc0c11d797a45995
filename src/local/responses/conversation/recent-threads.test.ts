import { describe, expect, test } from "vitest";
import { serializeItem } from "../../store/serialized-item.ts";
import { builtInCatalog } from "../../tools/index.ts";
import { RecentThreads } from "./recent-threads.ts";
import { Thread } from "./thread.ts";

/** Creates a thread with one item; `bytes` is its approximate size. */
function createThread(bytes = 1): Thread {
  const made = new Thread(builtInCatalog);
  made.add([serializeItem({ type: "message", content: "x".repeat(bytes) })]);
  return made;
}

describe("RecentThreads", () => {
  test("evicts the least recently used thread beyond the limit", () => {
    const recent = new RecentThreads({ threads: 2 });
    const points = ["a", "b", "c"].map((id) => [id, createThread().point] as const);
    for (const [id, point] of points.slice(0, 2)) recent.set(id, point);
    expect(recent.get("a")).toBe(points[0]?.[1]);
    for (const [id, point] of points.slice(2)) recent.set(id, point);
    expect(["a", "b", "c"].map((id) => recent.get(id)?.items)).toEqual([1, undefined, 1]);
  });

  test("limits the memory of all threads together", () => {
    const recent = new RecentThreads({ bytes: 100_000 });
    for (let count = 0; count < 100; count++) recent.set(`${count}`, createThread(9_000).point);
    const left = Array.from({ length: 100 }, (_, count) => recent.get(`${count}`)).filter(Boolean);
    expect(left).toHaveLength(10);
    recent.set("small", createThread().point);
    expect(recent.get("99")).toBeDefined();
  });

  test("counts growth and opened compactions", () => {
    const recent = new RecentThreads({ bytes: 100_000 });
    const [one, two] = [createThread(), createThread()];
    recent.set("one", one.point);
    recent.set("two", two.point);
    one.add(
      [serializeItem({ type: "compaction" })],
      [{ type: "message", content: "x".repeat(99_000) }],
    );
    recent.set("more", one.point);
    expect(["one", "two", "more"].map((id) => recent.get(id)?.readable)).toEqual([1, undefined, 2]);
  });

  test("evicts a thread when its last id is deleted, and counts its memory no longer", () => {
    const recent = new RecentThreads({ bytes: 100_000 });
    const large = createThread(90_000);
    recent.set("one", large.point);
    recent.set("two", large.point);
    for (const id of ["one", "one", "unknown"]) recent.delete(id);
    expect([recent.get("one"), recent.get("two")?.items]).toEqual([undefined, 1]);
    recent.delete("two");
    expect(recent.get("two")).toBeUndefined();
    recent.set("three", createThread(90_000).point);
    recent.set("four", createThread().point);
    expect(["three", "four"].map((id) => recent.get(id)?.items)).toEqual([1, 1]);
  });

  test("never evicts the last thread, with all its responses", () => {
    const recent = new RecentThreads({ threads: 0, bytes: 0 });
    recent.set("a", createThread().point);
    const last = createThread(1_000);
    recent.set("b", last.point);
    last.add([serializeItem({ type: "message" })]);
    recent.set("c", last.point);
    expect(["a", "b", "c"].map((id) => recent.get(id)?.items)).toEqual([undefined, 1, 2]);
  });
});
