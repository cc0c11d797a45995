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

/** A root, and a directory for temporary files in which nobody else makes any. */
async function scene(parent = tmpdir()) {
  const scratch = await realpath(await mkdtemp(join(parent, "wink-undo-test-")));
  onTestFinished(() => rm(scratch, { recursive: true, force: true }));
  const [root, temporary] = [join(scratch, "root"), join(scratch, "tmp")];
  for (const directory of [root, temporary]) await mkdir(directory);
  vi.stubEnv("TMPDIR", temporary);
  return { scratch, root, temporary, filesystem: new HostFilesystem(root) };
}

function longDirectory(length: number): string {
  return `${"d".repeat(200)}/`.repeat(length / 201).padEnd(length, "e");
}

const modeOf = async (...path: string[]) => (await stat(join(...path))).mode & 0o7777;

describe("restore", () => {
  test("brings back modes, and files under their other names as well", async () => {
    const { root, filesystem } = await scene();
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
    expect([await modeOf(root, "a"), await modeOf(root, "b"), await modeOf(root, "d")]).toEqual([
      0o750, 0o604, 0o711,
    ]);
    expect((await stat(join(root, "a"))).ino).toBe((await stat(join(root, "a2"))).ino);
  });

  test("brings back the recorded bytes even if somebody else has changed the file since", async () => {
    const { root, filesystem } = await scene();
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

  test("leaves a directory that we made if somebody else has put something there", async () => {
    const { root, filesystem } = await scene();
    const snapshot = await filesystem.snapshot();
    await filesystem.writeText("made/f", "ours");
    await writeFile(join(root, "made/theirs"), "theirs");
    await filesystem.restore(snapshot);
    expect(await filesystem.glob("*")).toEqual(["made/theirs"]);
  });

  test("leaves what somebody has put in the place of a directory that we made", async () => {
    const { root, filesystem } = await scene();
    const snapshot = await filesystem.snapshot();
    await filesystem.writeText("made/sub/f", "ours");
    await rm(join(root, "made"), { recursive: true });
    await writeFile(join(root, "made"), "theirs");
    await filesystem.restore(snapshot);
    expect(await filesystem.readText("made")).toBe("theirs");
  });

  test("replaces a link that somebody has put in a file's place, and does not follow it", async () => {
    const { scratch, root, filesystem } = await scene();
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

  test("that cannot undo something undoes the rest, says so, and can be tried again", async () => {
    const { root, filesystem } = await scene();
    for (const name of ["a", "b", "c"]) await filesystem.writeText(name, "old");
    const snapshot = await filesystem.snapshot();
    for (const name of ["a", "b", "c"]) await filesystem.writeText(name, "new");
    for (const name of ["a", "b"]) {
      await rm(join(root, name));
      await mkdir(join(root, name, "in the way"), { recursive: true });
    }
    const failure = filesystem.restore(snapshot);
    await expect(failure).rejects.toMatchObject({ name: "FilesystemError", code: "EISDIR" });
    await expect(failure).rejects.toThrow("was not restored wholly, 2 changes could not be undone");
    expect(await filesystem.readText("c")).toBe("old");
    await rm(join(root, "a"), { recursive: true });
    await expect(filesystem.restore(snapshot)).rejects.toThrow("a change could not be undone");
    await rm(join(root, "b"), { recursive: true });
    await filesystem.restore(snapshot);
    for (const name of ["a", "b", "c"]) expect(await filesystem.readText(name)).toBe("old");
  });

  test("and changes that are asked for at the same time happen one after the other", async () => {
    const { filesystem } = await scene();
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

describe("what is kept for a snapshot", () => {
  test("is outside the root, for nobody else to see, and only while it is needed", async () => {
    const { root, temporary, filesystem } = await scene();
    await filesystem.writeText("f", "without a snapshot");
    await filesystem.writeText("f", "old");
    const snapshot = await filesystem.snapshot();
    await filesystem.writeText("new", "needs nothing kept");
    expect(await readdir(temporary)).toEqual([]);
    await filesystem.writeText("f", "new");
    await filesystem.delete("f");
    const [directory = ""] = await readdir(temporary);
    expect(await modeOf(temporary, directory)).toBe(0o700);
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

  test("goes when the file system is disposed of, which can still be used then", async () => {
    const { temporary, filesystem } = await scene();
    await filesystem.writeText("f", "old");
    const snapshot = await filesystem.snapshot();
    await filesystem.writeText("f", "new");
    await filesystem[Symbol.asyncDispose]();
    await filesystem[Symbol.asyncDispose]();
    expect(await readdir(temporary)).toEqual([]);
    await expect(filesystem.restore(snapshot)).rejects.toMatchObject({ code: "EINVAL" });
    expect(await filesystem.readText("f")).toBe("new");
  });

  test("is nothing of a write or delete that failed", async () => {
    const { root, temporary, filesystem } = await scene();
    await filesystem.writeText("d/f", "old");
    await filesystem.snapshot();
    await expect(filesystem.delete("d")).rejects.toMatchObject({ code: "EISDIR" });
    await expect(filesystem.writeText("d", "x")).rejects.toMatchObject({ code: "EISDIR" });
    expect([await readdir(temporary), await readdir(root)]).toEqual([[], ["d"]]);
    const deep = longDirectory(4060 - root.length);
    await mkdir(join(root, deep), { recursive: true });
    await writeFile(join(root, deep, "f"), "old");
    const write = filesystem.writeText(`${deep}/f`, "no room for the temporary file's longer name");
    await expect(write).rejects.toMatchObject({ code: "EINVAL" });
    expect(await filesystem.readText(`${deep}/f`)).toBe("old");
    expect(await readdir(temporary)).toEqual([]);
  });

  test("is kept beside the root if temporary files would be below it", async () => {
    const { scratch, root, filesystem } = await scene();
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

  test("has no place if the root is the whole machine, and then nothing is changed", async () => {
    const { root } = await scene();
    const filesystem = new HostFilesystem("/");
    const path = join(root, "f").slice(1);
    await filesystem.writeText(path, "old");
    await filesystem.snapshot();
    await expect(filesystem.writeText(path, "new")).rejects.toThrow(
      /no place outside it.*take a folder below it/,
    );
    await expect(filesystem.delete(path)).rejects.toMatchObject({ code: "EACCES" });
    expect(await filesystem.readText(path)).toBe("old");
  });
});

/** Another device than that of temporary files, where there is one. */
const elsewhere = await stat("/dev/shm").catch(() => null);
const isOtherDevice = elsewhere !== null && elsewhere.dev !== (await stat(tmpdir())).dev;

describe.runIf(isOtherDevice)("where temporary files are on another device", () => {
  test("files are copied, and restored with their modes and bytes", async () => {
    const { temporary } = await scene();
    const { root, filesystem } = await scene("/dev/shm");
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
        expect([await filesystem.readText(name), await modeOf(root, name)]).toEqual(["old", 0o641]);
      }
    }
    expect([await readdir(temporary), (await readdir(root)).sort()]).toEqual([
      [],
      ["a", "b", "gone"],
    ]);
  });

  test("a restore that cannot put a copy back leaves nothing of it behind", async () => {
    const { temporary } = await scene();
    const { root, filesystem } = await scene("/dev/shm");
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
});
