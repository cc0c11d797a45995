import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Clock, systemClock } from "../base/clock.ts";
import { thisProcess } from "../host/process-identity.ts";
import { lockHolders, type SessionFileLock, takeLock } from "./session-file-lock.ts";

let folder: string;
let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "wink-lock-"));
  folder = join(root, "s.lock");
});
afterEach(() => rm(root, { recursive: true }));

const own = thisProcess();
const isLock = (taken: object): taken is SessionFileLock => "release" in taken;

async function lockOrFail(clock: Clock = systemClock): Promise<SessionFileLock> {
  const taken = await takeLock(folder, clock);
  if (!isLock(taken)) throw new Error(`held by ${taken.path}`);
  return taken;
}

/** A file such as another one would have put down. */
async function putDown(name: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), "");
}

test("a lock is had by one at a time, and says which process that is", async () => {
  const lock = await lockOrFail();
  expect(await takeLock(folder, systemClock)).toMatchObject(own);
  expect(await lockHolders(folder)).toMatchObject([own]);
  await lock.release();
  expect(await lockHolders(folder)).toEqual([]);
  await (await lockOrFail()).release();
  expect(await readdir(root)).toEqual([]); // nothing is left behind
});

test("whoever is refused leaves the lock as it was", async () => {
  const lock = await lockOrFail();
  const before = await readdir(folder);
  await takeLock(folder, systemClock);
  expect(await readdir(folder)).toEqual(before);
  await lock.release();
});

test("of many who want it at once, exactly one gets it", async () => {
  for (let round = 0; round < 10; round++) {
    const all = await Promise.all(Array.from({ length: 8 }, () => takeLock(folder, systemClock)));
    const locks = all.filter(isLock);
    expect(locks).toHaveLength(1);
    await locks[0]?.release();
  }
});

test("what dead processes left is cleared away", async () => {
  await putDown(`${own.pid}.before.00000000.${own.host}`);
  await putDown(`999999999.${own.started}.00000000.${own.host}`);
  const lock = await lockOrFail();
  expect(await readdir(folder)).toHaveLength(1);
  await lock.release();
});

test("what a process of another machine left is respected", async () => {
  await putDown("1.then.00000000.elsewhere");
  expect(await takeLock(folder, systemClock)).toMatchObject({ pid: 1, host: "elsewhere" });
});

test("files that are no locks are left alone", async () => {
  await putDown("notes.txt");
  const lock = await lockOrFail();
  await lock.release();
  expect(await readdir(folder)).toEqual(["notes.txt"]);
});

test("one whose name comes first waits a little for the others to go", async () => {
  const name = "9999999999.x.ffffffff.elsewhere";
  await putDown(name);
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

test("and no longer than that", async () => {
  await putDown("9999999999.x.ffffffff.elsewhere");
  let slept = 0;
  const clock: Clock = {
    now: () => 0,
    async sleep(ms) {
      slept += ms;
    },
  };
  expect(await takeLock(folder, clock)).toMatchObject({ host: "elsewhere" });
  expect(slept).toBeLessThanOrEqual(200);
});

test("a lock can be let go without waiting, once or twice", async () => {
  const lock = await lockOrFail();
  lock.releaseNow();
  lock.releaseNow();
  expect(await readdir(root)).toEqual([]);
});

test("a place where no folder can be is an error", async () => {
  await writeFile(folder, "");
  await expect(takeLock(folder, systemClock)).rejects.toThrow("EEXIST");
  await expect(lockHolders(folder)).rejects.toThrow("ENOTDIR");
});
