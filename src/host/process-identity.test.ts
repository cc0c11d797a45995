import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import { identifyCurrentProcess, isRunning, parseProcessStat } from "./process-identity.ts";

const run = promisify(execFile);
const isLinux = process.platform === "linux";

test("identifyCurrentProcess() returns the same identity each time, and isRunning() is true for it", () => {
  expect(identifyCurrentProcess()).toEqual(identifyCurrentProcess());
  expect(identifyCurrentProcess().pid).toBe(process.pid);
  expect(isRunning(identifyCurrentProcess())).toBe(true);
});

test("isRunning() is false for an earlier process that had this pid", () => {
  expect(isRunning({ ...identifyCurrentProcess(), started: "before" })).toBe(false);
});

test("isRunning() is true for a process on a different host, which cannot be checked", () => {
  expect(isRunning({ pid: 1, started: "then", host: "elsewhere" })).toBe(true);
});

test("isRunning() is false for a process that has exited", async () => {
  const { stdout } = await run(process.execPath, ["-p", "process.pid"]);
  expect(isRunning({ ...identifyCurrentProcess(), pid: Number(stdout) })).toBe(false);
});

test("isRunning() distinguishes a process from an earlier one with the same pid", async () => {
  const other = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  await once(other, "spawn");
  const { pid = 0 } = other;
  const asSeenFromThere = { ...identifyCurrentProcess(), pid: -1 }; // forces a lookup by pid
  const holder = { ...identifyCurrentProcess(), pid };
  expect(isRunning({ ...holder, started: "before" }, asSeenFromThere)).toBe(!isLinux);
  other.kill("SIGKILL");
  await once(other, "exit");
  expect(isRunning(holder)).toBe(false);
});

test("isRunning() recognizes this process when a different process checks it", () => {
  expect(isRunning(identifyCurrentProcess(), { ...identifyCurrentProcess(), pid: -1 })).toBe(true);
});

test.runIf(isLinux)("isRunning() is false for a zombie process", async () => {
  // The shell becomes a sleep, which never waits for the child.
  const parent = spawn("sh", ["-c", "sleep 0.05 & echo $!; exec sleep 60"]);
  const [line] = (await once(parent.stdout, "data")) as [Buffer];
  const pid = Number(line.toString());
  await vi.waitFor(async () => {
    expect(await readFile(`/proc/${pid}/stat`, "latin1")).toContain(") Z ");
  }, 30_000);
  expect(isRunning({ ...identifyCurrentProcess(), pid })).toBe(false);
  parent.kill("SIGKILL");
  await once(parent, "exit");
});

test.each([
  ["EPERM", true],
  ["ENOSYS", true],
  ["ESRCH", false],
])("isRunning() for a process missing from /proc, when kill fails with %s, is %s", (code, runs) => {
  const kill = vi.spyOn(process, "kill").mockImplementation(() => {
    throw Object.assign(new Error("kill"), { code });
  });
  onTestFinished(() => kill.mockRestore());
  expect(isRunning({ ...identifyCurrentProcess(), pid: 999_999_999 })).toBe(runs);
});

test("isRunning() is false for a pid out of range", () => {
  expect(isRunning({ ...identifyCurrentProcess(), pid: 2 ** 31 })).toBe(false);
});

test("parseProcessStat() reads the fields after the program name", () => {
  const text = `7 (a) Z (b) S 3 5 ${"0 ".repeat(16)}4711 0`;
  expect(parseProcessStat(text)).toEqual({ parent: 3, group: 5, startTicks: 4711, isDead: false });
  expect(parseProcessStat(text.replace(") S", ") Z"))?.isDead).toBe(true);
  expect(parseProcessStat("7 (a) S 3 5")).toBeNull();
  expect(parseProcessStat("")).toBeNull();
});
