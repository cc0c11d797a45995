import { expect, test } from "vitest";
import { FilesystemError } from "../base/filesystem-error.ts";
import type { Filesystem } from "../files/filesystem/filesystem.ts";
import { InMemoryFilesystem } from "../files/filesystem/in-memory-filesystem.ts";
import { filesystemContract } from "./filesystem-contract.ts";

type Spoil = (filesystem: Filesystem) => Partial<Filesystem>;

/** A file system with one thing wrong, and what the contract must find. */
const broken: readonly (readonly [string, Spoil, string])[] = [
  [
    "answers for any path",
    (fs) => ({ exists: (path) => fs.exists(path).catch(() => false) }),
    "a path",
  ],
  [
    "takes paths that are not text",
    (fs) => ({ mkdir: (path) => fs.mkdir(String(path)) }),
    "what is not text",
  ],
  [
    "keeps two spellings apart",
    (fs) => ({ readText: (path, encoding) => fs.readText(path.replaceAll(".", "_"), encoding) }),
    "two spellings",
  ],
  [
    "hides a name",
    (fs) => ({ listDir: async () => (await fs.listDir(".")).slice(1) }),
    "names may",
  ],
  [
    "finds nothing deep down",
    (fs) => ({ glob: async () => fs.glob("nothing") }),
    "files may be 64",
  ],
  ["shares its bytes", sharingBytes, "bytes are read as they were written"],
  [
    "has one code for all",
    (fs) => ({ readBytes: (path) => fs.readBytes(path).catch(notFound) }),
    "reading what is missing",
  ],
  [
    "drops final newlines",
    (fs) => ({ read: async (...all) => trimmed(await fs.read(...all)) }),
    "a final newline",
  ],
  [
    "reads everything",
    (fs) => ({ read: (path) => fs.read(path, { limit: Number.POSITIVE_INFINITY }) }),
    "2000 lines",
  ],
  [
    "replaces what is not UTF-8",
    (fs) => ({ readText: async (path) => new TextDecoder().decode(await fs.readBytes(path)) }),
    "text that is not UTF-8",
  ],
  [
    "ignores encodings",
    (fs) => ({ writeText: (path, text) => fs.writeText(path, text) }),
    "text is",
  ],
  [
    "sorts by language",
    (fs) => ({
      listDir: async (path) => (await fs.listDir(path)).sort(new Intl.Collator().compare),
    }),
    "listDir gives names sorted",
  ],
  ["deletes trees", (fs) => ({ delete: (path) => deleteTree(fs, path) }), "delete removes a file"],
  [
    "minds what is there",
    (fs) => ({
      mkdir: async (path) =>
        (await fs.exists(path)) ? notFound(new Error("exists")) : fs.mkdir(path),
    }),
    "mkdir makes",
  ],
  [
    "matches names instead of paths",
    (fs) => ({ glob: (pattern) => fs.glob(pattern.replace("src/", "")) }),
    "glob matches as fnmatch",
  ],
  [
    "greps without a limit",
    (fs) => ({ grep: (pattern, options) => fs.grep(pattern, { ...options, maxMatches: 9_999 }) }),
    "grep looks only into files",
  ],
  ["restores nothing", () => ({ restore: async () => {} }), "restore brings back"],
  ["restores once", restoringOnce, "a snapshot can be restored again"],
  [
    "knows nobody's snapshots",
    (fs) => ({ restore: (snapshot) => fs.restore(snapshot).catch(() => {}) }),
    "a snapshot that was released",
  ],
];

test.each(broken)("a file system that %s breaks the contract", async (_what, spoil, name) => {
  const make = () => {
    const filesystem = new InMemoryFilesystem();
    return { filesystem: { ...bound(filesystem), ...spoil(filesystem) } };
  };
  const found = filesystemContract(make).find((one) => one.name.startsWith(name));
  expect(found, name).toBeDefined();
  await expect(found?.run()).rejects.toThrow();
});

test("a file system that is only handed on keeps the contract, release or not", async () => {
  for (const without of [{}, { release: undefined }]) {
    const make = () => ({ filesystem: { ...bound(new InMemoryFilesystem()), ...without } });
    for (const { run } of filesystemContract(make as never)) await run();
  }
});

test("what was made for a case is closed, whether it held or not", async () => {
  let closed = 0;
  const make = (filesystem: Filesystem) => () => ({ filesystem, close: () => void closed++ });
  const [good, bad] = [new InMemoryFilesystem(), new InMemoryFilesystem({ readOnly: true })];
  await filesystemContract(make(good))[0]?.run();
  await expect(filesystemContract(make(bad))[2]?.run()).rejects.toThrow();
  expect(closed).toBe(2);
});

/** The same file system as an object of functions, some of which can be replaced. */
function bound(fs: InMemoryFilesystem): Filesystem {
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

function sharingBytes(fs: Filesystem): Partial<Filesystem> {
  const shared = new Map<string, Uint8Array>();
  return {
    async readBytes(path) {
      const bytes = shared.get(path) ?? (await fs.readBytes(path));
      shared.set(path, bytes);
      return bytes;
    },
  };
}

function restoringOnce(fs: Filesystem): Partial<Filesystem> {
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

function trimmed<Result extends { readonly text: string }>(result: Result): Result {
  return { ...result, text: result.text.replace(/\n$/, "") };
}

function notFound(cause: unknown): never {
  throw new FilesystemError("ENOENT", "?", "is not there", cause);
}
