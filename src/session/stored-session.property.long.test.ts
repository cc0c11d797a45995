import fc from "fast-check";
import { expect, test } from "vitest";
import {
  close,
  createSession,
  pay,
  slices,
  storeCheckpoint,
} from "../../tests/support/checkpointed-session.ts";
import { MemorySessionStore } from "../../tests/support/memory-session-store.ts";
import { Session } from "./session.ts";
import type { Snapshot } from "./snapshot.ts";
import { storedSession } from "./stored-session.ts";

type Step = "pay" | "mark" | "both" | "snapshot" | "restore" | "reopen" | "checkpoint";

const steps = fc.array(
  fc.constantFrom<Step>(
    "pay",
    "pay",
    "mark",
    "both",
    "snapshot",
    "restore",
    "reopen",
    "checkpoint",
  ),
  { maxLength: 30 },
);

/** Returns the `"state"` slice's value, which a mark restores. */
const readPurse = (session: Session) => JSON.parse(session.serialize()).slices.purse;

test("takeMark() returns the state after the last mark of any session, with or without a checkpoint", async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.boolean(), async (all, isLong) => {
      const store = new MemorySessionStore();
      let session = createSession(store);
      if (isLong) pay(session, 1_000);
      pay(session);
      let [marked, isChanged]: [unknown, boolean] = [null, false];
      let snapshot: Snapshot | null = null;
      for (const [index, step] of all.entries()) {
        const before = store.records("s").length;
        if (step === "pay") pay(session);
        else if (step === "mark") close(session, index);
        else if (step === "both") {
          session.dispatch({ type: "PurseClosed", at: index }, { type: "CoinPaid", cents: 1 });
        } else if (step === "snapshot") snapshot = session.snapshot();
        else if (step === "restore" && snapshot) session.restore(snapshot);
        else if (step === "checkpoint") await storeCheckpoint(session);
        else if (step === "reopen") {
          await session.flush();
          session = await Session.open(store, "s", slices);
        }
        await session.flush();
        const isWritten = store.records("s").length > before;
        if (step === "mark" || step === "both") [marked, isChanged] = [readPurse(session), false];
        else if (isWritten) isChanged = true;
      }
      await session.flush();
      const opened = await Session.open(store, "s", slices);
      const mark = opened[storedSession]?.takeMark() ?? null;
      expect(mark !== null).toBe(marked !== null && isChanged);
      if (mark) opened.restore(mark);
      if (marked !== null) expect(readPurse(opened)).toEqual(marked);
      await opened.flush();
      expect((await Session.open(store, "s", slices)).serialize()).toBe(opened.serialize());
    }),
    { numRuns: 50 },
  );
});
