import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { logSlice } from "../session/log-slice.ts";
import { Session } from "../session/session.ts";
import { SessionStoreError } from "../session/session-store.ts";
import { defineSlice } from "../session/slice.ts";
import { JsonlSessionStore } from "./jsonl-session-store.ts";

interface StoneLaid {
  readonly type: "StoneLaid";
  readonly kg: number;
}

declare module "../session/event-map.ts" {
  interface EventMap {
    StoneLaid: StoneLaid;
  }
}

const laid = (kg: number): StoneLaid => ({ type: "StoneLaid", kg });
const wall = defineSlice<readonly number[]>("wall", {
  initial: [],
  on: { StoneLaid: (stones, { kg }) => [...stones, kg] },
});
const work = logSlice("work", "StoneLaid");
const slices = [wall, work];

let directory: string;
let opened: JsonlSessionStore[];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "wink-store-"));
  opened = [];
});
afterEach(async () => {
  for (const store of opened) await store.close();
  await rm(directory, { recursive: true });
});

function storeIn(): JsonlSessionStore {
  const store = new JsonlSessionStore(directory);
  opened.push(store);
  return store;
}

const fileOf = (id: string) => join(directory, `${id}.jsonl`);

async function recordsOf(store: JsonlSessionStore, id: string): Promise<object[]> {
  const records: object[] = [];
  for await (const record of store.read(id)) records.push(record);
  return records;
}

describe("a second writer", () => {
  test("of this process is refused until the first store is closed", async () => {
    const [first, second] = [storeIn(), storeIn()];
    await first.append("a", { n: 1 });
    const refused = second.append("a", { n: 2 });
    await expect(refused).rejects.toThrow(SessionStoreError);
    await expect(refused).rejects.toThrow(
      'Session "a" is being written by another store of this process: share one store, or close ' +
        "the other one first",
    );
    await expect(second.delete("a")).rejects.toThrow("is being written by");
    expect(await recordsOf(second, "a")).toEqual([{ n: 1 }]); // reading needs no lock
    await second.append("b", {}); // nor do other sessions
    await first.close();
    await second.append("a", { n: 2 });
    expect(await recordsOf(second, "a")).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test("of another process is refused until that one is killed", async () => {
    const child = await writerProcess("setInterval(() => {}, 1000)");
    const store = storeIn();
    const refused = store.append("a", { n: 2 });
    await expect(refused).rejects.toThrow(SessionStoreError);
    await expect(refused).rejects.toThrow(
      new RegExp(
        `is being written by process ${child.pid} on .*; if it is gone, delete ${directory}`,
      ),
    );
    child.kill("SIGKILL");
    await once(child, "exit");
    await store.append("a", { n: 2 });
    expect(await recordsOf(store, "a")).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test("finds no lock where a process has ended by itself", async () => {
    const child = await writerProcess("process.exit(0)");
    if (child.exitCode === null) await once(child, "exit");
    expect(await readdir(directory)).toEqual(["a.jsonl"]);
  });

  test("is refused where the first one has written to the file since", async () => {
    const store = storeIn();
    await store.append("a", { n: 1 });
    await appendFile(fileOf("a"), '{"n":2}\n'); // by one who heeds no lock
    await expect(store.append("a", { n: 3 })).rejects.toThrow(
      'Session "a" has changed in its store since it was read: open it anew with Session.open',
    );
    await store.append("a", { n: 3 });
    expect(await recordsOf(store, "a")).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });
});

describe("a session in a store of lines", () => {
  test("is there after the process, logs and rollbacks and all", async () => {
    const first = storeIn();
    const session = new Session({ id: "s", store: first }).register(wall).register(work);
    session.dispatch(laid(1));
    const snapshot = session.snapshot();
    session.dispatch(laid(2));
    session.restore(snapshot);
    await session.flush();
    await first.close();
    const again = await Session.open(storeIn(), "s", slices);
    expect(again.serialize()).toBe(session.serialize());
    again.dispatch(laid(3));
    await again.flush();
    expect((await Session.open(storeIn(), "s", slices)).get(wall)).toEqual([1, 3]);
  });

  test("that was opened anew goes on; the older object is told to stop", async () => {
    const store = storeIn();
    const old = new Session({ id: "s", store }).register(wall).register(work);
    old.dispatch(laid(1));
    await old.flush();
    const renewed = await Session.open(store, "s", slices);
    renewed.dispatch(laid(2));
    await renewed.flush();
    for (const kg of [7, 8, 9]) old.dispatch(laid(kg));
    await expect(old.flush()).rejects.toThrow("has changed in its store since it was read");
    renewed.dispatch(laid(3));
    await renewed.flush();
    expect((await Session.open(store, "s", slices)).get(wall)).toEqual([1, 2, 3]);
  });

  test("that was opened before another wrote to it must be opened anew", async () => {
    const store = storeIn();
    const session = new Session({ id: "s", store }).register(wall).register(work);
    await session.flush();
    const idle = await Session.open(store, "s", slices);
    session.dispatch(laid(1));
    await session.flush();
    for (const kg of [7, 8]) idle.dispatch(laid(kg));
    await expect(idle.flush()).rejects.toThrow(SessionStoreError);
    session.dispatch(laid(2));
    await session.flush();
    expect((await Session.open(store, "s", slices)).get(wall)).toEqual([1, 2]);
  });

  test("that was deleted does not come back in pieces", async () => {
    const store = storeIn();
    const session = new Session({ id: "s", store }).register(wall).register(work);
    session.dispatch(laid(1));
    await session.flush();
    await store.delete("s");
    session.dispatch(laid(2));
    await expect(session.flush()).rejects.toThrow(SessionStoreError);
    expect(await store.list()).toEqual([]);
    expect(await recordsOf(store, "s")).toEqual([]);
  });
});

/** A process that has written a record to "a", then does `rest`. */
async function writerProcess(rest: string) {
  const module = JSON.stringify(new URL("./jsonl-session-store.ts", import.meta.url).href);
  const code = `
    const { JsonlSessionStore } = await import(${module});
    await new JsonlSessionStore(${JSON.stringify(directory)}).append("a", { n: 1 });
    console.log("written");
    ${rest}`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return child;
}
