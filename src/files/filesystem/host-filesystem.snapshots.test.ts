import {
  chmod,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { HostFilesystem } from "./host-filesystem.ts";

afterEach(() => vi.unstubAllEnvs());

/** Creates a root, and a temporary directory that only this test uses. */
async function createRoot(parent = tmpdir()) {
  const scratch = await realpath(await mkdtemp(join(parent, "wink-undo-test-")));
  onTestFinished(() => rm(scratch, { recursive: true, force: true }));
  const [root, temporary] = [join(scratch, "root"), join(scratch, "tmp")];
  for (const directory of [root, temporary]) await mkdir(directory);
  vi.stubEnv("TMPDIR", temporary);
  return { scratch, root, temporary, filesystem: new HostFilesystem(root) };
}

function createLongPath(length: number): string {
  return `${"d".repeat(200)}/`.repeat(length / 201).padEnd(length, "e");
}

const readMode = async (...path: string[]) => (await stat(join(...path))).mode & 0o7777;

describe("HostFilesystem.restore()", () => {
  test("restores modes and hard links", async () => {
    const { root, filesystem } = await createRoot();
    for (const name of ["a", "b"]) await writeFile(join(root, name), name);
    await mkdir(join(root, "d"));
    for (const [name, mode] of Object.entries({ a: 0o750, b: 0o604, d: 0o711 })) {
      await chmod(join(root, name), mode);
    }
    await link(join(root, "a"), join(root, "a2"));
    const snapshot = await filesystem.snapshot();
    await filesystem.writeText("a", "new");
    await filesystem.delete("b");
    await filesystem.writeText("b", "new");
    await filesystem.delete("d");
    await filesystem.restore(snapshot);
    expect([
      await readMode(root, "a"),
      await readMode(root, "b"),
      await readMode(root, "d"),
    ]).toEqual([0o750, 0o604, 0o711]);
    expect((await stat(join(root, "a"))).ino).toBe((await stat(join(root, "a2"))).ino);
  });

  test("restores the recorded bytes even if another process has changed the file since", async () => {
    const { root, filesystem } = await createRoot();
    for (const path of ["d/changed", "d/deleted", "gone/f"])
      await filesystem.writeText(path, "old");
    const snapshot = await filesystem.snapshot();
    for (const path of ["d/changed", "d/new", "gone/f"]) await filesystem.writeText(path, "new");
    await filesystem.delete("d/deleted");
    await writeFile(join(root, "d/changed"), "theirs", { flag: "a" });
    await writeFile(join(root, "d/deleted"), "theirs");
    await rm(join(root, "d/new"));
    await rm(join(root, "gone"), { recursive: true });
    await filesystem.restore(snapshot);
    expect(await filesystem.glob("*")).toEqual(["d/changed", "d/deleted", "gone/f"]);
    for (const path of await filesystem.glob("*")) {
      expect(await filesystem.readText(path)).toBe("old");
    }
  });

  test("retains a directory it created if another process has added a file", async () => {
    const { root, filesystem } = await createRoot();
    const snapshot = await filesystem.snapshot();
    await filesystem.writeText("made/f", "ours");
    await writeFile(join(root, "made/theirs"), "theirs");
    await filesystem.restore(snapshot);
    expect(await filesystem.glob("*")).toEqual(["made/theirs"]);
  });

  test("retains a file with which another process has replaced a created directory", async () => {
    const { root, filesystem } = await createRoot();
    const snapshot = await filesystem.snapshot();
    await filesystem.writeText("made/sub/f", "ours");
    await rm(join(root, "made"), { recursive: true });
    await writeFile(join(root, "made"), "theirs");
    await filesystem.restore(snapshot);
    expect(await filesystem.readText("made")).toBe("theirs");
  });

  test("replaces a symlink with which another process has replaced a file, without following it", async () => {
    const { scratch, root, filesystem } = await createRoot();
    await writeFile(join(scratch, "secret"), "secret");
    await filesystem.writeText("f", "old");
    const snapshot = await filesystem.snapshot();
    await filesystem.writeText("f", "new");
    await filesystem.writeText("g", "new");
    for (const name of ["f", "g"]) {
      await rm(join(root, name));
      await symlink("../secret", join(root, name));
    }
    await filesystem.restore(snapshot);
    expect(await filesystem.readText("f")).toBe("old");
    expect(await readdir(root)).toEqual(["f"]);
    expect(await readFile(join(scratch, "secret"), "utf8")).toBe("secret");
  });

  test("undoes the other changes if one fails, reports the failure, and can be retried", async () => {
    const { root, filesystem } = await createRoot();
    for (const name of ["a", "b", "c"]) await filesystem.writeText(name, "old");
    const snapshot = await filesystem.snapshot();
    for (const name of ["a", "b", "c"]) await filesystem.writeText(name, "new");
    for (const name of ["a", "b"]) {
      await rm(join(root, name));
      await mkdir(join(root, name, "in the way"), { recursive: true });
    }
    const failure = filesystem.restore(snapshot);
    await expect(failure).rejects.toMatchObject({ name: "FilesystemError", code: "EISDIR" });
    await expect(failure).rejects.toThrow(
      "was not fully restored because 2 changes could not be undone",
    );
    expect(await filesystem.readText("c")).toBe("old");
    await rm(join(root, "a"), { recursive: true });
    await expect(filesystem.restore(snapshot)).rejects.toThrow("1 change could not be undone");
    await rm(join(root, "b"), { recursive: true });
    await filesystem.restore(snapshot);
    for (const name of ["a", "b", "c"]) expect(await filesystem.readText(name)).toBe("old");
  });

  test("runs after earlier changes and before later ones", async () => {
    const { filesystem } = await createRoot();
    await filesystem.writeText("f", "0");
    const snapshot = await filesystem.snapshot();
    await Promise.all([
      filesystem.writeText("f", "1"),
      filesystem.writeText("g", "1"),
      filesystem.restore(snapshot),
      filesystem.writeText("h", "2"),
    ]);
    expect(await filesystem.glob("*")).toEqual(["f", "h"]);
    expect(await filesystem.readText("f")).toBe("0");
  });
});

describe("the undo copies of HostFilesystem", () => {
  test("are stored outside the root in a private directory, only while they are needed", async () => {
    const { root, temporary, filesystem } = await createRoot();
    await filesystem.writeText("f", "without a snapshot");
    await filesystem.writeText("f", "old");
    const snapshot = await filesystem.snapshot();
    await filesystem.writeText("new", "needs nothing kept");
    expect(await readdir(temporary)).toEqual([]);
    await filesystem.writeText("f", "new");
    await filesystem.delete("f");
    const [directory = ""] = await readdir(temporary);
    expect(await readMode(temporary, directory)).toBe(0o700);
    expect(await readdir(join(temporary, directory))).toHaveLength(2);
    await filesystem.restore(snapshot);
    expect(await readdir(temporary)).toEqual([]);
    await filesystem.writeText("f", "new");
    expect(await readdir(temporary)).toHaveLength(1);
    await filesystem.release(snapshot);
    expect(await readdir(temporary)).toEqual([]);
    await filesystem.writeText("f", "newer");
    await filesystem.delete("f");
    expect([await readdir(temporary), await readdir(root)]).toEqual([[], []]);
  });

  test("are deleted on dispose, after which the file system remains usable", async () => {
    const { temporary, filesystem } = await createRoot();
    await filesystem.writeText("f", "old");
    const snapshot = await filesystem.snapshot();
    await filesystem.writeText("f", "new");
    await filesystem[Symbol.asyncDispose]();
    await filesystem.close();
    expect(await readdir(temporary)).toEqual([]);
    await expect(filesystem.restore(snapshot)).rejects.toMatchObject({ code: "EINVAL" });
    expect(await filesystem.readText("f")).toBe("new");
  });

  test("are deleted after a failed write or delete", async () => {
    const { root, temporary, filesystem } = await createRoot();
    await filesystem.writeText("d/f", "old");
    await filesystem.snapshot();
    await expect(filesystem.delete("d")).rejects.toMatchObject({ code: "EISDIR" });
    await expect(filesystem.writeText("d", "x")).rejects.toMatchObject({ code: "EISDIR" });
    expect([await readdir(temporary), await readdir(root)]).toEqual([[], ["d"]]);
    const deep = createLongPath(4060 - root.length);
    await mkdir(join(root, deep), { recursive: true });
    await writeFile(join(root, deep, "f"), "old");
    const write = filesystem.writeText(`${deep}/f`, "no room for the temporary file's longer name");
    await expect(write).rejects.toMatchObject({ code: "EINVAL" });
    expect(await filesystem.readText(`${deep}/f`)).toBe("old");
    expect(await readdir(temporary)).toEqual([]);
  });

  test("are stored next to the root if the temporary directory is below it", async () => {
    const { scratch, root, filesystem } = await createRoot();
    await mkdir(join(root, "tmp"));
    vi.stubEnv("TMPDIR", join(root, "tmp"));
    await filesystem.writeText("f", "old");
    const snapshot = await filesystem.snapshot();
    await filesystem.writeText("f", "new");
    expect(await readdir(scratch)).toHaveLength(3);
    expect(await filesystem.glob("*")).toEqual(["f"]);
    await filesystem.restore(snapshot);
    expect((await readdir(scratch)).sort()).toEqual(["root", "tmp"]);
  });

  test("cannot be stored if the root is /, so changes are rejected", async () => {
    const { root } = await createRoot();
    const filesystem = new HostFilesystem("/");
    const path = join(root, "f").slice(1);
    await filesystem.writeText(path, "old");
    await filesystem.snapshot();
    await expect(filesystem.writeText(path, "new")).rejects.toThrow(
      /leaves no place outside it.*Use a folder below it as the root/,
    );
    await expect(filesystem.delete(path)).rejects.toMatchObject({ code: "EACCES" });
    expect(await filesystem.readText(path)).toBe("old");
  });
});

/** Usually another device than the temporary directory. */
const sharedMemory = await stat("/dev/shm").catch(() => null);
const isOtherDevice = sharedMemory !== null && sharedMemory.dev !== (await stat(tmpdir())).dev;

describe.runIf(isOtherDevice)(
  "HostFilesystem with the temporary directory on another device",
  () => {
    test("copies files, and restores their modes and bytes", async () => {
      const { temporary } = await createRoot();
      const { root, filesystem } = await createRoot("/dev/shm");
      vi.stubEnv("TMPDIR", temporary);
      for (const name of ["a", "b", "gone/c"]) {
        await filesystem.writeText(name, "old");
        await chmod(join(root, name), 0o641);
      }
      const snapshot = await filesystem.snapshot();
      for (const round of [1, 2]) {
        await filesystem.writeText("a", `new ${round}`);
        for (const name of ["b", "gone/c", "gone"]) await filesystem.delete(name);
        expect(await readdir(temporary)).toHaveLength(1);
        await filesystem.restore(snapshot);
        for (const name of ["a", "b", "gone/c"]) {
          expect([await filesystem.readText(name), await readMode(root, name)]).toEqual([
            "old",
            0o641,
          ]);
        }
      }
      expect([await readdir(temporary), (await readdir(root)).sort()]).toEqual([
        [],
        ["a", "b", "gone"],
      ]);
    });

    test("leaves no temporary file behind if a restore fails", async () => {
      const { temporary } = await createRoot();
      const { root, filesystem } = await createRoot("/dev/shm");
      vi.stubEnv("TMPDIR", temporary);
      await filesystem.writeText("f", "old");
      const snapshot = await filesystem.snapshot();
      await filesystem.delete("f");
      await mkdir(join(root, "f"));
      await expect(filesystem.restore(snapshot)).rejects.toMatchObject({ code: "EISDIR" });
      expect(await readdir(root)).toEqual(["f"]);
      await rm(join(root, "f"), { recursive: true });
      await filesystem.restore(snapshot);
      expect(await filesystem.readText("f")).toBe("old");
    });
  },
);
