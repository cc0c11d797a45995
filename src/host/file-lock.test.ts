import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Clock, systemClock } from "../base/clock.ts";
import { acquireLock, type FileLock, listLockHolders } from "./file-lock.ts";
import { identifyCurrentProcess } from "./process-identity.ts";

let folder: string;
let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "wink-lock-"));
  folder = join(root, "s.lock");
});
afterEach(() => rm(root, { recursive: true }));

const own = identifyCurrentProcess();
const NOTE = "worker 7";
const isLock = (taken: object): taken is FileLock => "release" in taken;

async function lockOrFail(clock: Clock = systemClock): Promise<FileLock> {
  const taken = await acquireLock(folder, clock, NOTE);
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
  expect(await acquireLock(folder, systemClock, NOTE)).toMatchObject(own);
  expect(await listLockHolders(folder)).toMatchObject([own]);
  await lock.release();
  expect(await listLockHolders(folder)).toEqual([]);
  await (await lockOrFail()).release();
  expect(await readdir(root)).toEqual([]); // no files are left behind
});

test("acquireLock() leaves the lock unchanged if it is rejected", async () => {
  const lock = await lockOrFail();
  const before = await readdir(folder);
  await acquireLock(folder, systemClock, NOTE);
  expect(await readdir(folder)).toEqual(before);
  await lock.release();
});

test("acquireLock() succeeds for a single applicant out of many", async () => {
  for (let round = 0; round < 10; round++) {
    const all = await Promise.all(
      Array.from({ length: 8 }, () => acquireLock(folder, systemClock, NOTE)),
    );
    const locks = all.filter(isLock);
    expect(locks).toHaveLength(1);
    await locks[0]?.release();
  }
});

test("acquireLock() creates the folder again if holders that release the lock remove it", async () => {
  let acquired = 0;
  const applicants = Array.from({ length: 4 }, async () => {
    for (let round = 0; round < 150; round++) {
      const taken = await acquireLock(folder, systemClock, NOTE);
      if (!isLock(taken)) continue;
      acquired++;
      await taken.release();
    }
  });
  await Promise.all(applicants); // one failed with ENOENT when the folder was removed before it was opened
  expect(acquired).toBeGreaterThan(0);
  expect(await readdir(root)).toEqual([]);
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
  expect(await acquireLock(folder, systemClock, NOTE)).toMatchObject({
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

test("acquireLock() stops waiting after 300 ms", async () => {
  await createLockFile("9999999999.x.ffffffff.elsewhere");
  let slept = 0;
  const clock: Clock = {
    now: () => 0,
    async sleep(ms) {
      slept += ms;
    },
  };
  expect(await acquireLock(folder, clock, NOTE)).toMatchObject({ host: "elsewhere" });
  expect(slept).toBeLessThanOrEqual(300);
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
  await expect(acquireLock(folder, systemClock, NOTE)).rejects.toThrow(message);
  await expect(listLockHolders(folder)).rejects.toThrow(message);
});

test("acquireLock() throws if the folder cannot be created", async () => {
  await writeFile(join(root, "file"), "");
  const below = join(root, "file", "s.lock");
  await expect(acquireLock(below, systemClock, NOTE)).rejects.toThrow("EEXIST");
});

test("isHeld() finds that the lock's file was removed", async () => {
  const lock = await lockOrFail();
  expect(await lock.isHeld()).toBe(true);
  await rm(folder, { recursive: true });
  expect(await lock.isHeld()).toBe(false);
  await lock.release();
});

test("acquireLock() returns the holder, not another applicant that is rejected too", async () => {
  const [applicant, holder] = ["0.x.00000000.elsewhere", "1.x.00000000.elsewhere"];
  await createLockFile(applicant);
  await createLockFile(holder);
  let sleeps = 0;
  const clock: Clock = {
    now: () => 0,
    async sleep() {
      sleeps += 1;
      if (sleeps === 3) await writeFile(join(folder, holder), NOTE); // it has just acquired the lock
    },
  };
  expect(await acquireLock(folder, clock, NOTE)).toMatchObject({ path: join(folder, holder) });
  expect(sleeps).toBe(3);
});

test("acquireLock() returns the last known holder if the lock was released meanwhile", async () => {
  const name = "0.x.00000000.elsewhere";
  await createLockFile(name);
  const clock: Clock = { now: () => 0, sleep: () => rm(join(folder, name)) };
  expect(await acquireLock(folder, clock, NOTE)).toMatchObject({ pid: 0, host: "elsewhere" });
  await (await lockOrFail()).release();
});

test("acquireLock() leaves nothing behind if the note cannot be written", async () => {
  const wrong = 7 as unknown as string;
  await expect(acquireLock(folder, systemClock, wrong)).rejects.toThrow("must be of type string");
  await (await lockOrFail()).release();
  expect(await readdir(root)).toEqual([]);
});
