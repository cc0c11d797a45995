import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Clock, systemClock } from "../base/clock.ts";
import { identifyCurrentProcess } from "../host/process-identity.ts";
import {
  acquireLock,
  listLockHolders,
  readHolder,
  type SessionFileLock,
} from "./session-file-lock.ts";

let folder: string;
let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "wink-lock-"));
  folder = join(root, "s.lock");
});
afterEach(() => rm(root, { recursive: true }));

const own = identifyCurrentProcess();
const holder = { owner: "worker 7", since: "2026-11-17T00:00:00.000Z" };
const isLock = (taken: object): taken is SessionFileLock => "release" in taken;

async function lockOrFail(clock: Clock = systemClock): Promise<SessionFileLock> {
  const taken = await acquireLock(folder, clock, holder);
  if (!isLock(taken)) throw new Error(`held by ${taken.path}`);
  return taken;
}

/** Creates another applicant's file. */
async function createLockFile(name: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), "");
}

test("acquireLock() admits one holder at a time and identifies its process", async () => {
  const lock = await lockOrFail();
  expect(await acquireLock(folder, systemClock, holder)).toMatchObject(own);
  expect(await listLockHolders(folder)).toMatchObject([own]);
  await lock.release();
  expect(await listLockHolders(folder)).toEqual([]);
  await (await lockOrFail()).release();
  expect(await readdir(root)).toEqual([]); // no files are left behind
});

test("acquireLock() leaves the lock unchanged if it is rejected", async () => {
  const lock = await lockOrFail();
  const before = await readdir(folder);
  await acquireLock(folder, systemClock, holder);
  expect(await readdir(folder)).toEqual(before);
  await lock.release();
});

test("acquireLock() succeeds for a single applicant out of many", async () => {
  for (let round = 0; round < 10; round++) {
    const all = await Promise.all(
      Array.from({ length: 8 }, () => acquireLock(folder, systemClock, holder)),
    );
    const locks = all.filter(isLock);
    expect(locks).toHaveLength(1);
    await locks[0]?.release();
  }
});

test("acquireLock() removes the files of dead processes", async () => {
  await createLockFile(`${own.pid}.before.00000000.${own.host}`);
  await createLockFile(`999999999.${own.started}.00000000.${own.host}`);
  const lock = await lockOrFail();
  expect(await readdir(folder)).toHaveLength(1);
  await lock.release();
});

test("acquireLock() respects the lock of a process on a different host", async () => {
  await createLockFile("1.then.00000000.elsewhere");
  expect(await acquireLock(folder, systemClock, holder)).toMatchObject({
    pid: 1,
    host: "elsewhere",
  });
});

test("acquireLock() ignores files that are not locks", async () => {
  await createLockFile("notes.txt");
  const lock = await lockOrFail();
  await lock.release();
  expect(await readdir(folder)).toEqual(["notes.txt"]);
});

test("acquireLock() waits briefly for other applicants if its name sorts first", async () => {
  const name = "9999999999.x.ffffffff.elsewhere";
  await createLockFile(name);
  let sleeps = 0;
  const clock: Clock = {
    now: () => 0,
    async sleep() {
      sleeps += 1;
      if (sleeps === 3) await rm(join(folder, name));
    },
  };
  const lock = await lockOrFail(clock);
  expect(sleeps).toBe(3);
  await lock.release();
});

test("acquireLock() stops waiting after 200 ms", async () => {
  await createLockFile("9999999999.x.ffffffff.elsewhere");
  let slept = 0;
  const clock: Clock = {
    now: () => 0,
    async sleep(ms) {
      slept += ms;
    },
  };
  expect(await acquireLock(folder, clock, holder)).toMatchObject({ host: "elsewhere" });
  expect(slept).toBeLessThanOrEqual(200);
});

test("releaseNow() releases the lock synchronously and can be called twice", async () => {
  const lock = await lockOrFail();
  lock.releaseNow();
  lock.releaseNow();
  expect(await readdir(root)).toEqual([]);
});

test("acquireLock() throws if the lock is a file", async () => {
  await writeFile(folder, "");
  const message = `its lock ${folder} is a symlink or a file, not a folder`;
  await expect(acquireLock(folder, systemClock, holder)).rejects.toThrow(message);
  await expect(listLockHolders(folder)).rejects.toThrow(message);
});

test("acquireLock() throws if the folder cannot be created", async () => {
  await writeFile(join(root, "file"), "");
  const below = join(root, "file", "s.lock");
  await expect(acquireLock(below, systemClock, holder)).rejects.toThrow("EEXIST");
});

test("isHeld() finds that the lock's file was removed", async () => {
  const lock = await lockOrFail();
  expect(await lock.isHeld()).toBe(true);
  await rm(folder, { recursive: true });
  expect(await lock.isHeld()).toBe(false);
  await lock.release();
});

test("readHolder() returns what the holder has written", async () => {
  const lock = await lockOrFail();
  const [found] = await listLockHolders(folder);
  if (!found) throw new Error("no holder");
  expect(await readHolder(found)).toEqual({ ...holder, path: found.path });
  await lock.release();
  // It was released while it was being read.
  expect(await readHolder(found)).toMatchObject({ since: "1970-01-01T00:00:00.000Z" });
});

test.each([
  "",
  "{",
  "[]",
  '{"owner":"a"}',
  '{"owner":"\\u001b[2J","since":"2026-11-17T00:00:00.000Z"}',
  '{"owner":"a","since":"\\u001b[2J"}',
  '{"owner":"a","since":5}',
])("readHolder() falls back to the process and the file's time for %j", async (text) => {
  await createLockFile("1.then.00000000.else%20where");
  const path = join(folder, "1.then.00000000.else%20where");
  await writeFile(path, text);
  const found = await readHolder({ path, pid: 1, started: "then", host: "else%20where" });
  expect(found.owner).toBe("process 1 on else where");
  expect(Math.abs(Date.parse(found.since) - Date.now())).toBeLessThan(60_000);
});
