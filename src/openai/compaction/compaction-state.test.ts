import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { JsonlSessionStore } from "weakincentives/stores";
import { publishEvent } from "../../adapter/events.ts";
import { systemClock } from "../../base/clock.ts";
import { Session } from "../../session/session.ts";
import { compactionSlice } from "./compaction-state.ts";

const user = { type: "message", role: "user", content: "A fact." };

function createEncryptedItem(nth: number) {
  return { type: "compaction", id: `cmp_${nth}`, encrypted_content: `sealed ${nth}` };
}

function publishCompaction(session: Session, nth: number, model = "gpt-5.2"): void {
  const publisher = { session, prompt: { name: "p" }, adapterName: "openai", clock: systemClock };
  const window = [user, createEncryptedItem(nth)];
  publishEvent(publisher, { type: "CompactionKept", model, tokens: nth * 100, window });
}

const afterTwo = {
  encryptedItems: [createEncryptedItem(2)],
  window: [user, createEncryptedItem(2)],
  lastCompactionTokens: 200,
  compactionCount: 2,
  model: "gpt-5.2",
};

describe("compactionSlice", () => {
  it("starts empty", () => {
    expect(new Session().get(compactionSlice)).toEqual({
      encryptedItems: [],
      window: [],
      lastCompactionTokens: 0,
      compactionCount: 0,
      model: null,
    });
  });

  it("stores the last window, its token count and the number of compactions", () => {
    const session = new Session().register(compactionSlice);
    publishCompaction(session, 1);
    publishCompaction(session, 2);
    expect(session.get(compactionSlice)).toEqual(afterTwo);
  });

  it("is deeply frozen", () => {
    const session = new Session().register(compactionSlice);
    publishCompaction(session, 1);
    const state = session.get(compactionSlice);
    const parts = [state, state.window, state.encryptedItems, ...state.window];
    expect(parts.every(Object.isFrozen)).toBe(true);
    expect(Object.isFrozen(compactionSlice)).toBe(true);
  });

  it("discards the window but not the count on CompactionDiscarded", () => {
    const session = new Session().register(compactionSlice);
    publishCompaction(session, 1);
    const publisher = { session, prompt: { name: "p" }, adapterName: "openai", clock: systemClock };
    publishEvent(publisher, { type: "CompactionDiscarded", reason: "another model" });
    const { initial } = compactionSlice;
    expect(session.get(compactionSlice)).toEqual({ ...initial, compactionCount: 1 });
  });

  it("is restored with the session across a compaction", () => {
    const session = new Session().register(compactionSlice);
    publishCompaction(session, 1);
    const before = session.snapshot();
    const state = session.get(compactionSlice);
    publishCompaction(session, 2);
    session.restore(before);
    expect(session.get(compactionSlice)).toBe(state);
    publishCompaction(session, 2);
    expect(session.get(compactionSlice)).toEqual(afterTwo);
  });

  it("survives serialize and parse, and prints no encrypted content", () => {
    const session = new Session().register(compactionSlice);
    publishCompaction(session, 1);
    publishCompaction(session, 2);
    const parsed = Session.parse(session.serialize(), [compactionSlice]);
    const state = parsed.get(compactionSlice);
    expect(state).toEqual(afterTwo);
    expect(state.encryptedItems[0]).toBe(state.window[1]);
    expect(Object.isFrozen(state.window)).toBe(true);
    expect(inspect(state, { depth: 9 })).not.toContain("sealed 2");
  });

  it("survives in a store, and prints no encrypted content", async () => {
    const folder = mkdtempSync(join(tmpdir(), "wink-compaction-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const session = new Session({ id: "one", store: new JsonlSessionStore(folder) });
    session.register(compactionSlice);
    publishCompaction(session, 1);
    publishCompaction(session, 2);
    await session.flush();
    const opened = await Session.open(new JsonlSessionStore(folder), "one", [compactionSlice]);
    expect(opened.get(compactionSlice)).toEqual(afterTwo);
    expect(inspect(opened.get(compactionSlice), { depth: 9 })).not.toContain("sealed 2");
  });

  it.each([
    {},
    [],
    "text",
    { ...afterTwo, window: "text" },
    { ...afterTwo, window: [null] },
    { ...afterTwo, compactionCount: -1 },
    { ...afterTwo, lastCompactionTokens: "many" },
    { ...afterTwo, model: 5 },
  ])("rejects the stored state %j", (state) => {
    expect(compactionSlice.load(state)).toBe("it is not a valid compaction state");
  });
});
