import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  createFilesystem,
  createPatch,
  type Methods,
  readFiles,
  replaceMethods,
} from "../../../tests/support/patch-fixture.ts";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { HostFilesystem } from "../../files/filesystem/host-filesystem.ts";
import type { PatchOperation } from "./patch-operation.ts";
import { runPatch } from "./run-patch.ts";

const matchError = (facts: object) => expect.objectContaining({ name: "PatchError", ...facts });

describe("runPatch()", () => {
  test("adds, changes, moves and deletes files, and reports them in order", async () => {
    const files = await createFilesystem({
      "a.txt": "1\n2\n",
      "b.txt": "b\n",
      "c.txt": "c\n",
      "d/e.txt": "e\n",
    });
    const patch = createPatch(
      "*** Add File: new/deep.txt",
      "+new",
      "*** Update File: ./a.txt",
      "@@",
      "-2",
      "+two",
      "*** Update File: b.txt",
      "*** Move to: moved/b.txt",
      "@@",
      "-b",
      "+B",
      "*** Delete File: c.txt",
      "*** Add File: d/../d/e.txt",
      "+E",
      "*** Add File: z.txt",
    );
    expect(await runPatch(files, patch)).toEqual({
      added: ["new/deep.txt", "z.txt"],
      changed: ["a.txt", "d/e.txt"],
      deleted: ["c.txt"],
      moved: [{ from: "b.txt", to: "moved/b.txt" }],
    });
    expect(await readFiles(files)).toEqual({
      "a.txt": "1\ntwo\n",
      "d/e.txt": "E\n",
      "moved/b.txt": "B\n",
      "new/deep.txt": "new\n",
      "z.txt": "",
    });
  });

  test("accepts operations", async () => {
    const files = await createFilesystem({ a: "a\n", b: "b\n", c: "c\n" });
    const operations: PatchOperation[] = [
      { type: "create", path: "n", diff: "+n\n" },
      { type: "update", path: "a", diff: "@@\n-a\n+A\n" },
      { type: "update", path: "b", diff: "", moveTo: "sub/b" },
      { type: "delete", path: "c" },
    ];
    expect(await runPatch(files, operations)).toEqual({
      added: ["n"],
      changed: ["a"],
      deleted: ["c"],
      moved: [{ from: "b", to: "sub/b" }],
    });
    expect(await readFiles(files)).toEqual({ a: "A\n", n: "n\n", "sub/b": "b\n" });
  });

  test("returns a frozen report", async () => {
    const report = await runPatch(await createFilesystem({}), createPatch("*** Add File: a"));
    expect(Object.isFrozen(report) && Object.isFrozen(report.added)).toBe(true);
  });

  test("moves a binary file whose text does not change", async () => {
    const files = await createFilesystem({});
    await files.write("a.png", Uint8Array.of(0x89, 0xff, 0x00));
    await runPatch(files, createPatch("*** Update File: a.png", "*** Move to: b.png"));
    expect([...(await files.readBytes("b.png"))]).toEqual([0x89, 0xff, 0x00]);
    expect(await files.exists("a.png")).toBe(false);
  });

  test("can create a file at the path of one deleted earlier in the patch", async () => {
    const files = await createFilesystem({ a: "a\n" });
    await runPatch(files, createPatch("*** Delete File: a", "*** Add File: a/b", "+b"));
    expect(await readFiles(files)).toEqual({ "a/b": "b\n" });
  });
});

describe("runPatch() changes nothing and rejects the patch because", () => {
  const fits = ["*** Add File: new.txt", "+new", "*** Delete File: gone.txt"];
  const update = ["@@", "-x", "+y"];

  test.each<[string, string[], object]>([
    [
      "its hunk does not match",
      ["*** Update File: a.txt", ...update],
      { path: "a.txt", hunk: 1, line: 7 },
    ],
    [
      "its file the file does not exist",
      ["*** Update File: b.txt", ...update],
      { path: "b.txt", line: 5 },
    ],
    [
      "the file to delete the file does not exist",
      ["*** Delete File: b.txt"],
      { path: "b.txt", line: 5 },
    ],
    [
      "the file to delete the path the path is a directory",
      ["*** Delete File: dir"],
      { path: "dir", line: 5 },
    ],
    [
      "the file to update the path the path is a directory",
      ["*** Update File: dir", ...update],
      { path: "dir" },
    ],
    [
      "the file to add the path the path is a directory",
      ["*** Add File: dir", "+x"],
      { path: "dir", line: 5 },
    ],
    [
      "it moves onto a directory",
      ["*** Update File: a.txt", "*** Move to: dir"],
      { path: "dir", line: 5, message: expect.stringContaining("the path is a directory") },
    ],
    [
      "it moves onto itself without a change",
      ["*** Update File: a.txt", "*** Move to: ./a.txt"],
      { path: "a.txt", line: 5, message: expect.stringContaining("moved onto itself") },
    ],
    [
      "it moves two files onto one",
      [
        ...["*** Update File: a.txt", "*** Move to: dir/c.txt"],
        ...["*** Update File: a.png", "*** Move to: dir/c.txt"],
      ],
      { path: "dir/c.txt", line: 7 },
    ],
    [
      "it moves onto a file that it adds",
      ["*** Update File: a.txt", "*** Move to: new.txt"],
      { path: "new.txt" },
    ],
    ["it names a file twice", ["*** Update File: sub/../new.txt", ...update], { line: 5 }],
    [
      "it adds a file that already has the same text",
      ["*** Add File: a.txt", "+a"],
      { path: "a.txt", line: 5 },
    ],
    ["it changes nothing", ["*** Update File: a.txt", "@@", " a"], { path: "a.txt" }],
    ["the file is not text", ["*** Update File: a.png", "@@", "+x"], { path: "a.png" }],
  ])("because %s", async (_why, lines, facts) => {
    const files = await createFilesystem({ "a.txt": "a\n", "gone.txt": "g\n", "dir/c.txt": "c\n" });
    await files.write("a.png", Uint8Array.of(0x89, 0xff));
    const before = await readFiles(files);
    await expect(runPatch(files, createPatch(...fits, ...lines))).rejects.toThrow(
      matchError(facts),
    );
    expect(await readFiles(files)).toEqual(before);
  });

  test.each([
    ["/etc/passwd", "is absolute"],
    ["../a", "leaves the root"],
    ["a/../../b", "leaves the root"],
    ["a//b", "has an empty segment"],
    ["a\0b", "contains a NUL character"],
    [".", "the path is the root"],
    ["a/..", "the path is the root"],
  ])("%j is not the path of a file", async (path, problem) => {
    const files = await createFilesystem({ a: "a\n" });
    for (const lines of [
      [`*** Add File: ${path}`, "+x"],
      [`*** Update File: ${path}`, ...update],
      [`*** Delete File: ${path}`],
      ["*** Update File: a", `*** Move to: ${path}`],
    ]) {
      const attempt = runPatch(files, createPatch(...fits.slice(0, 2), ...lines));
      await expect(attempt).rejects.toThrow(matchError({ path, line: 4 }));
      await expect(attempt).rejects.toThrow(problem);
    }
    expect(await readFiles(files)).toEqual({ a: "a\n" });
  });

  test("a path is invalid, with the file system's error as its cause", async () => {
    const attempt = runPatch(await createFilesystem({}), [{ type: "delete", path: "" }]);
    await expect(attempt).rejects.toHaveProperty("cause.code", "EINVAL");
  });

  test("it cannot be parsed, before any access to the file system", async () => {
    const files = replaceMethods(await createFilesystem({}), {
      snapshot: () => Promise.reject(new Error("asked")),
      exists: () => Promise.reject(new Error("asked")),
    });
    await expect(runPatch(files, "no patch")).rejects.toThrow(matchError({ line: 1 }));
    await expect(runPatch(files, [])).rejects.toThrow("the patch has no operations");
  });

  test("the file system is read-only", async () => {
    const files = replaceMethods(await createFilesystem({}), { readOnly: true });
    await expect(runPatch(files, createPatch(...fits))).rejects.toThrow("is read-only");
  });

  test("a file cannot be read", async () => {
    const error = new FilesystemError("EACCES", "a", "may not be read");
    const files = replaceMethods(await createFilesystem({ a: "a\n" }), {
      readBytes: () => Promise.reject(error),
    });
    const attempt = runPatch(files, createPatch("*** Update File: a", ...update));
    await expect(attempt).rejects.toThrow(matchError({ path: "a", line: 2, cause: error }));
  });
});

describe("after a failed write, runPatch()", () => {
  const patch = createPatch(
    "*** Update File: a",
    "@@",
    "-a",
    "+A",
    "*** Delete File: b",
    "*** Update File: c",
    "*** Move to: d",
    "*** Add File: e",
    "+e",
  );
  const tree = { a: "a\n", b: "b\n", c: "c\n" };
  const full = new FilesystemError("EFBIG", "e", "is too large");

  test("undoes the earlier writes", async () => {
    const files = await createFilesystem(tree);
    const failing = replaceMethods(files, {
      write: (path, bytes) => (path === "e" ? Promise.reject(full) : files.write(path, bytes)),
    });
    const attempt = runPatch(failing, patch);
    await expect(attempt).rejects.toThrow(matchError({ path: "e", cause: full }));
    expect(await readFiles(files)).toEqual(tree);
  });

  test("undoes the earlier writes if deleting a moved file fails", async () => {
    const files = await createFilesystem(tree);
    const failing = replaceMethods(files, {
      delete: (path) => (path === "c" ? Promise.reject(full) : files.delete(path)),
    });
    await expect(runPatch(failing, patch)).rejects.toThrow(matchError({ path: "c" }));
    expect(await readFiles(files)).toEqual(tree);
  });

  test("undoes a file whose path is below another of the same patch", async () => {
    const files = await createFilesystem(tree);
    const attempt = runPatch(
      files,
      createPatch("*** Add File: x", "+x", "*** Add File: x/y", "+y"),
    );
    await expect(attempt).rejects.toThrow(matchError({ path: "x/y" }));
    expect(await readFiles(files)).toEqual(tree);
  });

  test("deletes the folders it created, also on the host's file system", async () => {
    const folder = await mkdtemp(join(tmpdir(), "wink-apply-patch-"));
    await writeFile(join(folder, "a"), "a\n");
    const attempt = runPatch(
      new HostFilesystem(folder),
      createPatch("*** Add File: x/y/z", "+z", "*** Delete File: a", "*** Add File: x/y/z/w", "+w"),
    );
    await expect(attempt).rejects.toThrow(matchError({ path: "x/y/z/w" }));
    expect(await readdir(folder)).toEqual(["a"]);
    expect(await readFile(join(folder, "a"), "utf8")).toBe("a\n");
    await rm(folder, { recursive: true });
  });

  test("rethrows an error that is not a FilesystemError, after undoing all writes", async () => {
    const files = await createFilesystem(tree);
    const broken = new TypeError("the network is down");
    const failing = replaceMethods(files, {
      write: (path, bytes) => (path === "e" ? Promise.reject(broken) : files.write(path, bytes)),
    });
    await expect(runPatch(failing, patch)).rejects.toBe(broken);
    expect(await readFiles(files)).toEqual(tree);
  });

  test("reports that the patch could not be undone", async () => {
    const lost = new Error("the disk is gone");
    const failing = replaceMethods(await createFilesystem(tree), {
      write: () => Promise.reject(full),
      restore: () => Promise.reject(lost),
    });
    const attempt = runPatch(failing, patch);
    await expect(attempt).rejects.toThrow("could not be undone (the disk is gone)");
    await expect(attempt).rejects.toHaveProperty("cause.errors.1", lost);
    await expect(attempt).rejects.toHaveProperty("cause.errors.0.cause", full);
  });
});

describe("the snapshot of a patch", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const add = createPatch("*** Add File: a", "+a");

  async function countReleases(methods: Methods): Promise<number> {
    let count = 0;
    const files = replaceMethods(await createFilesystem({}), {
      ...methods,
      release: async () => {
        count++;
      },
    });
    await runPatch(files, add).catch(() => {}); // only the count matters
    return count;
  }

  test("is released once, after success and after failure", async () => {
    expect(await countReleases({})).toBe(1);
    expect(await countReleases({ write: () => Promise.reject(new Error("no")) })).toBe(1);
  });

  test("is not released if the file system has no release()", async () => {
    const files = replaceMethods(await createFilesystem({}), { release: undefined });
    expect(await runPatch(files, add)).toHaveProperty("added", ["a"]);
  });

  test("causes only a warning if it cannot be released", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const files = replaceMethods(await createFilesystem({}), {
      release: () => Promise.reject(new Error("stuck")),
    });
    expect(await runPatch(files, add)).toHaveProperty("added", ["a"]);
    expect(warned.mock.calls[0]?.[0]).toContain("stuck");
  });
});
