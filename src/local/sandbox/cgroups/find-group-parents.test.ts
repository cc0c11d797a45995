import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryTree } from "../../../../tests/support/temporary-tree.ts";
import { findGroupParents } from "./find-group-parents.ts";

const both = { memory: true, processes: true };

function createHierarchy(parent: Record<string, string>, own: Record<string, string>) {
  const top = temporaryTree();
  const path = join(top, "app.slice");
  mkdirSync(path);
  for (const [name, text] of Object.entries(parent)) writeFileSync(join(top, name), text);
  for (const [name, text] of Object.entries(own)) writeFileSync(join(path, name), text);
  return { version: 2 as const, controllers: [], own: path, top };
}

it("creates groups beside the own group when the parent already distributes memory and processes", () => {
  const hierarchy = createHierarchy(
    { "cgroup.subtree_control": "cpu memory pids\n", "cgroup.controllers": "cpu memory pids\n" },
    { "cgroup.subtree_control": "\n", "cgroup.controllers": "cpu\n" },
  );
  expect(findGroupParents([hierarchy])).toEqual([
    {
      means: "cgroup v2",
      parents: [{ path: hierarchy.top, version: 2, freezer: true, ...both }],
    },
  ]);
});

it("enables the controllers of version 2 where they are available", () => {
  const hierarchy = createHierarchy(
    {},
    { "cgroup.subtree_control": "\n", "cgroup.controllers": "memory pids\n" },
  );
  expect(findGroupParents([hierarchy])).toMatchObject([{ parents: [{ path: hierarchy.own }] }]);
  const file = join(hierarchy.own, "cgroup.subtree_control");
  expect(readFileSync(file, "utf8")).toContain("+memory +pids");
});

it("uses no parent of version 2 that lacks a controller", () => {
  const files = { "cgroup.subtree_control": "\n", "cgroup.controllers": "hugetlb\n" };
  expect(findGroupParents([createHierarchy(files, files)])).toEqual([]);
  expect(findGroupParents([createHierarchy({}, {})])).toEqual([]);
});

it("does not look above the mount", () => {
  const { top } = createHierarchy({ "cgroup.subtree_control": "memory pids" }, {});
  const own = { version: 2 as const, controllers: [], own: top, top };
  expect(findGroupParents([own])).toMatchObject([{ parents: [{ path: top }] }]);
});

it("uses version 1 for the limits and version 2 only for freezing", () => {
  const [memory, pids, unified] = [temporaryTree(), temporaryTree(), createHierarchy({}, {})];
  chmodSync(memory, 0o755);
  const one = (own: string, name: string) => ({
    ...{ version: 1 as const, controllers: [name], own, top: own },
  });
  const limits = [
    { path: memory, version: 1, memory: true, processes: false, freezer: false },
    { path: pids, version: 1, memory: false, processes: true, freezer: false },
  ];
  expect(findGroupParents([one(memory, "memory"), one(pids, "pids"), unified])).toEqual([
    {
      means: "cgroup v1, frozen by v2",
      parents: [
        ...limits,
        { path: unified.own, version: 2, memory: false, processes: false, freezer: true },
      ],
    },
    { means: "cgroup v1", parents: limits },
  ]);
  expect(findGroupParents([one(memory, "memory")])).toEqual([]);
  const shared = { version: 1 as const, controllers: ["memory", "pids"], own: memory, top: memory };
  expect(findGroupParents([shared])).toEqual([
    { means: "cgroup v1", parents: [{ path: memory, version: 1, freezer: false, ...both }] },
  ]);
});
