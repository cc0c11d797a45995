/**
 * Claims a session and obeys the lines of its input: `write` appends a record, `release` ends the claim. Prints a line
 * for each result: `node tests/support/stores/store-holder-main.ts FOLDER ID STORE`.
 */
import { once } from "node:events";
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { SessionStoreError } from "../../../src/session/session-store.ts";
import { openStormStore, type StormStore } from "../storm/storm-store.ts";

const [, , folder = "", id = "", kind = ""] = process.argv;
const { store, close } = await openStormStore(kind as StormStore, folder);
const writer = {};
const claim = await report(async () => {
  const held = await store.claim?.(id, { owner: `holder ${process.pid}` });
  print({ claimed: true, fence: held?.fence, records: held?.records ?? null });
  return held;
});
let position = claim?.records ?? 0;
const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => void report(() => obey(line)));
await once(lines, "close");
await close();

async function obey(line: string): Promise<void> {
  if (line === "write") {
    const by = { writer, position, fence: claim?.fence };
    await store.append(id, { n: position, by: process.pid }, by);
    position += 1;
    print({ written: position });
  } else {
    await claim?.release();
    print({ released: true });
  }
}

async function report<Result>(work: () => Promise<Result>): Promise<Result | null> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SessionStoreError)) throw error;
    print({ owner: error.owner, since: error.since, message: error.message });
    return null;
  }
}

function print(result: object): void {
  writeSync(1, `${JSON.stringify(result)}\n`);
}
