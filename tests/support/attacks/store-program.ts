/** Runs steps on a session store, as another user if asked to, and prints what happened. Started by `runStore()`. */
import { createInterface } from "node:readline";
import { JsonlSessionStore, SqliteSessionStore } from "../../../src/stores/index.ts";
import type { StoreOrder, StoreOutcome, StoreResult, StoreStep } from "./store-process.ts";

const order: StoreOrder = JSON.parse(process.argv[2] ?? "");
process.umask(order.umask ?? 0o022);
if (order.as === "user") {
  // After the imports: an ordinary user may not be able to read the checkout.
  process.setgroups?.([]);
  process.setgid?.(order.uid ?? 65534);
  process.setuid?.(order.uid ?? 65534);
}
const store =
  order.store === "sqlite"
    ? new SqliteSessionStore(`${order.directory}/sessions.sqlite`)
    : new JsonlSessionStore(order.directory, { onRepair: () => {} });
const results: StoreResult[] = [];
for (const step of order.steps) results.push(await attempt(step));
const peakBytes = process.resourceUsage().maxRSS * 1024;
process.stdout.write(JSON.stringify({ results, peakBytes } satisfies StoreOutcome));

async function attempt(step: StoreStep): Promise<StoreResult> {
  try {
    return { value: (await perform(step)) ?? null };
  } catch (error) {
    const { name, message } = error as Error;
    return { error: name, message };
  }
}

async function perform([what, id = "", record = {}]: StoreStep): Promise<unknown> {
  if (what === "append") return await store.append(id, record);
  if (what === "claim") return (await store.claim(id)).fence;
  if (what === "read") return await readAll(id);
  if (what === "list") return await store.list();
  if (what === "delete") return await store.delete(id);
  if (what === "close") return await store.close();
  process.stdout.write("waiting\n");
  const lines = createInterface({ input: process.stdin });
  for await (const _line of lines) break;
  process.stdin.destroy();
  return null;
}

async function readAll(id: string): Promise<readonly object[]> {
  const records: object[] = [];
  for await (const record of store.read(id)) records.push(record);
  return records;
}
