import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { asPlainUser, temporaryTree } from "../../tests/support/temporary-tree.ts";
import { currentOwner, isGone, readOwner } from "./temporary-folder.ts";

const host = hostname();
const isLinux = existsSync("/proc/self/stat");

/** A process that is there, and ends with the test. */
async function processOf(command: string): Promise<number> {
  const child = spawn("sh", ["-c", command]);
  onTestFinished(() => void child.kill());
  return Number(await new Promise((resolve) => child.stdout.once("data", resolve)));
}

describe("an owner", () => {
  test("is this process, which is not gone", () => {
    const owner = currentOwner();
    expect(owner).toEqual({
      pid: process.pid,
      startedAt: isLinux ? expect.any(Number) : null,
      host,
    });
    expect(isGone(owner)).toBe(false);
  });

  test("is gone when its process has ended", () => {
    const pid = Number(execFileSync("sh", ["-c", "echo $$"], { encoding: "utf8" }));
    expect(isGone({ pid, startedAt: null, host })).toBe(true);
  });

  test("is not gone for all we know if it is on another machine", () => {
    expect(isGone({ pid: 999_999_999, startedAt: 1, host: `${host}-2` })).toBe(false);
  });

  test("is not gone if it is another user's, and may not be asked", async () => {
    await asPlainUser(() => expect(isGone({ pid: 1, startedAt: null, host })).toBe(false));
  });

  test("is not gone if the system refuses the question", () => {
    const refused = Object.assign(new Error("kill"), { code: "EPERM" });
    const kill = vi.spyOn(process, "kill").mockImplementation(() => {
      throw refused;
    });
    onTestFinished(() => kill.mockRestore());
    expect(isGone({ pid: 999_999_999, startedAt: null, host })).toBe(false);
  });

  test("is gone if no process can have its id", () => {
    expect(isGone({ pid: 2 ** 31, startedAt: null, host })).toBe(true);
  });

  test.runIf(isLinux)("is gone if a later process has its id", async () => {
    const pid = await processOf("echo $$; exec sleep 60");
    expect(isGone({ pid, startedAt: null, host })).toBe(false);
    expect(isGone({ pid, startedAt: 1, host })).toBe(true);
  });

  test.runIf(isLinux)("is gone if it is dead and nobody has buried it", async () => {
    const pid = await processOf("sleep 0.1 & echo $!; exec sleep 60");
    await vi.waitFor(() => {
      expect(readFileSync(`/proc/${pid}/stat`, "utf8")).toContain(") Z ");
    }, 30_000);
    expect(isGone({ pid, startedAt: null, host })).toBe(true);
  });
});

describe("an owner's file", () => {
  const readFrom = (text: string) => readOwner(join(temporaryTree({ owner: text }), "owner"));

  test("says who it is", () => {
    expect(readFrom(JSON.stringify(currentOwner()))).toEqual(currentOwner());
    expect(readFrom(JSON.stringify({ pid: 5, host }))).toEqual({ pid: 5, startedAt: null, host });
  });

  test.each([
    ["nothing", ""],
    ["no JSON", "{"],
    ["no object", "null"],
    ["no id", JSON.stringify({ host })],
    ["an id that is none", JSON.stringify({ pid: -1, host })],
    ["a part of an id", JSON.stringify({ pid: 1.5, host })],
    ["no machine", JSON.stringify({ pid: 5 })],
    ["a novel", JSON.stringify({ pid: 5, host, text: "x".repeat(5000) })],
  ])("is not read if it holds %s", (_, text) => {
    expect(readFrom(text)).toBeNull();
  });

  test("is not read if it is a link, a pipe, a folder or gone", () => {
    const folder = temporaryTree({ file: JSON.stringify({ pid: 5, host }) });
    symlinkSync(join(folder, "file"), join(folder, "link"));
    execFileSync("mkfifo", [join(folder, "pipe")]);
    for (const name of ["link", "pipe", "", "gone"]) {
      expect(readOwner(join(folder, name))).toBeNull();
    }
  });
});
