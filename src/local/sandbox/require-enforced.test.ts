import { expect, it } from "vitest";
import { isBoundedFolder } from "./is-bounded-folder.ts";
import { requireEnforced } from "./require-enforced.ts";

const enforced = { memory: "enforced", processes: "enforced", disk: "enforced" } as const;

it("accepts limits that are all enforced", () => {
  expect(() => requireEnforced({ ...enforced, means: "cgroup v2" })).not.toThrow();
});

it("names each limit that is only watched, the reason and the remedy", () => {
  expect(() => requireEnforced({ ...enforced, disk: "watched", means: "cgroup v2" })).toThrow(
    'limits.require needs a host that enforces every limit, and here disk is only watched (cgroup v2), got "enforced". Run as root',
  );
  const watched = { memory: "watched", processes: "enforced", disk: "watched" } as const;
  expect(() => requireEnforced({ ...watched, means: "rlimits" })).toThrow(
    "memory and disk are only watched (rlimits)",
  );
});

it("recognizes a file system that is not much larger than the limit", async () => {
  expect(await isBoundedFolder("/", 1)).toBe(false);
  expect(await isBoundedFolder("/", Number.MAX_SAFE_INTEGER)).toBe(true);
  expect(await isBoundedFolder("/proc", 1_000)).toBe(false);
});
