import fc from "fast-check";
import { expect, test } from "vitest";
import { MemorySessionStore } from "../../tests/support/memory-session-store.ts";
import { defineSlice } from "./define-slice.ts";
import { logSlice } from "./log-slice.ts";
import { Session } from "./session.ts";
import type { Snapshot } from "./snapshot.ts";

interface WordSaid {
  readonly type: "WordSaid";
  readonly sessionId: string;
  readonly word: unknown;
}

declare module "./event-map.ts" {
  interface EventMap {
    WordSaid: WordSaid;
  }
}

const createWordSaid = (word: unknown): WordSaid => ({ type: "WordSaid", sessionId: "s", word });

const speech = defineSlice<readonly unknown[]>("speech", {
  initial: [],
  on: { WordSaid: (words, { word }) => [...words, word] },
});
const lastWord = defineSlice<unknown>("lastWord", {
  initial: null,
  on: { WordSaid: (_last, { word }) => word },
});
const count = defineSlice("count", {
  initial: { words: 0, numbers: 0 },
  on: {
    WordSaid: (state, { word }) => {
      if (word === null) return state;
      if (Array.isArray(word)) throw new Error("one at a time");
      const numbers = state.numbers + (typeof word === "number" ? 1 : 0);
      return { words: state.words + 1, numbers };
    },
  },
});
const words = logSlice("words", "WordSaid");
const failures = logSlice("failures", "ReducerFailed");
const slices = [speech, lastWord, count, words, failures];

type Step =
  | { readonly do: "dispatch" | "publish" | "together"; readonly word: unknown }
  | { readonly do: "snapshot" | "flush" | "open" }
  | { readonly do: "restore"; readonly which: number }
  | { readonly do: "borrow"; readonly word: unknown }
  | { readonly do: "register"; readonly which: number };

const word = fc.jsonValue({ maxDepth: 2 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("dispatch" as const), word }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("publish" as const), word }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("together" as const), word }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("snapshot" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("restore" as const), which: fc.nat(99) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("flush" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("open" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("borrow" as const), word }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("register" as const), which: fc.nat(4) }),
  },
);

test("Session.open() restores any stored session", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const store = new MemorySessionStore();
      let live = new Session({ id: "s", store, tags: { team: "search" } });
      const registered = new Set<(typeof slices)[number]>();
      const taken: Snapshot[] = [];
      for (const next of steps) {
        if (next.do === "dispatch") live.dispatch(createWordSaid(next.word));
        else if (next.do === "publish") live.bus.publish(createWordSaid(next.word));
        else if (next.do === "together")
          live.dispatch(createWordSaid(next.word), createWordSaid([next.word]));
        else if (next.do === "snapshot") taken.push(live.snapshot());
        else if (next.do === "restore") {
          const snapshot = taken[next.which % Math.max(1, taken.length)];
          if (snapshot) live.restore(snapshot);
        } else if (next.do === "borrow") {
          const other = new Session({ id: "s" });
          for (const slice of registered) other.register(slice);
          other.dispatch(createWordSaid(next.word));
          live.restore(other.snapshot());
        } else if (next.do === "register") {
          const slice = slices[next.which];
          if (slice) registered.add(slice);
          if (slice) live.register(slice);
        } else {
          await live.flush();
          if (next.do === "open") live = await Session.open(store, "s", [...registered]);
        }
      }
      await live.flush();
      const again = await Session.open(store, "s", [...registered]);
      expect(normalizeJson(again.serialize())).toBe(normalizeJson(live.serialize()));
    }),
    { numRuns: 300 },
  );
});

test("Session.open() restores an earlier state from any prefix of the records", async () => {
  const simple = fc.oneof(
    fc.record({ do: fc.constant("dispatch" as const), word }),
    fc.record({ do: fc.constant("together" as const), word }),
    fc.record({ do: fc.constant("snapshot" as const) }),
    fc.record({ do: fc.constant("restore" as const), which: fc.nat(99) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(simple, { maxLength: 25 }), async (steps) => {
      const store = new MemorySessionStore();
      const live = new Session({ id: "s", store }).register(speech).register(words);
      const moments = [live.serialize()];
      const taken: Snapshot[] = [];
      for (const next of steps) {
        if (next.do === "dispatch") live.dispatch(createWordSaid(next.word));
        else if (next.do === "together")
          live.dispatch(createWordSaid(next.word), createWordSaid(next.word));
        else if (next.do === "snapshot") taken.push(live.snapshot());
        else {
          const snapshot = taken[next.which % Math.max(1, taken.length)];
          if (snapshot) live.restore(snapshot);
        }
        moments.push(live.serialize());
      }
      await live.flush();
      const lines = store.lines.get("s") ?? [];
      for (let length = 3; length <= lines.length; length++) {
        const part = new MemorySessionStore();
        part.lines.set("s", lines.slice(0, length));
        const then = await Session.open(part, "s", [speech, words]);
        expect(moments.map(normalizeJson)).toContain(normalizeJson(then.serialize()));
      }
    }),
  );
});

/** Normalizes JSON, which has only one zero. */
function normalizeJson(text: string): string {
  return JSON.stringify(JSON.parse(text));
}
