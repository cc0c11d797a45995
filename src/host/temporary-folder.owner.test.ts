import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { runAsPlainUser, temporaryTree } from "../../tests/support/temporary-tree.ts";
import { getCurrentOwner, hasEnded, readOwner } from "./temporary-folder.ts";

const host = hostname();
const isLinux = existsSync("/proc/self/stat");

/** Starts a process that ends with the test. Returns the pid that the command prints. */
async function startProcess(command: string): Promise<number> {
  const child = spawn("sh", ["-c", command]);
  onTestFinished(() => void child.kill());
  return Number(await new Promise((resolve) => child.stdout.once("data", resolve)));
}

describe("the owner of a folder", () => {
  test("is this process, which is running", () => {
    const owner = getCurrentOwner();
    expect(owner).toEqual({
      pid: process.pid,
      startedAt: isLinux ? expect.any(Number) : null,
      host,
    });
    expect(hasEnded(owner)).toBe(false);
  });

  test("has ended when its process has exited", () => {
    const pid = Number(execFileSync("sh", ["-c", "echo $$"], { encoding: "utf8" }));
    expect(hasEnded({ pid, startedAt: null, host })).toBe(true);
  });

  test("is not considered ended if it is on a different host", () => {
    expect(hasEnded({ pid: 999_999_999, startedAt: 1, host: `${host}-2` })).toBe(false);
  });

  test("is not considered ended if its process belongs to another user", async () => {
    await runAsPlainUser(() => expect(hasEnded({ pid: 1, startedAt: null, host })).toBe(false));
  });

  test("is not considered ended if signaling it is not permitted", () => {
    const refused = Object.assign(new Error("kill"), { code: "EPERM" });
    const kill = vi.spyOn(process, "kill").mockImplementation(() => {
      throw refused;
    });
    onTestFinished(() => kill.mockRestore());
    expect(hasEnded({ pid: 999_999_999, startedAt: null, host })).toBe(false);
  });

  test("has ended if its pid is out of range", () => {
    expect(hasEnded({ pid: 2 ** 31, startedAt: null, host })).toBe(true);
  });

  test.runIf(isLinux)("has ended if a later process has its pid", async () => {
    const pid = await startProcess("echo $$; exec sleep 60");
    expect(hasEnded({ pid, startedAt: null, host })).toBe(false);
    expect(hasEnded({ pid, startedAt: 1, host })).toBe(true);
  });

  test.runIf(isLinux)("has ended if its process is a zombie", async () => {
    const pid = await startProcess("sleep 0.1 & echo $!; exec sleep 60");
    await vi.waitFor(() => {
      expect(readFileSync(`/proc/${pid}/stat`, "utf8")).toContain(") Z ");
    }, 30_000);
    expect(hasEnded({ pid, startedAt: null, host })).toBe(true);
  });
});

describe("readOwner()", () => {
  const readFrom = (text: string) => readOwner(join(temporaryTree({ owner: text }), "owner"));

  test("returns the owner", () => {
    expect(readFrom(JSON.stringify(getCurrentOwner()))).toEqual(getCurrentOwner());
    expect(readFrom(JSON.stringify({ pid: 5, host }))).toEqual({ pid: 5, startedAt: null, host });
  });

  test.each([
    ["no text", ""],
    ["invalid JSON", "{"],
    ["null instead of an object", "null"],
    ["no pid", JSON.stringify({ host })],
    ["a negative pid", JSON.stringify({ pid: -1, host })],
    ["a fractional pid", JSON.stringify({ pid: 1.5, host })],
    ["no host", JSON.stringify({ pid: 5 })],
    ["more than 4096 bytes", JSON.stringify({ pid: 5, host, text: "x".repeat(5000) })],
  ])("returns null if the file contains %s", (_, text) => {
    expect(readFrom(text)).toBeNull();
  });

  test("returns null for a link, a pipe, a folder or a missing file", () => {
    const folder = temporaryTree({ file: JSON.stringify({ pid: 5, host }) });
    symlinkSync(join(folder, "file"), join(folder, "link"));
    execFileSync("mkfifo", [join(folder, "pipe")]);
    for (const name of ["link", "pipe", "", "gone"]) {
      expect(readOwner(join(folder, name))).toBeNull();
    }
  });
});
