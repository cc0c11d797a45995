import type { Filesystem, FsSnapshot } from "../../files/filesystem/filesystem.ts";
import { expectSame } from "../contract/expect.ts";
import { expectCode, type FilesystemCase, readTree, writeFiles } from "./filesystem-case.ts";

/** Cases about snapshots, which undo changes made through the file system and no others. */
export const snapshotCases: readonly FilesystemCase[] = [
  {
    name: "restores changed, deleted and created files byte for byte",
    async check(filesystem) {
      await filesystem.write("kept", Uint8Array.of(0, 255, 10));
      await writeFiles(filesystem, "dir/changed", "dir/deleted", ".gitignore", "ignored/file");
      await filesystem.mkdir("empty/sub");
      const before = await readTree(filesystem);
      const snapshot = await filesystem.snapshot();
      await makeChanges(filesystem);
      await filesystem.restore(snapshot);
      expectSame(await readTree(filesystem), before, "the tree");
    },
  },
  {
    name: "restores the same snapshot repeatedly",
    async check(filesystem) {
      await writeFiles(filesystem, "f");
      const snapshot = await filesystem.snapshot();
      for (const text of ["one", "two", "three"]) {
        await filesystem.writeText("f", text);
        await filesystem.writeText("new/f", text);
        await filesystem.restore(snapshot);
        await filesystem.restore(snapshot);
        expectSame(
          await readTree(filesystem),
          { f: [..."in f\n"].map(toCharCode) },
          `after ${text}`,
        );
      }
    },
  },
  {
    name: "invalidates later snapshots on restore, but not earlier ones",
    async check(filesystem) {
      const first = await filesystem.snapshot();
      await filesystem.writeText("f", "1");
      const second = await filesystem.snapshot();
      await filesystem.writeText("f", "2");
      const third = await filesystem.snapshot();
      await filesystem.restore(second);
      expectSame(await filesystem.readText("f"), "1", "at the second");
      const { message } = await expectCode(filesystem.restore(third), "EINVAL", "the third");
      expectSame(message.includes("is invalid"), true, message);
      await filesystem.restore(first);
      expectSame(await readTree(filesystem), {}, "at the first");
      await expectCode(filesystem.restore(second), "EINVAL", "the second");
    },
  },
  {
    name: "rejects a released snapshot, or one of another file system, with EINVAL",
    async check(filesystem) {
      const snapshot = await filesystem.snapshot();
      await expectCode(filesystem.restore({ ...snapshot }), "EINVAL", "a copy of a snapshot");
      await expectCode(filesystem.restore({ id: "?" }), "EINVAL", "an unknown snapshot");
      await expectCode(filesystem.restore(null as never), "EINVAL", "null");
      if (!filesystem.release) return;
      await filesystem.release(snapshot);
      await filesystem.release(snapshot);
      const { message } = await expectCode(
        filesystem.restore(snapshot),
        "EINVAL",
        "a released one",
      );
      expectSame(message.includes("released"), true, message);
    },
  },
  {
    name: "keeps other snapshots valid when one is released",
    async check(filesystem) {
      const marks: FsSnapshot[] = [];
      for (const text of ["0", "1", "2", "3"]) {
        await filesystem.writeText("f", text);
        marks.push(await filesystem.snapshot());
      }
      await filesystem.writeText("f", "last");
      const [zero, one, two, three] = marks as [FsSnapshot, FsSnapshot, FsSnapshot, FsSnapshot];
      await filesystem.release?.(one);
      await filesystem.release?.(three);
      await filesystem.restore(two);
      expectSame(await filesystem.readText("f"), "2", "at the third");
      await filesystem.release?.(zero);
      await filesystem.writeText("f", "again");
      await filesystem.restore(two);
      expectSame(await filesystem.readText("f"), "2", "at the third, again");
    },
  },
  {
    name: "restores nothing for operations that failed",
    async check(filesystem) {
      await writeFiles(filesystem, "dir/f");
      const before = await readTree(filesystem);
      const snapshot = await filesystem.snapshot();
      await expectCode(filesystem.writeText("dir", "x"), "EISDIR", "a write");
      await expectCode(filesystem.writeText("dir/f/g/h", "x"), "ENOTDIR", "a write");
      await expectCode(filesystem.delete("dir"), "EISDIR", "a delete");
      await expectCode(filesystem.mkdir("dir/f"), "EEXIST", "a mkdir");
      await filesystem.restore(snapshot);
      expectSame(await readTree(filesystem), before, "the tree");
    },
  },
  {
    name: "restores a file that became a directory, and a directory that became a file",
    async check(filesystem) {
      await writeFiles(filesystem, "a", "b/c");
      const before = await readTree(filesystem);
      const snapshot = await filesystem.snapshot();
      await filesystem.delete("a");
      await writeFiles(filesystem, "a/x/y");
      await filesystem.delete("b/c");
      await filesystem.delete("b");
      await writeFiles(filesystem, "b");
      await filesystem.restore(snapshot);
      expectSame(await readTree(filesystem), before, "the tree");
    },
  },
];

/** Makes changes of every kind that can be undone. */
async function makeChanges(filesystem: Filesystem): Promise<void> {
  await filesystem.write("kept", Uint8Array.of(1));
  await filesystem.writeText("dir/changed", "once");
  await filesystem.writeText("dir/changed", "twice");
  await filesystem.delete("dir/deleted");
  await filesystem.writeText("dir/deleted", "back, and other");
  await filesystem.delete("ignored/file");
  await filesystem.delete("ignored");
  await filesystem.delete("empty/sub");
  await filesystem.writeText("new/deep/file", "new");
  await filesystem.mkdir("made/only");
  await filesystem.writeText("brief", "x");
  await filesystem.delete("brief");
}

function toCharCode(character: string): number {
  return character.charCodeAt(0);
}
