import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { type ListedProcess, processesOfRun } from "./run-processes.ts";

interface Told {
  readonly name?: string;
  readonly state?: string;
  readonly parent?: number;
  readonly group?: number;
  readonly startedAt?: number;
  readonly environ?: string;
}

/** A folder like Linux's /proc, with these processes in it. */
function procOf(processes: Readonly<Record<number, Told>>): string {
  const files = Object.entries(processes).flatMap(([pid, told]) => {
    const { name = "sh", state = "S", parent = 1, group = 1, startedAt = 5, environ = "" } = told;
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
const pidsOf = (found: readonly ListedProcess[]) => found.map(({ pid }) => pid).sort();

describe("the processes of a run", () => {
  test("are the first, its group, all below it, and those that name the run", async () => {
    const proc = procOf({
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
    expect(pidsOf(await processesOfRun(origin, [], { proc }))).toEqual([
      100, 101, 102, 103, 104, 105,
    ]);
  });

  test("are not those that have ended and only wait to be asked", async () => {
    const proc = procOf({ 100: { state: "Z" }, 101: { parent: 100, state: "X" } });
    expect(await processesOfRun(origin, [], { proc })).toEqual([]);
  });

  test("are still those that were found before, but no later one of that number", async () => {
    const found = await processesOfRun(origin, [], {
      proc: procOf({ 100: {}, 101: { parent: 100 }, 102: { parent: 100 } }),
    });
    const after = procOf({ 101: { parent: 1 }, 102: { parent: 1, startedAt: 9 } });
    expect(pidsOf(await processesOfRun(origin, found, { proc: after }))).toEqual([101]);
  });

  test("are never this one", async () => {
    const proc = procOf({ [process.pid]: { group: 100 }, 101: { parent: 100, group: 100 } });
    expect(pidsOf(await processesOfRun(origin, [], { proc }))).toEqual([101]);
  });

  test.each(["/proc", "/there/is/no/such/folder"])("are found with %s", async (proc) => {
    const child = spawn("/bin/sh", ["-c", "sleep 600 & echo ready; wait"], { detached: true });
    const root = child.pid ?? 0;
    onTestFinished(() => void process.kill(-root, "SIGKILL"));
    await once(child.stdout, "data");
    const found = await processesOfRun({ runId: "none", root }, [], { proc });
    expect(found).toHaveLength(2);
    expect(found.map(({ pid }) => pid)).toContain(root);
    expect(found.map(({ parent }) => parent)).toContain(root);
    for (const { startedAt } of found) expect(startedAt).not.toBe("");
  });
});
