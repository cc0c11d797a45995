import type { SessionStore } from "../../session/session-store.ts";
import { expectSame } from "../contract/expect.ts";
import { claim, expectRecords, expectRefusal, type StoreCase } from "./store-case.ts";

/** Cases about checkpoints. */
export const checkpointCases: readonly StoreCase[] = [
  {
    name: "has no checkpoint until one is written",
    async check({ store }) {
      await expectCheckpoint(store, null);
      await store.append("s", { n: 0 });
      await expectCheckpoint(store, null);
    },
  },
  {
    name: "replaces the checkpoint, byte for byte, and keeps it apart from the records",
    async check({ store, openAnother }) {
      await store.append("s", { n: 0 });
      const first = { b: 1, a: "\u0000\ud800", big: "x".repeat(2_000_000) };
      const second = { a: [null, "\u2028"], b: {} };
      for (const checkpoint of [first, second]) {
        await writeCheckpoint(store, checkpoint);
        await expectCheckpoint(store, checkpoint);
        await expectCheckpoint(await openAnother(), checkpoint);
      }
      await expectRecords(store, "s", [{ n: 0 }]);
      expectSame(await store.list(), ["s"], "the sessions");
    },
  },
  {
    name: "deletes the checkpoint with its session",
    async check({ store }) {
      await store.append("s", { n: 0 });
      await writeCheckpoint(store, { n: 1 });
      await store.delete("s");
      await expectCheckpoint(store, null);
      await store.append("s", { n: 0 });
      await expectCheckpoint(store, null);
    },
  },
];

/** Cases about checkpoints of a store that also has claims. */
export const claimedCheckpointCases: readonly StoreCase[] = [
  {
    name: "refuses a checkpoint with the fence of an earlier claim",
    async check({ store }) {
      const first = await claim(store, "s");
      const old = { writer: {}, position: 0, fence: first.fence };
      await store.append("s", { n: 0 }, old);
      await writeCheckpoint(store, { by: "first" }, { ...old, position: 1 });
      await first.release();
      const second = await claim(store, "s");
      await expectRefusal(writeCheckpoint(store, { by: "old" }, { ...old, position: 1 }));
      await expectCheckpoint(store, { by: "first" });
      const by = { writer: {}, position: 1, fence: second.fence };
      await writeCheckpoint(store, { by: "second" }, by);
      await expectCheckpoint(store, { by: "second" });
      await second.release();
    },
  },
];

async function writeCheckpoint(
  store: SessionStore,
  ...[checkpoint, by]: readonly [object, { writer: object; position: number; fence: number }?]
): Promise<void> {
  if (!store.writeCheckpoint) throw createMissingError("writeCheckpoint");
  await store.writeCheckpoint("s", checkpoint, by);
}

async function expectCheckpoint(store: SessionStore, expected: object | null): Promise<void> {
  if (!store.readCheckpoint) throw createMissingError("readCheckpoint");
  const checkpoint = await store.readCheckpoint("s");
  expectSame(JSON.stringify(checkpoint), JSON.stringify(expected), "the checkpoint");
}

function createMissingError(method: string): Error {
  return new Error(`The store has no ${method}(). Pass { checkpoints: false }.`);
}
