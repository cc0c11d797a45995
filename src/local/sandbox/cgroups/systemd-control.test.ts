import { spawn } from "node:child_process";
import { expect, it } from "vitest";
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
