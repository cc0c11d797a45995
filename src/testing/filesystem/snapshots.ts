import type { Filesystem, FsSnapshot } from "../../files/filesystem/filesystem.ts";
import { same } from "../contract/expect.ts";
import { type FilesystemCase, fill, refuses, treeOf } from "./filesystem-case.ts";

/** Snapshots: what was done through the file system is undone, and only that. */
export const snapshotCases: readonly FilesystemCase[] = [
  {
    name: "restore brings back contents, deletions, and what was made, byte for byte",
    async check(filesystem) {
      await filesystem.write("kept", Uint8Array.of(0, 255, 10));
      await fill(filesystem, "dir/changed", "dir/deleted", ".gitignore", "ignored/file");
      await filesystem.mkdir("empty/sub");
      const before = await treeOf(filesystem);
      const snapshot = await filesystem.snapshot();
      await change(filesystem);
      await filesystem.restore(snapshot);
      same(await treeOf(filesystem), before, "the tree");
    },
  },
  {
    name: "a snapshot can be restored again, and again",
    async check(filesystem) {
      await fill(filesystem, "f");
      const snapshot = await filesystem.snapshot();
      for (const text of ["one", "two", "three"]) {
        await filesystem.writeText("f", text);
        await filesystem.writeText("new/f", text);
        await filesystem.restore(snapshot);
        await filesystem.restore(snapshot);
        same(await treeOf(filesystem), { f: [..."in f\n"].map(codeOf) }, `after ${text}`);
      }
    },
  },
  {
    name: "restoring a snapshot makes later ones void, and leaves earlier ones",
    async check(filesystem) {
      const first = await filesystem.snapshot();
      await filesystem.writeText("f", "1");
      const second = await filesystem.snapshot();
      await filesystem.writeText("f", "2");
      const third = await filesystem.snapshot();
      await filesystem.restore(second);
      same(await filesystem.readText("f"), "1", "at the second");
      const { message } = await refuses(filesystem.restore(third), "EINVAL", "the third");
      same(message.includes("void"), true, message);
      await filesystem.restore(first);
      same(await treeOf(filesystem), {}, "at the first");
      await refuses(filesystem.restore(second), "EINVAL", "the second");
    },
  },
  {
    name: "a snapshot that was released, or is not of this file system, is EINVAL",
    async check(filesystem) {
      const snapshot = await filesystem.snapshot();
      await refuses(filesystem.restore({ ...snapshot }), "EINVAL", "one of somebody else");
      await refuses(filesystem.restore({ id: "?" }), "EINVAL", "one of nobody");
      await refuses(filesystem.restore(null as never), "EINVAL", "none");
      if (!filesystem.release) return;
      await filesystem.release(snapshot);
      await filesystem.release(snapshot);
      const { message } = await refuses(filesystem.restore(snapshot), "EINVAL", "a released one");
      same(message.includes("released"), true, message);
    },
  },
  {
    name: "releasing one snapshot takes nothing from the others",
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
      same(await filesystem.readText("f"), "2", "at the third");
      await filesystem.release?.(zero);
      await filesystem.writeText("f", "again");
      await filesystem.restore(two);
      same(await filesystem.readText("f"), "2", "at the third, again");
    },
  },
  {
    name: "what was refused leaves nothing to undo",
    async check(filesystem) {
      await fill(filesystem, "dir/f");
      const before = await treeOf(filesystem);
      const snapshot = await filesystem.snapshot();
      await refuses(filesystem.writeText("dir", "x"), "EISDIR", "a write");
      await refuses(filesystem.writeText("dir/f/g/h", "x"), "ENOTDIR", "a write");
      await refuses(filesystem.delete("dir"), "EISDIR", "a delete");
      await refuses(filesystem.mkdir("dir/f"), "EEXIST", "a mkdir");
      await filesystem.restore(snapshot);
      same(await treeOf(filesystem), before, "the tree");
    },
  },
  {
    name: "a file that becomes a directory, and a directory that becomes a file, are restored",
    async check(filesystem) {
      await fill(filesystem, "a", "b/c");
      const before = await treeOf(filesystem);
      const snapshot = await filesystem.snapshot();
      await filesystem.delete("a");
      await fill(filesystem, "a/x/y");
      await filesystem.delete("b/c");
      await filesystem.delete("b");
      await fill(filesystem, "b");
      await filesystem.restore(snapshot);
      same(await treeOf(filesystem), before, "the tree");
    },
  },
];

/** Some of everything that can be undone. */
async function change(filesystem: Filesystem): Promise<void> {
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

function codeOf(character: string): number {
  return character.charCodeAt(0);
}
