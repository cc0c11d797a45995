import { describe, expect, test } from "vitest";
import { written } from "../../store/written-item.ts";
import { builtInCatalog } from "../../tools/index.ts";
import { RecentThreads } from "./recent-threads.ts";
import { Thread } from "./thread.ts";

/** A thread with one item of about that many bytes. */
function thread(bytes = 1): Thread {
  const made = new Thread(builtInCatalog);
  made.add([written({ type: "message", content: "x".repeat(bytes) })]);
  return made;
}

describe("recent threads", () => {
  test("are as many as may be: the one used longest ago goes first", () => {
    const recent = new RecentThreads({ threads: 2 });
    const points = ["a", "b", "c"].map((id) => [id, thread().point] as const);
    for (const [id, point] of points.slice(0, 2)) recent.set(id, point);
    expect(recent.get("a")).toBe(points[0]?.[1]);
    for (const [id, point] of points.slice(2)) recent.set(id, point);
    expect(["a", "b", "c"].map((id) => recent.get(id)?.items)).toEqual([1, undefined, 1]);
  });

  test("take no more memory than they may, all together", () => {
    const recent = new RecentThreads({ bytes: 100_000 });
    for (let count = 0; count < 100; count++) recent.set(`${count}`, thread(9_000).point);
    const left = Array.from({ length: 100 }, (_, count) => recent.get(`${count}`)).filter(Boolean);
    expect(left).toHaveLength(10);
    recent.set("small", thread().point);
    expect(recent.get("99")).toBeDefined();
  });

  test("count what they have grown by, and what is sealed in them", () => {
    const recent = new RecentThreads({ bytes: 100_000 });
    const [one, two] = [thread(), thread()];
    recent.set("one", one.point);
    recent.set("two", two.point);
    one.add([written({ type: "compaction" })], [{ type: "message", content: "x".repeat(99_000) }]);
    recent.set("more", one.point);
    expect(["one", "two", "more"].map((id) => recent.get(id)?.readable)).toEqual([1, undefined, 2]);
  });

  test("always have the last one, with all responses of it", () => {
    const recent = new RecentThreads({ threads: 0, bytes: 0 });
    recent.set("a", thread().point);
    const last = thread(1_000);
    recent.set("b", last.point);
    last.add([written({ type: "message" })]);
    recent.set("c", last.point);
    expect(["a", "b", "c"].map((id) => recent.get(id)?.items)).toEqual([undefined, 1, 2]);
  });
});
