/**
 * Writes a session until the process is killed, and prints a line after each flush:
 * `node tests/support/session-crash-writer.ts DIRECTORY ID STORE`.
 */
import { writeSync } from "node:fs";
import { defineSlice } from "../../src/session/define-slice.ts";
import { Session } from "../../src/session/session.ts";
import { openStormStore, type StormStore } from "./storm/storm-store.ts";

interface StepTaken {
  readonly type: "StepTaken";
  readonly step: number;
  /**
   * Makes some records so long that they take several writes, so that a kill may come between them.
   */
  readonly padding: string;
}

declare module "../../src/session/event-map.ts" {
  interface EventMap {
    StepTaken: StepTaken;
  }
}

const path = defineSlice<readonly number[]>("path", {
  initial: [],
  on: { StepTaken: (steps, { step }) => [...steps, step] },
});
const weight = defineSlice("weight", {
  initial: { bytes: 0 },
  on: { StepTaken: ({ bytes }, { padding }) => ({ bytes: bytes + padding.length }) },
});
/** Every step, including rolled-back ones. */
export const steps = defineSlice<readonly number[]>("steps", {
  initial: [],
  on: { StepTaken: (all, { step }) => [...all, step] },
  policy: "log",
});
export const slices = [path, weight, steps];

/** Continues the session change by change. Some steps are rolled back. */
export function* walk(session: Session): Generator<void> {
  for (let step = session.get(steps).length; ; step++) {
    const before = session.snapshot();
    const length = step % 7 === 3 ? 1_500_000 : (step * 7919) % 3_000;
    session.dispatch({ type: "StepTaken", step, padding: "x".repeat(length) });
    yield;
    if (step % 3 !== 1) continue;
    session.restore(before);
    yield;
  }
}

if (import.meta.main) {
  const [, , directory = "", id = "", kind = ""] = process.argv;
  const { store } = await openStormStore(kind as StormStore, directory);
  const isThere = (await store.list()).includes(id);
  const session = isThere ? await Session.open(store, id, slices) : new Session({ store, id });
  for (const slice of slices) session.register(slice);
  await session.flush();
  let changes = 0;
  writeSync(1, `${changes}\n`);
  for (const _change of walk(session)) {
    changes += 1;
    if (changes % 4 === 2) continue; // the next flush covers two changes
    await session.flush();
    writeSync(1, `${changes}\n`);
  }
}
