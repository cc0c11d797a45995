import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { startStoreHolder } from "./support/stores/store-holder.ts";
import { openStormStore, type StormStore } from "./support/storm/storm-store.ts";
import { temporaryTree } from "./support/temporary-tree.ts";

const kinds: readonly StormStore[] = process.env["WINK_POSTGRES"]
  ? ["jsonl", "sqlite", "postgres"]
  : ["jsonl", "sqlite"]; // scripts/with-postgres.ts starts the third

async function readRecords(kind: StormStore, folder: string, id: string): Promise<object[]> {
  const { store, close } = await openStormStore(kind, folder);
  const records: object[] = [];
  for await (const record of store.read(id)) records.push(record);
  await close();
  return records;
}

describe.each(kinds)("processes that share the store %s", (kind) => {
  test("exactly one of five claims the session; the others learn who has it and since when", async () => {
    const [folder, id] = [temporaryTree(), crypto.randomUUID()];
    const five = await Promise.all(
      Array.from({ length: 5 }, () => startStoreHolder(kind, folder, id)),
    );
    const holders = five.filter(({ claimed }) => claimed["claimed"]);
    const [holder] = holders;
    expect(holders).toHaveLength(1);
    for (const other of five.filter((one) => one !== holder)) {
      expect(other.claimed["owner"]).toBe(`holder ${holder?.pid}`);
      const age = Date.now() - Date.parse(String(other.claimed["since"]));
      expect(age).toBeGreaterThanOrEqual(0);
      expect(age).toBeLessThan(60_000);
      expect(await other.ask("write")).toMatchObject({ owner: `holder ${holder?.pid}` });
    }
    expect(await holder?.ask("write")).toEqual({ written: 1 });
    expect(await readRecords(kind, folder, id)).toEqual([{ n: 0, by: holder?.pid }]);
  });

  test("the next process has the session at once after a kill, with a higher fence", async () => {
    const [folder, id] = [temporaryTree(), crypto.randomUUID()];
    const first = await startStoreHolder(kind, folder, id);
    await first.ask("write");
    await first.signal("SIGKILL");
    const second = await startStoreHolder(kind, folder, id);
    expect(second.claimed).toMatchObject({ claimed: true });
    expect(Number(second.claimed["fence"])).toBeGreaterThan(Number(first.claimed["fence"]));
    if (kind === "jsonl") return; // it does not count the records, so the process cannot continue
    expect(await second.ask("write")).toEqual({ written: 2 });
  });

  test("the next process has the session after it was released", async () => {
    const [folder, id] = [temporaryTree(), crypto.randomUUID()];
    const first = await startStoreHolder(kind, folder, id);
    await first.ask("write");
    expect(await first.ask("release")).toEqual({ released: true });
    const second = await startStoreHolder(kind, folder, id);
    expect(second.claimed).toMatchObject({ claimed: true });
    expect(await first.ask("write")).toMatchObject({ message: expect.any(String) });
  });
});

test.each(kinds.filter((kind) => kind !== "jsonl"))(
  "a process that was stopped beyond its lease cannot write in %s after another has claimed the session",
  { timeout: 120_000 },
  async (kind) => {
    const [folder, id] = [temporaryTree(), crypto.randomUUID()];
    const stopped = await startStoreHolder(kind, folder, id);
    await stopped.ask("write");
    await stopped.signal("SIGSTOP");
    await setTimeout(15_500); // the default lease
    const next = await startStoreHolder(kind, folder, id);
    expect(await next.ask("write")).toEqual({ written: 2 });
    await stopped.signal("SIGCONT");
    expect(await stopped.ask("write")).toMatchObject({ owner: `holder ${next.pid}` });
    expect(await next.ask("write")).toEqual({ written: 3 });
    expect(await readRecords(kind, folder, id)).toEqual([
      { n: 0, by: stopped.pid },
      { n: 1, by: next.pid },
      { n: 2, by: next.pid },
    ]);
  },
);
