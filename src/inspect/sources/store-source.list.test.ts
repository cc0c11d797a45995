import { expect, test } from "vitest";
import type { SessionStore } from "../../session/session-store.ts";
import { MAX_LISTED, StoreSource } from "./store-source.ts";

/** A store whose sessions have a date each, which counts how often their records are read. */
function createStore(dates: Map<string, string>) {
  const reads: string[] = [];
  const store = {
    list: async () => [...dates.keys()].sort(),
    async *read(id: string) {
      reads.push(id);
      yield { kind: "session", id, createdAt: dates.get(id) };
    },
  };
  return { store: store as unknown as SessionStore, reads };
}

const day = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 86_400_000).toISOString();

test("lists the newest sessions of a store that has more than it lists, whatever their names", async () => {
  const ids = Array.from({ length: MAX_LISTED + 3 }, (_, n) => `s${String(n).padStart(5, "0")}`);
  const { store } = createStore(new Map(ids.map((id, n) => [id, day(n)])));
  const { sessions, omitted } = await new StoreSource({ label: "a", store }).list();
  expect(sessions[0]?.id).toBe(ids.at(-1));
  expect(sessions.at(-1)?.id).toBe(ids[3]);
  expect({ count: sessions.length, omitted }).toEqual({ count: MAX_LISTED, omitted: 3 });
});

test("reads the date of each session once, and at most one list at a time", async () => {
  const dates = new Map([
    ["a", day(1)],
    ["b", day(2)],
  ]);
  const { store, reads } = createStore(dates);
  const source = new StoreSource({ label: "a", store });
  await Promise.all([source.list(), source.list()]);
  expect(reads).toEqual(["a", "b"]);
  dates.set("c", day(3));
  dates.delete("a");
  expect((await source.list()).sessions.map(({ id }) => id)).toEqual(["c", "b"]);
  expect(reads).toEqual(["a", "b", "c"]);
});
