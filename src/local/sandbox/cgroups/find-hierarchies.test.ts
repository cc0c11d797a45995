import { expect, it } from "vitest";
import { findHierarchies } from "./find-hierarchies.ts";

const UNIFIED = "41 31 0:38 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate";
const MEMORY = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory";

it("finds the own group of version 2", () => {
  expect(findHierarchies(`garbage\n${UNIFIED}`, "0::/user.slice/app.scope\n")).toEqual([
    {
      version: 2,
      controllers: [],
      own: "/sys/fs/cgroup/user.slice/app.scope",
      top: "/sys/fs/cgroup",
    },
  ]);
});

it("finds the hierarchies of version 1 by controller and skips named ones", () => {
  const membership = "9:name=systemd:/\n4:memory:/a b\n2:cpu:/\nnot a line\n0::/\n";
  const mounts = `${MEMORY}\n40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd`;
  expect(findHierarchies(mounts, membership)).toEqual([
    {
      version: 1,
      controllers: ["memory"],
      own: "/sys/fs/cgroup/memory/a b",
      top: "/sys/fs/cgroup/memory",
    },
  ]);
});

it("locates a group below a mount that shows only a part of the hierarchy", () => {
  const mount = "35 31 0:32 /docker/1 /cgroup\\040two rw - cgroup2 cgroup2 rw";
  const locate = (path: string) =>
    findHierarchies(mount, `0::${path}`).map(({ own, top }) => [own, top]);
  expect(locate("/docker/1")).toEqual([["/cgroup two", "/cgroup two"]]);
  expect(locate("/docker/1/inner")).toEqual([["/cgroup two/inner", "/cgroup two"]]);
  expect(locate("/docker/12")).toEqual([]);
  expect(locate("/../other")).toEqual([]);
});

it("ignores hierarchies that are mounted read-only", () => {
  expect(findHierarchies(UNIFIED.replace("rw,nosuid", "ro,nosuid"), "0::/")).toEqual([]);
});
