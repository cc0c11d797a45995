import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { expect, it } from "vitest";
import { temporaryTree } from "../../../../tests/support/temporary-tree.ts";
import { systemdControl } from "./systemd-control.ts";

const limits = { memoryBytes: 1_000.5, processes: 7 };

it("asks the user's systemd for a scope with the limits and passes only the address of its bus", () => {
  const control = systemdControl({ XDG_RUNTIME_DIR: "/run/user/1", SECRET: "x" });
  expect(control.createGroup(limits).wrap(["bwrap", "--x"])).toEqual({
    command: [
      ...["systemd-run", "--user", "--scope", "--quiet", "--collect"],
      ...["-p", "MemoryMax=1001", "-p", "MemorySwapMax=0", "-p", "TasksMax=7", "--"],
      ...["bwrap", "--x"],
    ],
    environment: { XDG_RUNTIME_DIR: "/run/user/1" },
  });
});

it("does nothing with a scope that was never created or has vanished", async () => {
  const group = systemdControl({}).createGroup(limits);
  const child = spawn("sleep", ["60"]);
  for (const pid of [2 ** 22 + 1, child.pid ?? 0]) {
    group.onStart(pid); // does not exist, or is not in a scope
    group.freeze();
    group.thaw();
    expect(group.countMemoryKills()).toBe(0);
    await group.remove();
  }
  expect(child.exitCode ?? child.signalCode).toBe(null);
  child.kill();
});

it("freezes, counts and kills in the scope that systemd created", async () => {
  const top = temporaryTree({
    "app.slice/run-1.scope/memory.events": "oom_kill 2\n",
    "app.slice/run-1.scope/cgroup.kill": "",
  });
  const proc = temporaryTree({
    "7/cgroup": "0::/app.slice/run-1.scope\n",
    "self/mountinfo": `1 0 0:1 / ${top} rw - cgroup2 cgroup2 rw\n`,
  });
  const group = systemdControl({}, proc).createGroup(limits);
  group.onStart(7);
  expect(group.countMemoryKills()).toBe(2);
  group.freeze();
  const read = (file: string) => readFileSync(`${top}/app.slice/run-1.scope/${file}`, "utf8");
  expect(read("cgroup.freeze")).toBe("1");
  group.thaw();
  expect(read("cgroup.freeze")).toBe("0");
  await group.remove();
  expect(read("cgroup.kill")).toBe("1");
  rmSync(top, { recursive: true });
  expect(group.countMemoryKills()).toBe(0);
});
