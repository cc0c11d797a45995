import { expect, test } from "vitest";
import { FilesystemError } from "../base/filesystem-error.ts";
import type { Filesystem } from "../files/filesystem/filesystem.ts";
import { InMemoryFilesystem } from "../files/filesystem/in-memory-filesystem.ts";
import { filesystemContract } from "./filesystem-contract.ts";

type Spoil = (filesystem: Filesystem) => Partial<Filesystem>;

/** File systems with one fault each, and the case that must find it. */
const broken: readonly (readonly [string, Spoil, string])[] = [
  [
    "accepts any path",
    (fs) => ({ exists: (path) => fs.exists(path).catch(() => false) }),
    "rejects an empty, absolute, too long or too deep path, a NUL, and one that leaves the root, with EINVAL in every method",
  ],
  [
    "accepts paths that are not strings",
    (fs) => ({ mkdir: (path) => fs.mkdir(String(path)) }),
    "rejects a path that is not a string with EINVAL in every method",
  ],
  [
    "treats spellings as different files",
    (fs) => ({ readText: (path, encoding) => fs.readText(path.replaceAll(".", "_"), encoding) }),
    "resolves different spellings of a path to the same file",
  ],
  [
    "hides a name",
    (fs) => ({ listDir: async () => (await fs.listDir(".")).slice(1) }),
    "accepts any name without a slash or NUL, and keeps similar names distinct",
  ],
  [
    "finds no deeply nested files",
    (fs) => ({ glob: async () => fs.glob("nothing") }),
    "accepts files 64 levels deep",
  ],
  ["shares its bytes", shareBytes, "reads the written bytes, as a copy that the caller may change"],
  [
    "uses one error code for all failures",
    (fs) => ({ readBytes: (path) => fs.readBytes(path).catch(throwNotFound) }),
    "rejects reading a missing path with ENOENT, a directory with EISDIR, and below a file with ENOTDIR",
  ],
  [
    "drops final newlines",
    (fs) => ({ read: async (...all) => trimText(await fs.read(...all)) }),
    "counts empty lines but not a final newline, and keeps carriage returns",
  ],
  [
    "reads all lines",
    (fs) => ({ read: (path) => fs.read(path, { limit: Number.POSITIVE_INFINITY }) }),
    "reads 2000 lines by default",
  ],
  [
    "replaces invalid UTF-8",
    (fs) => ({ readText: async (path) => new TextDecoder().decode(await fs.readBytes(path)) }),
    "rejects text that is not UTF-8 with EINVAL, and suggests readBytes",
  ],
  [
    "ignores encodings",
    (fs) => ({ writeText: (path, text) => fs.writeText(path, text) }),
    "writes and reads text in utf-8, utf-16le and latin1, and keeps a byte order mark",
  ],
  [
    "sorts by locale",
    (fs) => ({
      listDir: async (path) => (await fs.listDir(path)).sort(new Intl.Collator().compare),
    }),
    "lists only directories, with names sorted by code unit",
  ],
  [
    "deletes non-empty directories",
    (fs) => ({ delete: (path) => deleteTree(fs, path) }),
    "deletes a file or an empty directory, and rejects a non-empty directory with EISDIR",
  ],
  [
    "fails mkdir on existing directories",
    (fs) => ({
      mkdir: async (path) =>
        (await fs.exists(path)) ? throwNotFound(new Error("exists")) : fs.mkdir(path),
    }),
    "creates missing directories with mkdir, accepts existing ones, and rejects a file with EEXIST",
  ],
  [
    "matches names instead of paths",
    (fs) => ({ glob: (pattern) => fs.glob(pattern.replace("src/", "")) }),
    "matches globs against whole paths like fnmatch, and returns sorted files only",
  ],
  [
    "takes braces literally",
    (fs) => ({ glob: (pattern) => fs.glob(pattern.replaceAll("{", "[{]")) }),
    "expands braces in globs, unless they are escaped",
  ],
  [
    "greps without a limit",
    (fs) => ({ grep: (pattern, options) => fs.grep(pattern, { ...options, maxMatches: 9_999 }) }),
    "searches only files that the glob matches, and stops at maxMatches",
  ],
  [
    "restores nothing",
    () => ({ restore: async () => {} }),
    "restores changed, deleted and created files byte for byte",
  ],
  ["restores once", restoreOnce, "restores the same snapshot repeatedly"],
  [
    "accepts unknown snapshots",
    (fs) => ({ restore: (snapshot) => fs.restore(snapshot).catch(() => {}) }),
    "rejects a released snapshot, or one of another file system, with EINVAL",
  ],
];

test.each(broken)(
  "filesystemContract() detects a file system that %s",
  async (_what, spoil, name) => {
    const make = () => {
      const filesystem = new InMemoryFilesystem();
      return { filesystem: { ...bindMethods(filesystem), ...spoil(filesystem) } };
    };
    const found = filesystemContract(make).find((one) => one.name.startsWith(name));
    expect(found, name).toBeDefined();
    await expect(found?.run()).rejects.toThrow();
  },
);

test("filesystemContract() accepts a wrapped file system, with or without release", async () => {
  for (const without of [{}, { release: undefined }]) {
    const make = () => ({ filesystem: { ...bindMethods(new InMemoryFilesystem()), ...without } });
    for (const { run } of filesystemContract(make as never)) await run();
  }
});

test("filesystemContract() closes the subject of each case, even if it fails", async () => {
  let closed = 0;
  const make = (filesystem: Filesystem) => () => ({ filesystem, close: () => void closed++ });
  const [good, bad] = [new InMemoryFilesystem(), new InMemoryFilesystem({ readOnly: true })];
  await filesystemContract(make(good))[0]?.run();
  await expect(filesystemContract(make(bad))[2]?.run()).rejects.toThrow();
  expect(closed).toBe(2);
});

/** Returns the same file system as an object of functions that can be replaced. */
function bindMethods(fs: InMemoryFilesystem): Filesystem {
  return {
    readOnly: fs.readOnly,
    read: (...all) => fs.read(...all),
    readText: (...all) => fs.readText(...all),
    readBytes: (...all) => fs.readBytes(...all),
    write: (...all) => fs.write(...all),
    writeText: (...all) => fs.writeText(...all),
    delete: (...all) => fs.delete(...all),
    exists: (...all) => fs.exists(...all),
    isFile: (...all) => fs.isFile(...all),
    isDir: (...all) => fs.isDir(...all),
    stat: (...all) => fs.stat(...all),
    listDir: (...all) => fs.listDir(...all),
    glob: (...all) => fs.glob(...all),
    grep: (...all) => fs.grep(...all),
    mkdir: (...all) => fs.mkdir(...all),
    snapshot: () => fs.snapshot(),
    restore: (...all) => fs.restore(...all),
    release: (...all) => fs.release(...all),
  };
}

function shareBytes(fs: Filesystem): Partial<Filesystem> {
  const shared = new Map<string, Uint8Array>();
  return {
    async readBytes(path) {
      const bytes = shared.get(path) ?? (await fs.readBytes(path));
      shared.set(path, bytes);
      return bytes;
    },
  };
}

function restoreOnce(fs: Filesystem): Partial<Filesystem> {
  return {
    async restore(snapshot) {
      await fs.restore(snapshot);
      await fs.release?.(snapshot);
    },
  };
}

async function deleteTree(fs: Filesystem, path: string): Promise<void> {
  if (await fs.isDir(path)) {
    for (const name of await fs.listDir(path)) await deleteTree(fs, `${path}/${name}`);
  }
  await fs.delete(path);
}

function trimText<Result extends { readonly text: string }>(result: Result): Result {
  return { ...result, text: result.text.replace(/\n$/, "") };
}

function throwNotFound(cause: unknown): never {
  throw new FilesystemError("ENOENT", "?", "is not there", cause);
}
