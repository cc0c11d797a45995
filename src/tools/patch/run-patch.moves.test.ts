import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  createFilesystem,
  createPatch,
  readFiles,
  replaceMethods,
} from "../../../tests/support/patch-fixture.ts";
import { FilesystemError } from "../../base/filesystem-error.ts";
import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import { HostFilesystem } from "../../files/filesystem/host-filesystem.ts";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import { runPatch } from "./run-patch.ts";

const matchError = (facts: object) => expect.objectContaining({ name: "PatchError", ...facts });

describe("a move onto an existing file", () => {
  const kinds: [string, () => Promise<Filesystem>][] = [
    ["InMemoryFilesystem", async () => new InMemoryFilesystem()],
    [
      "HostFilesystem",
      async () => {
        const folder = await mkdtemp(join(tmpdir(), "wink-move-"));
        onTestFinished(() => rm(folder, { recursive: true }));
        return new HostFilesystem(folder);
      },
    ],
  ];
  const move = ["*** Update File: a.txt", "*** Move to: dir/b.txt", "@@", "-a", "+A"];

  test.each(kinds)("overwrites it on %s", async (_kind, create) => {
    const files = await create();
    await files.writeText("a.txt", "a\n");
    await files.writeText("dir/b.txt", "much longer than the other file\n");
    expect(await runPatch(files, createPatch(...move))).toEqual({
      ...{ added: [], changed: [], deleted: [] },
      moved: [{ from: "a.txt", to: "dir/b.txt" }],
    });
    expect(await readFiles(files)).toEqual({ "dir/b.txt": "A\n" });
  });

  test.each(kinds)("is undone on %s if the patch fails later", async (_kind, create) => {
    const files = await create();
    const tree = { "a.txt": "a\n", "dir/b.txt": "b\n" };
    for (const [path, text] of Object.entries(tree)) await files.writeText(path, text);
    const patch = createPatch(...move, "*** Add File: x", "+x", "*** Add File: x/y", "+y");
    await expect(runPatch(files, patch)).rejects.toThrow(matchError({ path: "x/y" }));
    expect(await readFiles(files)).toEqual(tree);
  });

  test.each(kinds)("is undone on %s if the destination cannot be written", async (...given) => {
    const files = await given[1]();
    const tree = { "a.txt": "a\n", "dir/b.txt": "b\n" };
    for (const [path, text] of Object.entries(tree)) await files.writeText(path, text);
    const full = new FilesystemError("EFBIG", "dir/b.txt", "is too large");
    const failing = replaceMethods(files, { write: () => Promise.reject(full) });
    await expect(runPatch(failing, createPatch(...move))).rejects.toThrow(
      matchError({ cause: full }),
    );
    expect(await readFiles(files)).toEqual(tree);
  });

  test("is undone by a rollback to an earlier snapshot", async () => {
    const files = await createFilesystem({ "a.txt": "a\n", "dir/b.txt": "b\n" });
    const before = await files.snapshot();
    await runPatch(files, createPatch(...move));
    await files.restore(before);
    expect(await readFiles(files)).toEqual({ "a.txt": "a\n", "dir/b.txt": "b\n" });
  });

  test("changes the file in place if the destination is the file itself", async () => {
    const files = await createFilesystem({ "a.txt": "a\n" });
    const itself = createPatch("*** Update File: a.txt", "*** Move to: ./a.txt", "@@", "-a", "+A");
    expect(await runPatch(files, itself)).toMatchObject({ changed: ["a.txt"], moved: [] });
    expect(await readFiles(files)).toEqual({ "a.txt": "A\n" });
  });

  test("keeps the content if the destination is another name of the same file", async () => {
    // Like a file system that ignores case: both names lead to one file.
    const files = await createFilesystem({ "a.txt": "a\n" });
    const fold = (path: string) => path.toLowerCase();
    const folding = replaceMethods(files, {
      exists: (path) => files.exists(fold(path)),
      isFile: (path) => files.isFile(fold(path)),
      readBytes: (path) => files.readBytes(fold(path)),
      write: (path, bytes) => files.write(fold(path), bytes),
      delete: (path) => files.delete(fold(path)),
    });
    await runPatch(folding, createPatch("*** Update File: a.txt", "*** Move to: A.txt"));
    expect(await readFiles(files)).toEqual({ "a.txt": "a\n" });
  });

  test("can put a file below its own former path", async () => {
    const files = await createFilesystem({ a: "a\n" });
    await runPatch(files, createPatch("*** Update File: a", "*** Move to: a/b"));
    expect(await readFiles(files)).toEqual({ "a/b": "a\n" });
  });
});
