import { expect, test } from "vitest";
import { MemorySessionStore } from "../../tests/support/memory-session-store.ts";
import { defineSlice } from "./define-slice.ts";
import { addLibrarySlice, describeMissingSlices, listLibrarySlices } from "./library-slices.ts";
import { Session } from "./session.ts";

interface LampLit {
  readonly type: "LampLit";
}

declare module "./event-map.ts" {
  interface EventMap {
    LampLit: LampLit;
  }
}

const lamps = addLibrarySlice(
  defineSlice("testlib.lamps", { initial: 0, on: { LampLit: (count) => count + 1 } }),
);

test("Session.open() restores a slice of the library that was not passed", async () => {
  const store = new MemorySessionStore();
  const session = new Session({ id: "s", store }).register(lamps);
  session.dispatch({ type: "LampLit" });
  await session.flush();
  expect(listLibrarySlices()).toContain(lamps);
  expect((await Session.open(store, "s")).get(lamps)).toBe(1);
  expect((await Session.open(store, "s", [lamps])).get(lamps)).toBe(1);
});

test.each([
  [["mine", "other.mine"], ""],
  [["openai.x"], ' For those of this package, use import "weakincentives/openai".'],
  [["wink.x", "wink.y"], ' For those of this package, use import "weakincentives".'],
  [
    ["openai.x", "mine", "claude.x"],
    ' For those of this package, use import "weakincentives/openai" and import "weakincentives/claude".',
  ],
])("describeMissingSlices(%j) names the entry points to import", (ids, sentence) => {
  expect(describeMissingSlices(ids)).toBe(sentence);
});

test("Session.open() names the entry point of a library slice that is not loaded", async () => {
  const store = new MemorySessionStore();
  const gone = defineSlice("claude.gone", { initial: 0, on: { LampLit: (count) => count + 1 } });
  const session = new Session({ id: "s", store }).register(gone);
  session.dispatch({ type: "LampLit" });
  await session.flush();
  await expect(Session.open(store, "s")).rejects.toThrow(
    'Session "s" was stored with the slices "claude.gone", which were not passed. Pass them to ' +
      'Session.open. For those of this package, use import "weakincentives/claude".',
  );
});
