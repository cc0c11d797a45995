import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { truncateSync } from "node:fs";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { temporaryTree, writeTree } from "../../../tests/support/temporary-tree.ts";
import { WinkError } from "../../base/errors.ts";
import { digestFiles, digestTree } from "./digest-files.ts";
import { hashFiles } from "./hash-files.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** Waits for the next thread that starts. */
const waitForWorker = () =>
  new Promise<Worker>((resolve) => {
    process.once("worker", resolve);
  });

/** An independent implementation of the tree digest. */
const PYTHON = `
import hashlib, os, sys
for root in sys.argv[1:]:
    digests = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                digests[os.path.relpath(path, root)] = hashlib.sha256(file.read()).hexdigest()
    lines = "".join(f"{digests[path]}  {path}\\n" for path in sorted(digests))
    print(hashlib.sha256(lines.encode()).hexdigest())
`;

const digestWithPython = (...folders: readonly string[]) =>
  execFileSync("python3", ["-c", PYTHON, ...folders], { encoding: "utf8" })
    .trim()
    .split("\n");

describe("digestFiles()", () => {
  test("returns the digest of every file in path order", async () => {
    const folder = temporaryTree({ "b/c": "3", "a.txt": "1", "b.txt": "2", none: null });
    expect([...(await digestFiles(folder))]).toEqual([
      ["a.txt", sha256("1")],
      ["b.txt", sha256("2")],
      ["b/c", sha256("3")],
    ]);
  });

  test("rejects a missing folder", async () => {
    const folder = join(temporaryTree(), "gone");
    await expect(digestFiles(folder)).rejects.toMatchObject({
      name: "FilesystemError",
      code: "ENOENT",
      path: `${folder}/`,
    });
  });

  test("stops when the signal aborts", async () => {
    const folder = temporaryTree({ large: "" });
    truncateSync(join(folder, "large"), 8e9);
    const controller = new AbortController();
    const digesting = digestFiles(folder, { signal: controller.signal });
    const worker = await waitForWorker();
    const exited = new Promise((resolve) => worker.once("exit", resolve));
    controller.abort("enough");
    await expect(digesting).rejects.toBe("enough");
    await exited;
    await expect(digestFiles(folder, { signal: AbortSignal.abort("no") })).rejects.toBe("no");
  });

  test("rejects if its thread is killed", async () => {
    const digesting = digestFiles(temporaryTree({ a: "1" }));
    await (await waitForWorker()).terminate();
    await expect(digesting).rejects.toBeInstanceOf(WinkError);
    await expect(digesting).rejects.toThrow("ended early. Hash it again");
  });
});

describe("the tree digest", () => {
  test("is the hash of its lines, sorted by bytes", () => {
    const digests = new Map([
      ["😀", "4"],
      ["\uf8ff", "3"],
      ["a/b", "2"],
      ["a.b", "1"],
    ]);
    expect(digestTree(digests)).toBe(sha256("1  a.b\n2  a/b\n3  \uf8ff\n4  😀\n"));
    expect(digestTree(new Map([...digests].reverse()))).toBe(digestTree(digests));
    expect(digestTree(new Map())).toBe(sha256(""));
  });

  test("includes all lines of a large tree", () => {
    const paths = Array.from(
      { length: 5_000 },
      (_, place) => `d/${String(place).padStart(5, "0")}`,
    );
    const lines = paths.map((path) => `${sha256(path)}  ${path}\n`);
    const digests = new Map(paths.toReversed().map((path) => [path, sha256(path)]));
    expect(digestTree(digests)).toBe(sha256(lines.join("")));
  });

  test("equals the digest that Python computes", () => {
    const odd = ["😀", "\uf8ff", "\uffff", "\u{10ffff}", "a.b", "a/b", "é", "e\u0301", "new\nline"];
    const names = fc
      .string({
        unit: fc.constantFrom("a", "B", ".", "é", "\ud7ff", "\ue000", "\ufb01", "😀", "𐀀"),
        minLength: 1,
        maxLength: 4,
      })
      .filter((name) => !/^\.+$/.test(name));
    const trees = fc.sample(fc.dictionary(names, fc.string({ maxLength: 3 })), 40);
    const folders = [
      temporaryTree(Object.fromEntries(odd.map((path) => [path, `of ${path}`]))),
      ...trees.map((tree) => writeTree(temporaryTree(), tree)),
    ];
    expect(digestWithPython(...folders)).toEqual(
      folders.map((folder) => digestTree(hashFiles(folder))),
    );
  });
});
