import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statfsSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { temporaryTree } from "../../../../tests/support/temporary-tree.ts";
import { ContainerDisks } from "./container-disks.ts";
import { createDisk } from "./disk.ts";
import { findDiskSupport, tryDisk } from "./find-disk-support.ts";
import { isAttached } from "./is-attached.ts";
import { listMounts } from "./list-mounts.ts";
import { retry } from "./retry.ts";
import { runTool } from "./run-tool.ts";
import { stageUpload } from "./stage-upload.ts";
import { unmountBelow } from "./unmount-below.ts";

const support = await findDiskSupport();
const MEBIBYTE = 2 ** 20;

function createDataDir(): string {
  const dataDir = realpathSync(temporaryTree());
  onTestFinished(() => unmountBelow(dataDir));
  return dataDir;
}

function open(dataDir: string): ContainerDisks {
  return new ContainerDisks({ dataDir, bytes: 4 * MEBIBYTE });
}

describe.skipIf(!support.usable)("The disk of a container", () => {
  test("holds the requested number of bytes, and not many more", async () => {
    await using disks = open(createDataDir());
    expect(await disks.add("a")).toBe(true);
    const { bavail, blocks, bsize } = statfsSync(disks.getRoot("a") ?? "");
    expect(bavail * bsize).toBeGreaterThan(4 * MEBIBYTE);
    expect(blocks * bsize).toBeLessThan(6 * MEBIBYTE);
    expect(readdirSync(disks.getRoot("a") ?? "")).toEqual([]);
    expect(disks.isReady("a")).toBe(true);
    await disks.mount("a"); // nothing to do
  });

  test("is unmounted with the provider and has its files after the next start", async () => {
    const dataDir = createDataDir();
    {
      await using disks = open(dataDir);
      await disks.add("a");
      writeFileSync(join(disks.getRoot("a") ?? "", "file"), "kept");
    }
    expect(listMounts(dataDir)).toEqual([]);
    expect(readdirSync(dataDir)).toEqual(["containers"]);
    await using again = open(dataDir);
    expect(again.isReady("a")).toBe(false);
    expect(again.isReady("unknown")).toBe(true);
    await Promise.all([again.mount("a"), again.mount("a")]);
    expect(again.isReady("a")).toBe(true);
    expect(readFileSync(join(again.getRoot("a") ?? "", "file"), "utf8")).toBe("kept");
    await again.release("a");
    expect(again.getRoot("a")).toBe(null);
    expect(listMounts(dataDir)).toEqual([]);
  });

  test("is found mounted after the process was killed, and spare disks are removed", async () => {
    const dataDir = createDataDir();
    const killed = open(dataDir);
    await killed.add("a");
    await killed.add("b"); // waits for the spare, and starts another one
    await expect.poll(() => listMounts(dataDir).length).toBe(3);
    await using disks = open(dataDir);
    expect(disks.isReady("a")).toBe(true);
    await expect.poll(() => listMounts(dataDir).length).toBe(2);
    await expect.poll(() => existsSync(join(dataDir, "disks"))).toBe(false);
    await killed.add("c"); // its spare was removed, so it creates another disk
    expect(listMounts(join(dataDir, "containers")).length).toBe(3);
    await killed[Symbol.asyncDispose]();
  });

  test("is mounted again as it is while a starting sandbox still sees it", async () => {
    const dataDir = createDataDir();
    const image = join(dataDir, "containers/a/disk.img");
    const disks = open(dataDir);
    await disks.add("a");
    const sandbox = spawn("unshare", ["--mount", "sh", "-c", "echo ready; exec sleep 60"]);
    onTestFinished(() => void sandbox.kill());
    await once(sandbox.stdout, "data");
    const root = disks.getRoot("a") ?? "";
    for (let file = 0; file < 100; file++) writeFileSync(join(root, `${file}`), ""); // not in the image yet
    await disks[Symbol.asyncDispose]();
    expect(listMounts(dataDir)).toEqual([]);
    const before = readFileSync(image);
    await using again = open(dataDir);
    await again.mount("a");
    expect(readFileSync(image).equals(before)).toBe(true); // nothing was "repaired"
    expect(readdirSync(root)).toHaveLength(100);
    sandbox.kill();
    await once(sandbox, "exit");
    await again[Symbol.asyncDispose]();
    await expect.poll(() => isAttached(image)).toBe(false);
    await runTool("e2fsck", "-f", "-n", image); // throws if it finds a damage
  });

  test("is repaired after a crash of the host", async () => {
    const dataDir = createDataDir();
    {
      await using disks = open(dataDir);
      await disks.add("a");
    }
    const image = join(dataDir, "containers/a/disk.img");
    await runTool("debugfs", "-w", "-R", "ssv state 0", image); // as it is without a clean unmount
    await runTool("debugfs", "-w", "-R", "ssv free_blocks_count 1", image);
    await using again = open(dataDir);
    await again.mount("a");
    expect(statfsSync(again.getRoot("a") ?? "").bfree).toBeGreaterThan(1_000);
  });

  test("is reported if its image is damaged or was replaced, and the next use tries again", async () => {
    const dataDir = createDataDir();
    {
      await using disks = open(dataDir);
      await disks.add("a");
    }
    const image = join(dataDir, "containers/a/disk.img");
    truncateSync(image, 100);
    await using again = open(dataDir);
    const damaged = `${image} is damaged: delete the container and create a new one.`;
    await expect(again.mount("a")).rejects.toThrow(damaged);
    await expect(again.mount("a")).rejects.toThrow(damaged);
    rmSync(image);
    symlinkSync("/dev/null", image);
    await expect(again.mount("a")).rejects.toThrow(`${image} is not a file.`);
    await again.release("a");
  });

  test("is reported as damaged once the device that used its image is free", async () => {
    const dataDir = createDataDir();
    {
      await using disks = open(dataDir);
      await disks.add("a");
    }
    const image = join(dataDir, "containers/a/disk.img");
    await expect.poll(() => isAttached(image)).toBe(false);
    const device = execFileSync("losetup", ["--find", "--show", image], {
      encoding: "utf8",
    }).trim();
    truncateSync(image, 100);
    await using again = open(dataDir);
    const failed = expect(again.mount("a")).rejects.toThrow(`${image} is damaged`);
    await runTool("losetup", "--detach", device);
    await failed;
  });

  test("is not mounted through a symbolic link", async () => {
    const folder = createDataDir();
    symlinkSync("/mnt", join(folder, "disk"));
    await expect(createDisk(folder, MEBIBYTE)).rejects.toThrow(/is not a folder|EEXIST/);
    expect(listMounts(folder)).toEqual([]);
  });

  test("vanishes when the last open file in it is closed", async () => {
    const dataDir = createDataDir();
    await using disks = open(dataDir);
    await disks.add("a");
    const file = openSync(join(disks.getRoot("a") ?? "", "file"), "w");
    await disks.release("a");
    expect(listMounts(join(dataDir, "containers"))).toEqual([]);
    writeFileSync(file, "still works");
    closeSync(file);
  });

  test("is reported if it cannot be created, and leaves nothing behind", async () => {
    const dataDir = createDataDir();
    await using disks = new ContainerDisks({ dataDir, bytes: Number.NaN });
    await expect(disks.add("a")).rejects.toThrow();
    expect(disks.getRoot("a")).toBe(null);
    expect(listMounts(dataDir)).toEqual([]);
    expect(readdirSync(join(dataDir, "disks"))).toEqual([]);
  });

  test("is not created any more after disposal", async () => {
    const disks = open(createDataDir());
    await disks[Symbol.asyncDispose]();
    await expect(disks.add("a")).rejects.toThrow("disposed");
  });

  test("is unmounted even if the provider is disposed of while it is created", async () => {
    const dataDir = createDataDir();
    const disks = open(dataDir);
    const adding = Promise.allSettled([disks.add("a"), disks.add("b")]);
    await disks[Symbol.asyncDispose]();
    expect(listMounts(dataDir)).toEqual([]);
    await adding;
    expect(listMounts(dataDir)).toEqual([]);
  });

  test("gets uploads in one step, and refuses those for which it has no space", async () => {
    const dataDir = createDataDir();
    await using disks = open(dataDir);
    await disks.add("a");
    const root = disks.getRoot("a") ?? "";
    const small = join(dataDir, "small");
    writeFileSync(small, "x");
    const staged = await stageUpload(small, root);
    expect(staged).toBe(join(root, "../incoming/small"));
    expect(existsSync(small)).toBe(false);
    const large = join(dataDir, "large");
    writeFileSync(large, Buffer.alloc(8 * MEBIBYTE, 1));
    await expect(stageUpload(large, root)).rejects.toMatchObject({
      status: 400,
      code: "container_full",
      message:
        "The container has no space left for this file in /mnt/data. Delete files from it, or use a new container.",
    });
    expect(readdirSync(join(root, "../incoming"))).toEqual(["small"]);
    await expect(stageUpload(join(dataDir, "missing"), root)).rejects.toThrow("ENOENT");
  });
});

test("uploads to a plain folder stay where they are until they are moved", async () => {
  const folder = temporaryTree({ upload: "x" });
  expect(await stageUpload(`${folder}/upload`, `${folder}/data`)).toBe(`${folder}/upload`);
  mkdirSync(`${folder}/disk/data`, { recursive: true });
  expect(await stageUpload(`${folder}/upload`, `${folder}/disk/data`)).toBe(`${folder}/upload`);
});

test("containers have no disk where disks do not work", async () => {
  const reason = "disk images need Linux and root";
  expect(await tryDisk("darwin", 0)).toEqual({ usable: false, reason });
  expect(await tryDisk("linux", 1000)).toEqual({ usable: false, reason });
  const disks = new ContainerDisks({
    dataDir: temporaryTree(),
    bytes: MEBIBYTE,
    support: async () => ({ usable: false, reason }),
  });
  expect(await disks.add("a")).toBe(false);
  expect(disks.getRoot("a")).toBe(null);
  expect(disks.isReady("a")).toBe(true);
  await disks[Symbol.asyncDispose]();
});

test("a failed trial names the packages to install", async () => {
  vi.stubEnv("TMPDIR", "/nowhere");
  expect(await tryDisk("linux", 0)).toEqual({
    usable: false,
    reason: expect.stringMatching(
      /^disk images do not work: ENOENT.*\. Install e2fsprogs and mount, /,
    ),
  });
  vi.unstubAllEnvs();
});

test("a tool that is missing or fails is reported with its output", async () => {
  await expect(runTool("no-such-tool")).rejects.toThrow("ENOENT");
  await expect(runTool("sh", "-c", "echo broken >&2; exit 3")).rejects.toThrow(/^broken$/);
});

test("mounting is tried three times", async () => {
  let tries = 0;
  const fail = async () => {
    tries++;
    if (tries !== 2) throw new Error("busy");
  };
  await retry(fail, 1);
  expect(tries).toBe(2);
  await expect(retry(fail, 1)).rejects.toThrow("busy");
  expect(tries).toBe(5);
});

test("mount points are listed deepest first, with spaces in their names", () => {
  const folder = temporaryTree({
    mountinfo: "1 0 7:0 / /a\\040b rw\n2 1 7:1 / /a\\040b/c rw\n3 0 7:2 / /a rw\n",
  });
  expect(listMounts("/a b", `${folder}/mountinfo`)).toEqual(["/a b/c", "/a b"]);
  expect(listMounts("/a b", `${folder}/missing`)).toEqual([]);
});
