import { expect, test } from "vitest";
import { MemorySessionStore } from "../../../tests/support/memory-session-store.ts";
import type { SessionStore } from "../../session/session-store.ts";
import { AttemptSessionStore } from "./attempt-session-store.ts";

const claim = { fence: 3, owner: "worker 1", since: "2026-01-01T00:00:00.000Z" };

/** Creates a store whose records with `files` wait until their files are stored. */
function createStore(records?: number) {
  const memory = new MemorySessionStore();
  const appended: object[] = [];
  const waiting: { record: object; settle: PromiseWithResolvers<void> }[] = [];
  const store = {
    append: async (_id: string, record: object) => void appended.push(record),
    read: (id: string) => memory.read(id),
    list: async () => ["s"],
    delete: async (id: string) => void appended.push({ deleted: id }),
    readCheckpoint: async () => ({ records: 1 }),
    writeCheckpoint: async (_id: string, checkpoint: object) => void appended.push(checkpoint),
    claim: async () => {
      throw new Error("the attempt has the claim");
    },
  } satisfies Required<SessionStore>;
  const files = {
    namesFiles: (record: object) => "files" in record,
    storeFiles: async (record: object) => {
      const settle = Promise.withResolvers<void>();
      waiting.push({ record, settle });
      await settle.promise;
    },
  };
  const attempt = new AttemptSessionStore({ store, claim: { ...claim, records }, files });
  return { attempt, appended, waiting };
}

test("a record waits for its files, and later records wait for it", async () => {
  const { attempt, appended, waiting } = createStore(5);
  const all = Promise.all([
    attempt.append("s", { n: 0 }),
    attempt.append("s", { n: 1, files: true }),
    attempt.append("s", { n: 2 }),
    attempt.append("s", { n: 3, files: true }),
  ]);
  await expect.poll(() => waiting.length).toBe(1);
  expect(appended).toEqual([{ n: 0 }]);
  waiting[0]?.settle.resolve();
  await expect.poll(() => waiting.length).toBe(2);
  expect(appended).toEqual([{ n: 0 }, { n: 1, files: true }, { n: 2 }]);
  waiting[1]?.settle.resolve();
  await all;
  expect(appended).toHaveLength(4);
  await attempt.append("s", { n: 4 });
  expect((await attempt.claim()).records).toBe(10);
});

test("a record whose files cannot be stored is not stored", async () => {
  const { attempt, appended, waiting } = createStore();
  const failed = attempt.append("s", { n: 0, files: true });
  await expect.poll(() => waiting.length).toBe(1);
  waiting[0]?.settle.reject(new Error("no space"));
  await expect(failed).rejects.toThrow("no space");
  expect(appended).toEqual([]);
  expect((await attempt.claim()).records).toBe(0);
});

test("everything else is the store's", async () => {
  const { attempt, appended } = createStore();
  const held = await attempt.claim();
  await held.release();
  expect(held).toMatchObject(claim);
  expect(await attempt.list()).toEqual(["s"]);
  expect(await attempt.readCheckpoint("s")).toEqual({ records: 1 });
  await attempt.writeCheckpoint("s", { records: 2 });
  await attempt.delete("s");
  expect(appended).toEqual([{ records: 2 }, { deleted: "s" }]);
  for await (const record of attempt.read("s")) throw new Error(`there is ${record}`);
});
