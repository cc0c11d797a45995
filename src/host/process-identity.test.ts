import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import { isRunning, parseProcessStat, thisProcess } from "./process-identity.ts";

const run = promisify(execFile);
const isLinux = process.platform === "linux";

test("this process runs, and says always the same of itself", () => {
  expect(thisProcess()).toEqual(thisProcess());
  expect(thisProcess().pid).toBe(process.pid);
  expect(isRunning(thisProcess())).toBe(true);
});

test("a process that had our number before us is gone", () => {
  expect(isRunning({ ...thisProcess(), started: "before" })).toBe(false);
});

test("a process of another machine is taken to run: nobody can ask it", () => {
  expect(isRunning({ pid: 1, started: "then", host: "elsewhere" })).toBe(true);
});

test("a process that has ended is gone", async () => {
  const { stdout } = await run(process.execPath, ["-p", "process.pid"]);
  expect(isRunning({ ...thisProcess(), pid: Number(stdout) })).toBe(false);
});

test("another process that has the number of one that ended is not that one", async () => {
  const other = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  await once(other, "spawn");
  const { pid = 0 } = other;
  const asSeenFromThere = { ...thisProcess(), pid: -1 }; // so that it is looked up
  const holder = { ...thisProcess(), pid };
  expect(isRunning({ ...holder, started: "before" }, asSeenFromThere)).toBe(!isLinux);
  other.kill("SIGKILL");
  await once(other, "exit");
  expect(isRunning(holder)).toBe(false);
});

test("this process is recognised also by another one", () => {
  expect(isRunning(thisProcess(), { ...thisProcess(), pid: -1 })).toBe(true);
});

test.runIf(isLinux)("a process that ended, and that nobody buried, is gone", async () => {
  // The shell becomes a sleep, which does not know of the child and never asks after it.
  const parent = spawn("sh", ["-c", "sleep 0.05 & echo $!; exec sleep 60"]);
  const [line] = (await once(parent.stdout, "data")) as [Buffer];
  const pid = Number(line.toString());
  await vi.waitFor(async () => {
    expect(await readFile(`/proc/${pid}/stat`, "latin1")).toContain(") Z ");
  }, 30_000);
  expect(isRunning({ ...thisProcess(), pid })).toBe(false);
  parent.kill("SIGKILL");
  await once(parent, "exit");
});

test.each([
  ["EPERM", true],
  ["ENOSYS", true],
  ["ESRCH", false],
])("a process that /proc does not show runs if a signal to it fails with %s: %s", (code, runs) => {
  const kill = vi.spyOn(process, "kill").mockImplementation(() => {
    throw Object.assign(new Error("kill"), { code });
  });
  onTestFinished(() => kill.mockRestore());
  expect(isRunning({ ...thisProcess(), pid: 999_999_999 })).toBe(runs);
});

test("a number that no process can have is not running", () => {
  expect(isRunning({ ...thisProcess(), pid: 2 ** 31 })).toBe(false);
});

test("/proc/PID/stat is read from behind the program's name", () => {
  const text = `7 (a) Z (b) S 3 5 ${"0 ".repeat(16)}4711 0`;
  expect(parseProcessStat(text)).toEqual({ parent: 3, group: 5, startTicks: 4711, isDead: false });
  expect(parseProcessStat(text.replace(") S", ") Z"))?.isDead).toBe(true);
  expect(parseProcessStat("7 (a) S 3 5")).toBeNull();
  expect(parseProcessStat("")).toBeNull();
});
