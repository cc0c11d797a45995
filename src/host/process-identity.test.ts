import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { isRunning, thisProcess } from "./process-identity.ts";

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
