import { execFileSync } from "node:child_process";
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { HostFilesystem } from "./host-filesystem.ts";

const NOBODY = 65534;

/** A root of a user whom permissions stop, which they do not stop the superuser. */
async function ordinaryRoot(): Promise<{ root: string; filesystem: HostFilesystem }> {
  const superuser = process.geteuid?.() === 0;
  if (superuser) process.seteuid?.(NOBODY);
  const root = await mkdtemp(join(tmpdir(), "wink-permissions-"));
  const filesystem = new HostFilesystem(root);
  onTestFinished(async () => {
    await filesystem[Symbol.asyncDispose]();
    if (superuser) process.seteuid?.(0);
    execFileSync("chmod", ["-R", "u+rwX", root]);
    await rm(root, { recursive: true });
  });
  return { root, filesystem };
}

test("a file that may not be read is EACCES, is there, and is skipped by grep", async () => {
  const { root, filesystem } = await ordinaryRoot();
  for (const name of ["a", "b"]) await writeFile(join(root, name), "x");
  await chmod(join(root, "a"), 0);
  await expect(filesystem.readText("a")).rejects.toMatchObject({ code: "EACCES" });
  await expect(filesystem.readText("a")).rejects.not.toThrow(root);
  expect([await filesystem.exists("a"), (await filesystem.stat("a")).sizeBytes]).toEqual([true, 1]);
  expect(await filesystem.grep("x")).toEqual([{ path: "b", line: 1, text: "x" }]);
});

test("a file that may not be written stays as it is, though its directory could be changed", async () => {
  const { root, filesystem } = await ordinaryRoot();
  await writeFile(join(root, "f"), "old");
  await chmod(join(root, "f"), 0o444);
  await expect(filesystem.writeText("f", "new")).rejects.toMatchObject({ code: "EACCES" });
  expect([await filesystem.readText("f"), await readdir(root)]).toEqual(["old", ["f"]]);
});

test("in a directory that may not be changed a write leaves the old bytes and nothing else", async () => {
  const { root, filesystem } = await ordinaryRoot();
  await mkdir(join(root, "d"));
  await writeFile(join(root, "d/f"), "old");
  await chmod(join(root, "d"), 0o555);
  const snapshot = await filesystem.snapshot();
  const changes = [
    () => filesystem.writeText("d/f", "new"),
    () => filesystem.writeText("d/g", "new"),
    () => filesystem.writeText("d/e/g", "new"),
    () => filesystem.delete("d/f"),
    () => filesystem.mkdir("d/e"),
  ];
  for (const change of changes) await expect(change()).rejects.toMatchObject({ code: "EACCES" });
  expect(await readFile(join(root, "d/f"), "utf8")).toBe("old");
  expect(await readdir(join(root, "d"))).toEqual(["f"]);
  await filesystem.restore(snapshot);
});

test("a directory that may not be entered is EACCES, and what is in it is not there for us", async () => {
  const { root, filesystem } = await ordinaryRoot();
  await mkdir(join(root, "d"));
  await writeFile(join(root, "d/f"), "x");
  await writeFile(join(root, "f"), "x");
  await chmod(join(root, "d"), 0);
  const calls = [
    () => filesystem.readText("d/f"),
    () => filesystem.writeText("d/f", "x"),
    () => filesystem.stat("d/f"),
    () => filesystem.listDir("d"),
  ];
  for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "EACCES" });
  expect([await filesystem.exists("d/f"), await filesystem.isDir("d")]).toEqual([false, true]);
  expect(await filesystem.glob("*")).toEqual(["f"]);
});

test("a link into what may not be entered is EACCES, leads nowhere, and is not found", async () => {
  const { root } = await ordinaryRoot();
  for (const directory of ["root/closed", "outside"]) {
    await mkdir(join(root, directory), { recursive: true });
    await writeFile(join(root, directory, "f"), "x");
  }
  await symlink("closed/f", join(root, "root/in"));
  await symlink("../outside/f", join(root, "root/out"));
  for (const directory of ["root/closed", "outside"]) await chmod(join(root, directory), 0);
  const filesystem = new HostFilesystem(join(root, "root"));
  for (const path of ["in", "out"]) {
    await expect(filesystem.readText(path)).rejects.toMatchObject({ code: "EACCES" });
    await expect(filesystem.writeText(path, "x")).rejects.toMatchObject({ code: "EACCES" });
    expect(await filesystem.exists(path)).toBe(false);
  }
  expect(await filesystem.glob("*")).toEqual([]);
});

test("a restore that is not permitted says so, and works once it is", async () => {
  const { root, filesystem } = await ordinaryRoot();
  await mkdir(join(root, "d"));
  await writeFile(join(root, "d/f"), "old");
  const snapshot = await filesystem.snapshot();
  await filesystem.writeText("d/f", "new");
  await filesystem.writeText("g", "new");
  await chmod(join(root, "d"), 0o555);
  await expect(filesystem.restore(snapshot)).rejects.toMatchObject({ code: "EACCES" });
  expect(await filesystem.exists("g")).toBe(false);
  await chmod(join(root, "d"), 0o755);
  await filesystem.restore(snapshot);
  expect(await filesystem.readText("d/f")).toBe("old");
});

test.runIf(process.geteuid?.() === 0)(
  "the superuser's writes leave files to their owners",
  async () => {
    const { root, filesystem } = await ordinaryRoot();
    await writeFile(join(root, "f"), "old");
    process.seteuid?.(0);
    await filesystem.writeText("f", "new");
    await filesystem.writeText("g", "new");
    expect((await stat(join(root, "f"))).uid).toBe(NOBODY);
    expect((await stat(join(root, "g"))).uid).toBe(0);
  },
);
