import { expectSame } from "../contract/expect.ts";
import { claim, expectHeld, expectRecords, expectRefusal, type StoreCase } from "./store-case.ts";

/** Cases about claims: who may write a session. */
export const claimCases: readonly StoreCase[] = [
  {
    name: "claims a session with a fence, an owner and the time, and does not create it",
    async check({ store }) {
      const before = Date.now();
      const held = await claim(store, "s", "worker 7");
      expectSame(held.owner, "worker 7", "the owner");
      expectSame(Number.isSafeInteger(held.fence), true, "whether the fence is an integer");
      const since = Date.parse(held.since);
      // A database may have another clock.
      const isNear = Math.abs(since - before) < 24 * 60 * 60 * 1000;
      expectSame([new Date(since).toISOString(), isNear], [held.since, true], "the time");
      expectSame(held.records ?? 0, 0, "the number of records");
      expectSame(await store.list(), [], "the sessions");
      await held.release();
      const named = await claim(store, "s");
      expectSame(named.owner.length > 0, true, "whether there is an owner by default");
      await named.release();
      expectSame(await store.list(), [], "the sessions");
    },
  },
  {
    name: "counts the records when a session is claimed, if it counts them",
    async check({ store }) {
      for (const n of [0, 1, 2]) await store.append("s", { n });
      const held = await claim(store, "s");
      expectSame(held.records ?? 3, 3, "the number of records");
      await store.append("s", { n: 3 }, { writer: {}, position: 3, fence: held.fence });
      await held.release();
      const again = await claim(store, "s");
      expectSame(again.records ?? 4, 4, "the number of records");
      await again.release();
    },
  },
  {
    name: "refuses a second claim while the first is held, and names its owner and time",
    async check({ store, openAnother }) {
      const held = await claim(store, "s", "the first");
      for (const other of [store, await openAnother()]) {
        const refusal = await expectRefusal(claim(other, "s", "the second"));
        expectSame(refusal.sessionId, "s", "the session that the error names");
        expectHeld(refusal, held);
      }
      await held.release();
    },
  },
  {
    name: "raises the fence with every claim, also of another store",
    async check({ store, openAnother }) {
      const stores = [store, store, await openAnother(), store];
      const fences: number[] = [];
      for (const one of stores) {
        const held = await claim(one, "s");
        await held.release();
        fences.push(held.fence);
      }
      const sorted = [...new Set(fences)].sort((a, b) => a - b);
      expectSame(fences, sorted, "the fences");
    },
  },
  {
    name: "accepts one of ten claims that are made at once",
    async check({ store }) {
      const claims = Array.from({ length: 10 }, () => claim(store, "s"));
      const settled = await Promise.allSettled(claims);
      const held = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      expectSame(held.length, 1, "the number of accepted claims");
      for (const one of held) await one.release();
      await (await claim(store, "s")).release();
    },
  },
  {
    name: "ends a claim once: releasing it again does not end a later one",
    async check({ store }) {
      const first = await claim(store, "s");
      await first.release();
      await first.release();
      const second = await claim(store, "s");
      await first.release();
      expectHeld(await expectRefusal(claim(store, "s")), second);
      await second.release();
    },
  },
  {
    name: "claims sessions independently of each other",
    async check({ store }) {
      const held = await Promise.all(["a", "A", "b"].map((id) => claim(store, id)));
      await Promise.all(held.map((one) => one.release()));
    },
  },
  {
    name: "refuses records with the fence of an earlier claim",
    async check({ store }) {
      const first = await claim(store, "s");
      const [old, current] = [{}, {}];
      await store.append("s", { n: 0 }, { writer: old, position: 0, fence: first.fence });
      await first.release();
      const second = await claim(store, "s");
      const append = (writer: object, n: number, { fence }: { readonly fence: number }) =>
        store.append("s", { n }, { writer, position: n, fence });
      await expectRefusal(append(old, 1, first));
      await append(current, 1, second);
      await expectRefusal(append(old, 2, first));
      await append(current, 2, second);
      await second.release();
      await expectRefusal(append(old, 3, first));
      await expectRecords(store, "s", [{ n: 0 }, { n: 1 }, { n: 2 }]);
    },
  },
  {
    name: "refuses records without a fence while the session is claimed, and accepts them afterwards",
    async check({ store, openAnother }) {
      const held = await claim(store, "s", "the holder");
      for (const other of [store, await openAnother()]) {
        expectHeld(await expectRefusal(other.append("s", { n: 0 })), held);
        const by = { writer: {}, position: 0 };
        expectHeld(await expectRefusal(other.append("s", { n: 0 }, by)), held);
      }
      await expectRecords(store, "s", []);
      await held.release();
      await store.append("s", { n: 0 }, { writer: {}, position: 0 });
      await expectRecords(store, "s", [{ n: 0 }]);
    },
  },
  {
    name: "refuses to delete a claimed session",
    async check({ store, openAnother }) {
      await store.append("s", { n: 0 });
      const held = await claim(store, "s");
      for (const other of [store, await openAnother()]) {
        expectHeld(await expectRefusal(other.delete("s")), held);
      }
      await held.release();
      await expectRecords(store, "s", [{ n: 0 }]);
      await store.delete("s");
      expectSame(await store.list(), [], "the sessions");
    },
  },
  {
    name: "refuses the writer of a claim from before the session was deleted",
    async check({ store }) {
      const first = await claim(store, "s");
      const { fence } = first;
      const writer = {};
      await store.append("s", { n: 0 }, { writer, position: 0, fence });
      await first.release();
      await store.delete("s");
      const second = await claim(store, "s");
      const by = { writer: {}, position: 0, fence: second.fence };
      await store.append("s", { n: 0, again: true }, by);
      await expectRefusal(store.append("s", { n: 1 }, { writer, position: 1, fence }));
      await second.release();
      await expectRecords(store, "s", [{ n: 0, again: true }]);
    },
  },
];
