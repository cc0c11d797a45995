import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { type ListedProcess, listRunProcesses } from "./list-run-processes.ts";

interface FakeProcess {
  readonly name?: string;
  readonly state?: string;
  readonly parent?: number;
  readonly group?: number;
  readonly startedAt?: number;
  readonly environ?: string;
}

/** Creates a folder like Linux's /proc with these processes. */
function createProc(processes: Readonly<Record<number, FakeProcess>>): string {
  const files = Object.entries(processes).flatMap(([pid, fake]) => {
    const { name = "sh", state = "S", parent = 1, group = 1, startedAt = 5, environ = "" } = fake;
    const rest = Array.from({ length: 16 }, () => "0").join(" ");
    const stat = `${pid} (${name}) ${state} ${parent} ${group} ${rest} ${startedAt} 0 0\n`;
    return [
      [`${pid}/stat`, stat],
      [`${pid}/environ`, environ],
    ];
  });
  return temporaryTree({ ...Object.fromEntries(files), version: "Linux" });
}

const origin = { runId: "r-1", root: 100 };
const toPids = (found: readonly ListedProcess[]) => found.map(({ pid }) => pid).sort();

describe("listRunProcesses()", () => {
  test("lists the root, its group, descendants, and processes with the run's id", async () => {
    const proc = createProc({
      1: {},
      100: { group: 100 },
      101: { parent: 100 },
      102: { parent: 101, name: "a ) b (c" },
      103: { group: 100 },
      104: { environ: "A=1\0WINK_RUN=r-1\0" },
      105: { parent: 104 },
      200: { environ: "WINK_RUN=r-10\0" },
      201: { environ: "X=WINK_RUN=r-1\0" },
    });
    expect(toPids(await listRunProcesses(origin, [], { proc }))).toEqual([
      100, 101, 102, 103, 104, 105,
    ]);
  });

  test("skips zombies and dead processes", async () => {
    const proc = createProc({ 100: { state: "Z" }, 101: { parent: 100, state: "X" } });
    expect(await listRunProcesses(origin, [], { proc })).toEqual([]);
  });

  test("includes known processes, but not later ones with the same pid", async () => {
    const found = await listRunProcesses(origin, [], {
      proc: createProc({ 100: {}, 101: { parent: 100 }, 102: { parent: 100 } }),
    });
    const after = createProc({ 101: { parent: 1 }, 102: { parent: 1, startedAt: 9 } });
    expect(toPids(await listRunProcesses(origin, found, { proc: after }))).toEqual([101]);
  });

  test("never includes this process", async () => {
    const proc = createProc({ [process.pid]: { group: 100 }, 101: { parent: 100, group: 100 } });
    expect(toPids(await listRunProcesses(origin, [], { proc }))).toEqual([101]);
  });

  test.each(["/proc", "/missing/folder"])("finds real processes with %s", async (proc) => {
    const child = spawn("/bin/sh", ["-c", "sleep 600 & echo ready; wait"], { detached: true });
    const root = child.pid ?? 0;
    onTestFinished(() => void process.kill(-root, "SIGKILL"));
    await once(child.stdout, "data");
    const found = await listRunProcesses({ runId: "none", root }, [], { proc });
    expect(found).toHaveLength(2);
    expect(found.map(({ pid }) => pid)).toContain(root);
    expect(found.map(({ parent }) => parent)).toContain(root);
    for (const { startedAt } of found) expect(startedAt).not.toBe("");
  });
});
