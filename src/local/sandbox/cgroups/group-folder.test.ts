import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { temporaryTree } from "../../../../tests/support/temporary-tree.ts";
import {
  countMemoryKills,
  createGroupFolder,
  type GroupFolder,
  killAll,
  removeGroupFolder,
  setFrozen,
} from "./group-folder.ts";

const limits = { memoryBytes: 1_000.5, processes: 7 };

function folder(version: 1 | 2, path = join(temporaryTree(), "group")): GroupFolder {
  return { path, version, memory: true, processes: true, freezer: true };
}

function read({ path }: GroupFolder, file: string): string | null {
  return existsSync(join(path, file)) ? readFileSync(join(path, file), "utf8") : null;
}

/** The kernel fills a new group with files; a plain folder stays empty unless `mkdir` is followed by this. */
async function createWith(group: GroupFolder, files: readonly string[]): Promise<void> {
  vi.resetModules();
  vi.doMock("node:fs", async (original) => {
    const fs = await original<typeof import("node:fs")>();
    const mkdir = (path: string) => {
      fs.mkdirSync(path);
      for (const file of files) fs.writeFileSync(join(path, file), "");
    };
    return { ...fs, mkdirSync: mkdir };
  });
  const fresh = await import("./group-folder.ts");
  vi.doUnmock("node:fs");
  fresh.createGroupFolder(group, limits);
}

it("limits memory and processes in version 2 and forbids swap", async () => {
  const group = folder(2);
  await createWith(group, ["memory.swap.max"]);
  expect(read(group, "memory.max")).toBe("1001");
  expect(read(group, "memory.swap.max")).toBe("0");
  expect(read(group, "pids.max")).toBe("7");
});

it("limits memory with swap in version 1", async () => {
  const group = folder(1);
  await createWith(group, ["memory.memsw.limit_in_bytes"]);
  expect(read(group, "memory.limit_in_bytes")).toBe("1001");
  expect(read(group, "memory.memsw.limit_in_bytes")).toBe("1001");
});

it("does not use swap where version 1 cannot account for it, nor the swap file of version 2 where it is missing", () => {
  const [one, two] = [folder(1), folder(2)];
  createGroupFolder(one, limits);
  createGroupFolder(two, limits);
  expect(read(one, "memory.swappiness")).toBe("0");
  expect(read(two, "memory.swap.max")).toBe(null);
});

it("sets only the limits that the folder holds", () => {
  const group = { ...folder(1), memory: false, processes: false };
  createGroupFolder(group, limits);
  expect(read(group, "memory.limit_in_bytes")).toBe(null);
  expect(read(group, "pids.max")).toBe(null);
});

it("counts the processes that were killed for their memory", () => {
  const [one, two] = [folder(1, temporaryTree()), folder(2, temporaryTree())];
  writeFileSync(join(one.path, "memory.oom_control"), "under_oom 0\noom_kill 3\n");
  writeFileSync(join(two.path, "memory.events"), "oom 9\noom_kill 4\noom_group_kill 0\n");
  expect(countMemoryKills(one)).toBe(3);
  expect(countMemoryKills(two)).toBe(4);
  writeFileSync(join(two.path, "memory.events"), "");
  expect(countMemoryKills(two)).toBe(0);
});

it("freezes, thaws and kills a group of version 2 with one write each", () => {
  const group = folder(2, temporaryTree());
  setFrozen(group, true);
  expect(read(group, "cgroup.freeze")).toBe("1");
  setFrozen(group, false);
  expect(read(group, "cgroup.freeze")).toBe("0");
  writeFileSync(join(group.path, "cgroup.kill"), "");
  killAll(group);
  expect(read(group, "cgroup.kill")).toBe("1");
});

it("kills the listed processes of a group of version 1, and neither process 1 nor itself", async () => {
  const group = folder(1, temporaryTree());
  const child = spawn("sleep", ["60"]);
  const list = `1\n${process.pid}\n${child.pid}\n4194305\n`;
  writeFileSync(join(group.path, "cgroup.procs"), list);
  killAll(group);
  expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
});

it("removes groups inside a group first, and reports a group that is in use", () => {
  const group = temporaryTree();
  mkdirSync(join(group, "inner"));
  expect(removeGroupFolder(group)).toBe(true);
  expect(removeGroupFolder(group)).toBe(true);
  const busy = temporaryTree();
  writeFileSync(join(busy, "file"), "");
  expect(removeGroupFolder(busy)).toBe(false);
});
