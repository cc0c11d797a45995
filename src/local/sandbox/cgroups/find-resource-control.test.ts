import { execFile, spawn } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it, vi } from "vitest";
import { temporaryTree } from "../../../../tests/support/temporary-tree.ts";
import { CgroupControl } from "./cgroup-control.ts";
import {
  findResourceControl,
  readHierarchies,
  searchResourceControl,
} from "./find-resource-control.ts";
import { systemdControl } from "./systemd-control.ts";

const run = promisify(execFile);
const { control } = await findResourceControl();
const limits = { memoryBytes: 64 * 1024 ** 2, processes: 10 };

it("finds the means once per process", () => {
  expect(findResourceControl()).toBe(findResourceControl());
});

it.skipIf(!control)("holds memory and processes of all processes together", async () => {
  const group = control?.createGroup(limits);
  const script =
    "python3 -c 'bytearray(200 << 20)'; echo $?; for i in 1 2 3 4 5 6 7 8 9 10 11; do sleep 1 & done";
  const { command = [], environment } = group?.wrap(["/bin/sh", "-c", script]) ?? {};
  const [program = "", ...rest] = command;
  const env = { PATH: process.env["PATH"] ?? "", ...environment };
  const ended: unknown = await run(program, rest, { env }).catch((error: unknown) => error);
  expect(ended).toMatchObject({ stdout: "137\n", stderr: expect.stringContaining("fork") });
  expect(group?.countMemoryKills()).toBe(1);
  await group?.remove();
});

it.skipIf(!(control instanceof CgroupControl))(
  "freezes, thaws and kills a whole group",
  async () => {
    const group = control?.createGroup(limits);
    const { command = [] } = group?.wrap(["/bin/sh", "-c", "sleep 60 & echo $!; wait"]) ?? {};
    const child = spawn(command[0] ?? "", command.slice(1));
    const pid = await new Promise((resolve) =>
      child.stdout.once("data", (text) => resolve(`${text}`.trim())),
    );
    const readWaitChannel = () => readFileSync(`/proc/${pid}/wchan`, "utf8");
    group?.freeze();
    if (control?.means !== "cgroup v1")
      await vi.waitFor(() => expect(readWaitChannel()).toMatch(/frozen|freezer|get_signal/));
    group?.kill();
    await new Promise((resolve) => child.once("exit", resolve));
    group?.thaw();
    await group?.remove();
    expect(existsSync(`/proc/${pid}/exe`)).toBe(false);
  },
);

it.skipIf(!(control instanceof CgroupControl))(
  "removes the groups of a process that was killed, and no other",
  async () => {
    const module = new URL("find-resource-control.ts", import.meta.url).pathname;
    const program = `
      const { findResourceControl } = await import(${JSON.stringify(module)});
      const { spawn } = await import("node:child_process");
      const { control } = await findResourceControl();
      const { command } = control.createGroup({ memoryBytes: 2 ** 26, processes: 9 }).wrap(["sleep", "60"]);
      console.log(spawn(command[0], command.slice(1)).pid);
      setInterval(() => {}, 1000);`;
    const owner = spawn(process.execPath, ["--input-type=module", "-e", program]);
    const pid = await new Promise((resolve) =>
      owner.stdout.once("data", (text) => resolve(`${text}`.trim())),
    );
    await vi.waitFor(() =>
      expect(readFileSync(`/proc/${pid}/cgroup`, "utf8")).toContain(`weakincentives_${owner.pid}_`),
    );
    const kept = control?.createGroup(limits);
    if (control instanceof CgroupControl) await control.sweep();
    expect(existsSync(`/proc/${pid}`)).toBe(true);
    owner.kill("SIGKILL");
    await new Promise((resolve) => owner.once("exit", resolve));
    if (control instanceof CgroupControl) await control.sweep();
    await vi.waitFor(() => expect(existsSync(`/proc/${pid}/exe`)).toBe(false));
    expect(kept?.countMemoryKills()).toBe(0);
    await kept?.remove();
  },
);

it("does nothing with a group that was removed, and reports a folder that is not a group", async () => {
  const parent = temporaryTree();
  const whole = { path: parent, version: 2 as const, memory: true, processes: true, freezer: true };
  const fake = new CgroupControl("cgroup v2", [whole]).createGroup(limits);
  expect(() => fake.countMemoryKills()).toThrow("ENOENT");
  for (const name of readdirSync(parent)) rmSync(join(parent, name), { recursive: true });
  await fake.remove();
  fake.freeze();
  fake.thaw();
  fake.kill();
  expect(fake.countMemoryKills()).toBe(0);
  const bare = new CgroupControl("cgroup v2", [{ ...whole, memory: false, freezer: false }]);
  const group = bare.createGroup(limits);
  group.freeze();
  expect(group.countMemoryKills()).toBe(0);
  expect(() => group.kill()).toThrow("ENOENT"); // a real group has a list of its processes
  expect(readHierarchies("/nowhere")).toEqual([]);
});

it("explains why each means fails if none works", async () => {
  const failing = { ...systemdControl({}), means: "systemd-run" };
  const file = join(temporaryTree(), "file");
  writeFileSync(file, "");
  const hierarchy = { version: 1 as const, controllers: ["memory", "pids"], own: file, top: file };
  const found = await searchResourceControl([hierarchy], failing);
  expect(found).toMatchObject({
    control: null,
    reason: expect.stringMatching(/^cgroup v1: .*; systemd-run: .*\. Run as root, /s),
  });
  expect(await searchResourceControl([], null)).toMatchObject({
    reason: expect.stringMatching(/^no cgroups\. Run as root/),
  });
});

it("shortens what the kernel refuses", async () => {
  const failWith = (code: string) => ({
    means: code,
    createGroup: () => {
      throw Object.assign(new Error(`${code}: a long path`), { code });
    },
  });
  const explain = async (code: string) => await searchResourceControl([], failWith(code));
  expect(await explain("EACCES")).toMatchObject({
    reason: expect.stringMatching(/^EACCES: not permitted\. /),
  });
  expect(await explain("EROFS")).toMatchObject({
    reason: expect.stringMatching(/^EROFS: not permitted\. /),
  });
  expect(await explain("ENOENT")).toMatchObject({
    reason: expect.stringMatching(/^ENOENT: not available\. /),
  });
  expect(await explain("EBUSY")).toMatchObject({
    reason: expect.stringMatching(/^EBUSY: EBUSY: a long path\. /),
  });
});

it("uses systemd-run where it works", async () => {
  const folder = temporaryTree();
  const stub = join(folder, "systemd-run");
  writeFileSync(stub, '#!/bin/sh\nwhile [ "$1" != "--" ]; do shift; done; shift; exec "$@"\n');
  chmodSync(stub, 0o755);
  const plain = systemdControl({});
  const found = await searchResourceControl([], {
    ...plain,
    createGroup: (wanted) => {
      const group = plain.createGroup(wanted);
      const wrap: typeof group.wrap = (command) => {
        const { command: wrapped, environment } = group.wrap(command);
        return { command: [stub, ...wrapped.slice(1)], environment };
      };
      return {
        wrap,
        onStart() {},
        freeze() {},
        thaw() {},
        countMemoryKills: () => 0,
        kill() {},
        remove: async () => {},
      };
    },
  });
  expect(found.control?.means).toBe("systemd-run --user --scope");
});

it("leaves no folder behind if the kernel refuses a limit", () => {
  const parent = temporaryTree();
  const second = join(parent, "missing");
  const whole = { version: 1 as const, memory: true, processes: true, freezer: false };
  const broken = new CgroupControl("cgroup v1", [
    { path: parent, ...whole, memory: false, processes: false },
    { path: second, ...whole },
  ]);
  expect(() => broken.createGroup(limits)).toThrow("ENOENT");
  expect(readdirSync(parent)).toEqual([]);
});
