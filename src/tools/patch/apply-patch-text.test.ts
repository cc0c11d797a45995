import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { FilesystemError } from "../../base/filesystem-error.ts";
import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import { HostFilesystem } from "../../files/filesystem/host-filesystem.ts";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import { applyPatch } from "./apply-patch-text.ts";
import type { PatchOperation } from "./patch-operation.ts";

const patchOf = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
const refusal = (facts: object) => expect.objectContaining({ name: "PatchError", ...facts });

async function holding(files: Record<string, string>): Promise<Filesystem> {
  const filesystem = new InMemoryFilesystem();
  for (const [path, text] of Object.entries(files)) await filesystem.writeText(path, text);
  return filesystem;
}

async function treeOf(filesystem: Filesystem): Promise<Record<string, string>> {
  const tree: Record<string, string> = {};
  for (const path of await filesystem.glob("*")) {
    tree[path] = new TextDecoder().decode(await filesystem.readBytes(path));
  }
  return tree;
}

type Replaced = { [Key in keyof Filesystem]?: Filesystem[Key] | undefined };

/** The same file system with some of its methods replaced. */
function but(filesystem: Filesystem, methods: Replaced): Filesystem {
  return new Proxy(filesystem, {
    get(target, key) {
      const own: unknown = Reflect.has(methods, key)
        ? Reflect.get(methods, key)
        : Reflect.get(target, key);
      return typeof own === "function" ? own.bind(target) : own;
    },
  });
}

describe("a patch", () => {
  test("adds, changes, moves and deletes, and reports it in its order", async () => {
    const files = await holding({
      "a.txt": "1\n2\n",
      "b.txt": "b\n",
      "c.txt": "c\n",
      "d/e.txt": "e\n",
    });
    const patch = patchOf(
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
    expect(await applyPatch(files, patch)).toEqual({
      added: ["new/deep.txt", "z.txt"],
      changed: ["a.txt", "d/e.txt"],
      deleted: ["c.txt"],
      moved: [{ from: "b.txt", to: "moved/b.txt" }],
    });
    expect(await treeOf(files)).toEqual({
      "a.txt": "1\ntwo\n",
      "d/e.txt": "E\n",
      "moved/b.txt": "B\n",
      "new/deep.txt": "new\n",
      "z.txt": "",
    });
  });

  test("may come as operations", async () => {
    const files = await holding({ a: "a\n", b: "b\n", c: "c\n" });
    const operations: PatchOperation[] = [
      { type: "create", path: "n", diff: "+n\n" },
      { type: "update", path: "a", diff: "@@\n-a\n+A\n" },
      { type: "update", path: "b", diff: "", moveTo: "sub/b" },
      { type: "delete", path: "c" },
    ];
    expect(await applyPatch(files, operations)).toEqual({
      added: ["n"],
      changed: ["a"],
      deleted: ["c"],
      moved: [{ from: "b", to: "sub/b" }],
    });
    expect(await treeOf(files)).toEqual({ a: "A\n", n: "n\n", "sub/b": "b\n" });
  });

  test("gives a frozen report", async () => {
    const report = await applyPatch(await holding({}), patchOf("*** Add File: a"));
    expect(Object.isFrozen(report) && Object.isFrozen(report.added)).toBe(true);
  });

  test("moves a file of any bytes whose text it leaves alone", async () => {
    const files = await holding({});
    await files.write("a.png", Uint8Array.of(0x89, 0xff, 0x00));
    await applyPatch(files, patchOf("*** Update File: a.png", "*** Move to: b.png"));
    expect([...(await files.readBytes("b.png"))]).toEqual([0x89, 0xff, 0x00]);
    expect(await files.exists("a.png")).toBe(false);
  });

  test("may put a file where one to be deleted was above it", async () => {
    const files = await holding({ a: "a\n" });
    await applyPatch(files, patchOf("*** Delete File: a", "*** Add File: a/b", "+b"));
    expect(await treeOf(files)).toEqual({ "a/b": "b\n" });
  });
});

describe("a patch that cannot be applied changes nothing", () => {
  const fits = ["*** Add File: new.txt", "+new", "*** Delete File: gone.txt"];
  const update = ["@@", "-x", "+y"];

  test.each<[string, string[], object]>([
    [
      "its hunk does not fit",
      ["*** Update File: a.txt", ...update],
      { path: "a.txt", hunk: 1, line: 7 },
    ],
    ["its file does not exist", ["*** Update File: b.txt", ...update], { path: "b.txt", line: 5 }],
    ["what it deletes does not exist", ["*** Delete File: b.txt"], { path: "b.txt", line: 5 }],
    ["what it deletes is a directory", ["*** Delete File: dir"], { path: "dir", line: 5 }],
    ["what it updates is a directory", ["*** Update File: dir", ...update], { path: "dir" }],
    ["what it adds is a directory", ["*** Add File: dir", "+x"], { path: "dir", line: 5 }],
    [
      "it moves onto a file",
      ["*** Update File: a.txt", "*** Move to: dir/c.txt"],
      { path: "dir/c.txt", line: 5 },
    ],
    ["it moves onto a directory", ["*** Update File: a.txt", "*** Move to: dir"], { path: "dir" }],
    [
      "it moves onto itself",
      ["*** Update File: a.txt", "*** Move to: ./a.txt"],
      { path: "./a.txt" },
    ],
    [
      "it moves onto what it adds",
      ["*** Update File: a.txt", "*** Move to: new.txt"],
      { path: "new.txt" },
    ],
    ["it names a file twice", ["*** Update File: sub/../new.txt", ...update], { line: 5 }],
    ["it adds a file that is just so", ["*** Add File: a.txt", "+a"], { path: "a.txt", line: 5 }],
    ["it changes nothing", ["*** Update File: a.txt", "@@", " a"], { path: "a.txt" }],
    ["it is not text", ["*** Update File: a.png", "@@", "+x"], { path: "a.png" }],
  ])("because %s", async (_why, lines, facts) => {
    const files = await holding({ "a.txt": "a\n", "gone.txt": "g\n", "dir/c.txt": "c\n" });
    await files.write("a.png", Uint8Array.of(0x89, 0xff));
    const before = await treeOf(files);
    await expect(applyPatch(files, patchOf(...fits, ...lines))).rejects.toThrow(refusal(facts));
    expect(await treeOf(files)).toEqual(before);
  });

  test.each([
    ["/etc/passwd", "is absolute"],
    ["../a", "leaves the root"],
    ["a/../../b", "leaves the root"],
    ["a//b", "has an empty segment"],
    ["a\0b", "holds a NUL"],
    [".", "is the root"],
    ["a/..", "is the root"],
  ])("because %j is no path of a file", async (path, problem) => {
    const files = await holding({ a: "a\n" });
    for (const lines of [
      [`*** Add File: ${path}`, "+x"],
      [`*** Update File: ${path}`, ...update],
      [`*** Delete File: ${path}`],
      ["*** Update File: a", `*** Move to: ${path}`],
    ]) {
      const attempt = applyPatch(files, patchOf(...fits.slice(0, 2), ...lines));
      await expect(attempt).rejects.toThrow(refusal({ path, line: 4 }));
      await expect(attempt).rejects.toThrow(problem);
    }
    expect(await treeOf(files)).toEqual({ a: "a\n" });
  });

  test("because a path is refused, with the file system's own reason as its cause", async () => {
    const attempt = applyPatch(await holding({}), [{ type: "delete", path: "" }]);
    await expect(attempt).rejects.toHaveProperty("cause.code", "EINVAL");
  });

  test("because it cannot be read, before the file system is asked anything", async () => {
    const files = but(await holding({}), {
      snapshot: () => Promise.reject(new Error("asked")),
      exists: () => Promise.reject(new Error("asked")),
    });
    await expect(applyPatch(files, "no patch")).rejects.toThrow(refusal({ line: 1 }));
    await expect(applyPatch(files, [])).rejects.toThrow("changes no file");
  });

  test("because the file system is read-only", async () => {
    const files = but(await holding({}), { readOnly: true });
    await expect(applyPatch(files, patchOf(...fits))).rejects.toThrow("is read-only");
  });

  test("because a file cannot be read", async () => {
    const error = new FilesystemError("EACCES", "a", "may not be read");
    const files = but(await holding({ a: "a\n" }), { readBytes: () => Promise.reject(error) });
    const attempt = applyPatch(files, patchOf("*** Update File: a", ...update));
    await expect(attempt).rejects.toThrow(refusal({ path: "a", line: 2, cause: error }));
  });
});

describe("a write that fails", () => {
  const patch = patchOf(
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

  test("undoes those before it", async () => {
    const files = await holding(tree);
    const failing = but(files, {
      write: (path, bytes) => (path === "e" ? Promise.reject(full) : files.write(path, bytes)),
    });
    const attempt = applyPatch(failing, patch);
    await expect(attempt).rejects.toThrow(refusal({ path: "e", cause: full }));
    expect(await treeOf(files)).toEqual(tree);
  });

  test("undoes those before it when it is a delete of a moved file", async () => {
    const files = await holding(tree);
    const failing = but(files, {
      delete: (path) => (path === "c" ? Promise.reject(full) : files.delete(path)),
    });
    await expect(applyPatch(failing, patch)).rejects.toThrow(refusal({ path: "c" }));
    expect(await treeOf(files)).toEqual(tree);
  });

  test("undoes a file that would be below another of the same patch", async () => {
    const files = await holding(tree);
    const attempt = applyPatch(files, patchOf("*** Add File: x", "+x", "*** Add File: x/y", "+y"));
    await expect(attempt).rejects.toThrow(refusal({ path: "x/y" }));
    expect(await treeOf(files)).toEqual(tree);
  });

  test("undoes the folders that were made for it, also on this machine", async () => {
    const folder = await mkdtemp(join(tmpdir(), "wink-apply-patch-"));
    await writeFile(join(folder, "a"), "a\n");
    const attempt = applyPatch(
      new HostFilesystem(folder),
      patchOf("*** Add File: x/y/z", "+z", "*** Delete File: a", "*** Add File: x/y/z/w", "+w"),
    );
    await expect(attempt).rejects.toThrow(refusal({ path: "x/y/z/w" }));
    expect(await readdir(folder)).toEqual(["a"]);
    expect(await readFile(join(folder, "a"), "utf8")).toBe("a\n");
    await rm(folder, { recursive: true });
  });

  test("is thrown as it is, after all is undone, if it is not the file system's refusal", async () => {
    const files = await holding(tree);
    const broken = new TypeError("the network is down");
    const failing = but(files, {
      write: (path, bytes) => (path === "e" ? Promise.reject(broken) : files.write(path, bytes)),
    });
    await expect(applyPatch(failing, patch)).rejects.toBe(broken);
    expect(await treeOf(files)).toEqual(tree);
  });

  test("says so if it could not be undone", async () => {
    const lost = new Error("the disk is gone");
    const failing = but(await holding(tree), {
      write: () => Promise.reject(full),
      restore: () => Promise.reject(lost),
    });
    const attempt = applyPatch(failing, patch);
    await expect(attempt).rejects.toThrow("could not be undone (the disk is gone)");
    await expect(attempt).rejects.toHaveProperty("cause.errors.1", lost);
    await expect(attempt).rejects.toHaveProperty("cause.errors.0.cause", full);
  });
});

describe("the snapshot that a patch takes", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const add = patchOf("*** Add File: a", "+a");

  async function released(methods: Replaced): Promise<number> {
    let count = 0;
    const files = but(await holding({}), {
      ...methods,
      release: async () => {
        count++;
      },
    });
    await applyPatch(files, add).catch(() => {}); // only the count matters
    return count;
  }

  test("is released once, after success and after failure", async () => {
    expect(await released({})).toBe(1);
    expect(await released({ write: () => Promise.reject(new Error("no")) })).toBe(1);
  });

  test("is left alone where it cannot be released", async () => {
    const files = but(await holding({}), { release: undefined });
    expect(await applyPatch(files, add)).toHaveProperty("added", ["a"]);
  });

  test("spoils nothing if it cannot be released, and a warning says so", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const files = but(await holding({}), { release: () => Promise.reject(new Error("stuck")) });
    expect(await applyPatch(files, add)).toHaveProperty("added", ["a"]);
    expect(warned.mock.calls[0]?.[0]).toContain("stuck");
  });
});
