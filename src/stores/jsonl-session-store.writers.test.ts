import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { defineSlice } from "../session/define-slice.ts";
import { logSlice } from "../session/log-slice.ts";
import { Session } from "../session/session.ts";
import { SessionStoreError } from "../session/session-store.ts";
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

const createStoneLaid = (kg: number): StoneLaid => ({ type: "StoneLaid", kg });
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

function openStore(): JsonlSessionStore {
  const store = new JsonlSessionStore(directory);
  opened.push(store);
  return store;
}

const getFile = (id: string) => join(directory, `${id}.jsonl`);

async function readRecords(store: JsonlSessionStore, id: string): Promise<object[]> {
  const records: object[] = [];
  for await (const record of store.read(id)) records.push(record);
  return records;
}

describe("a second writer of a session", () => {
  test("in this process is rejected while another store has claimed it", async () => {
    const [first, second] = [openStore(), openStore()];
    await first.append("a", { n: 1 });
    const claim = await first.claim("a", { owner: "the night shift" });
    const refused = second.append("a", { n: 2 });
    await expect(refused).rejects.toThrow(SessionStoreError);
    await expect(refused).rejects.toThrow(
      `Session "a" is held by the night shift since ${claim.since}. Wait until it is released, or ` +
        'evaluate with ifClaimed: "wait".',
    );
    await expect(second.delete("a")).rejects.toMatchObject({ owner: "the night shift" });
    expect(await readRecords(second, "a")).toEqual([{ n: 1 }]); // reading needs no claim
    await second.append("b", {}); // other sessions are not claimed
    await first.close();
    await second.append("a", { n: 2 });
    expect(await readRecords(second, "a")).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test("in another process is rejected until that process is killed", async () => {
    const child = await startWriterProcess("setInterval(() => {}, 1000)");
    const store = openStore();
    const refused = store.append("a", { n: 2 });
    await expect(refused).rejects.toThrow(SessionStoreError);
    await expect(refused).rejects.toThrow(
      new RegExp(
        `is held by process ${child.pid} on .* since 20.*Z\\. .* If that process no longer exists, delete ${directory}`,
      ),
    );
    await expect(store.claim("a")).rejects.toMatchObject({
      owner: expect.stringContaining(`process ${child.pid} on `),
      since: expect.stringMatching(/^20.*Z$/),
    });
    child.kill("SIGKILL");
    await once(child, "exit");
    const claim = await store.claim("a");
    expect(claim).toMatchObject({ records: 1, owner: expect.stringContaining("process ") });
    await claim.release();
    await store.append("a", { n: 2 });
    expect(await readRecords(store, "a")).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test("finds no lock after a process has exited normally", async () => {
    const child = await startWriterProcess("process.exit(0)");
    if (child.exitCode === null) await once(child, "exit");
    expect((await readdir(directory)).sort()).toEqual(["a.claim", "a.jsonl"]);
  });

  test("is rejected if another program has written to the file", async () => {
    const store = openStore();
    await store.append("a", { n: 1 });
    await appendFile(getFile("a"), '{"n":2}\n'); // another program ignores the lock
    await expect(store.append("a", { n: 3 })).rejects.toThrow(
      'Session "a" has changed in its store since it was read. Reopen it with Session.open',
    );
    await store.append("a", { n: 3 });
    expect(await readRecords(store, "a")).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });
});

describe("a session in a JsonlSessionStore", () => {
  test("is restored after the process ends, with logs and rollbacks", async () => {
    const first = openStore();
    const session = new Session({ id: "s", store: first }).register(wall).register(work);
    session.dispatch(createStoneLaid(1));
    const snapshot = session.snapshot();
    session.dispatch(createStoneLaid(2));
    session.restore(snapshot);
    await session.flush();
    await first.close();
    const again = await Session.open(openStore(), "s", slices);
    expect(again.serialize()).toBe(session.serialize());
    again.dispatch(createStoneLaid(3));
    await again.flush();
    expect((await Session.open(openStore(), "s", slices)).get(wall)).toEqual([1, 3]);
  });

  test("continues in the reopened object while the older object is rejected", async () => {
    const store = openStore();
    const old = new Session({ id: "s", store }).register(wall).register(work);
    old.dispatch(createStoneLaid(1));
    await old.flush();
    const renewed = await Session.open(store, "s", slices);
    renewed.dispatch(createStoneLaid(2));
    await renewed.flush();
    for (const kg of [7, 8, 9]) old.dispatch(createStoneLaid(kg));
    await expect(old.flush()).rejects.toThrow("has changed in its store since it was read");
    renewed.dispatch(createStoneLaid(3));
    await renewed.flush();
    expect((await Session.open(store, "s", slices)).get(wall)).toEqual([1, 2, 3]);
  });

  test("is rejected if another object wrote to it since it was opened", async () => {
    const store = openStore();
    const session = new Session({ id: "s", store }).register(wall).register(work);
    await session.flush();
    const idle = await Session.open(store, "s", slices);
    session.dispatch(createStoneLaid(1));
    await session.flush();
    for (const kg of [7, 8]) idle.dispatch(createStoneLaid(kg));
    await expect(idle.flush()).rejects.toThrow(SessionStoreError);
    session.dispatch(createStoneLaid(2));
    await session.flush();
    expect((await Session.open(store, "s", slices)).get(wall)).toEqual([1, 2]);
  });

  test("is not partly recreated after it was deleted", async () => {
    const store = openStore();
    const session = new Session({ id: "s", store }).register(wall).register(work);
    session.dispatch(createStoneLaid(1));
    await session.flush();
    await store.delete("s");
    session.dispatch(createStoneLaid(2));
    await expect(session.flush()).rejects.toThrow(SessionStoreError);
    expect(await store.list()).toEqual([]);
    expect(await readRecords(store, "s")).toEqual([]);
  });
});

/** Starts a process that writes a record to "a", claims it, and then runs `rest`. */
async function startWriterProcess(rest: string) {
  const module = JSON.stringify(new URL("./jsonl-session-store.ts", import.meta.url).href);
  const code = `
    const { JsonlSessionStore } = await import(${module});
    const store = new JsonlSessionStore(${JSON.stringify(directory)});
    await store.append("a", { n: 1 });
    await store.claim("a");
    console.log("written");
    ${rest}`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return child;
}

test("a store releases its sessions when its process exits", async () => {
  const before = new Set(process.listeners("exit"));
  const store = new JsonlSessionStore(directory);
  const next = new JsonlSessionStore(directory);
  opened.push(store, next);
  const { fence } = await store.claim("s");
  await expect(next.claim("s")).rejects.toThrow(SessionStoreError);
  const [onExit] = process.listeners("exit").filter((listener) => !before.has(listener));
  onExit?.(0);
  expect((await next.claim("s")).fence).toBeGreaterThan(fence);
});
