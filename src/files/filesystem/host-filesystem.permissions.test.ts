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

/** Creates a root as an ordinary user, because permissions do not apply to the superuser. */
async function createUnprivilegedRoot(): Promise<{ root: string; filesystem: HostFilesystem }> {
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

test("HostFilesystem reports an unreadable file as existing, fails to read it with EACCES, and skips it in grep", async () => {
  const { root, filesystem } = await createUnprivilegedRoot();
  for (const name of ["a", "b"]) await writeFile(join(root, name), "x");
  await chmod(join(root, "a"), 0);
  await expect(filesystem.readText("a")).rejects.toMatchObject({ code: "EACCES" });
  await expect(filesystem.readText("a")).rejects.not.toThrow(root);
  expect([await filesystem.exists("a"), (await filesystem.stat("a")).sizeBytes]).toEqual([true, 1]);
  expect(await filesystem.grep("x")).toEqual([{ path: "b", line: 1, text: "x" }]);
});

test("HostFilesystem does not replace a read-only file in a writable directory", async () => {
  const { root, filesystem } = await createUnprivilegedRoot();
  await writeFile(join(root, "f"), "old");
  await chmod(join(root, "f"), 0o444);
  await expect(filesystem.writeText("f", "new")).rejects.toMatchObject({ code: "EACCES" });
  expect([await filesystem.readText("f"), await readdir(root)]).toEqual(["old", ["f"]]);
});

test("HostFilesystem leaves a read-only directory unchanged when a write fails", async () => {
  const { root, filesystem } = await createUnprivilegedRoot();
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

test("HostFilesystem fails with EACCES in an inaccessible directory and reports its files as missing", async () => {
  const { root, filesystem } = await createUnprivilegedRoot();
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

test("HostFilesystem fails with EACCES for a symlink into an inaccessible directory and does not list it", async () => {
  const { root } = await createUnprivilegedRoot();
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

test("HostFilesystem.restore() fails without permission, and succeeds once it is granted", async () => {
  const { root, filesystem } = await createUnprivilegedRoot();
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
  "HostFilesystem preserves the owner of a file that the superuser writes",
  async () => {
    const { root, filesystem } = await createUnprivilegedRoot();
    await writeFile(join(root, "f"), "old");
    process.seteuid?.(0);
    await filesystem.writeText("f", "new");
    await filesystem.writeText("g", "new");
    expect((await stat(join(root, "f"))).uid).toBe(NOBODY);
    expect((await stat(join(root, "g"))).uid).toBe(0);
  },
);

test.runIf(process.geteuid?.() === 0)(
  "HostFilesystem deletes the undo copy if a file cannot be replaced",
  async () => {
    const { root, filesystem } = await createUnprivilegedRoot();
    process.seteuid?.(0);
    await mkdir(join(root, "sticky"));
    await writeFile(join(root, "sticky/f"), "old");
    await chmod(join(root, "sticky"), 0o1777);
    await chmod(join(root, "sticky/f"), 0o666);
    process.seteuid?.(NOBODY);
    await filesystem.snapshot();
    const count = async () => (await readdir(tmpdir())).filter((name) => /^wink-undo-/.test(name));
    const before = await count();
    const write = filesystem.writeText("sticky/f", "new");
    await expect(write).rejects.toMatchObject({ code: "EACCES" });
    expect(await filesystem.readText("sticky/f")).toBe("old");
    expect((await count()).length).toBeLessThanOrEqual(before.length);
  },
);

test("HostFilesystem removes the directories it created if it cannot enter them", async () => {
  const { root, filesystem } = await createUnprivilegedRoot();
  const umask = process.umask(0o777);
  const write = filesystem.writeText("a/b/c", "x");
  await expect(write.finally(() => process.umask(umask))).rejects.toMatchObject({ code: "EACCES" });
  expect(await readdir(root)).toEqual([]);
});
