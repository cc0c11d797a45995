import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { readTree } from "../../testing/filesystem/filesystem-case.ts";
import type { Filesystem, FsSnapshot } from "./filesystem.ts";
import { HostFilesystem } from "./host-filesystem.ts";
import { InMemoryFilesystem } from "./in-memory-filesystem.ts";

async function createScratchDirectory(): Promise<string> {
  const scratch = await realpath(await mkdtemp(join(tmpdir(), "wink-property-")));
  onTestFinished(() => rm(scratch, { recursive: true, force: true }));
  return scratch;
}

/** One operation on a file system. `marks` are the snapshots taken so far. */
type Step = (filesystem: Filesystem, marks: FsSnapshot[]) => Promise<unknown>;

/** Uses few names, so that paths often collide as files and directories. */
const path = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.array(fc.constantFrom("a", "b", "ä"), { minLength: 1, maxLength: 3 }),
  },
  { weight: 1, arbitrary: fc.constantFrom(["."], [".."], ["a", "..", "b"], [""], ["a", ""]) },
);
const at = path.map((names) => names.join("/"));
const text = fc.constantFrom("", "x", "x\n", "a\r\nb\n", "ä\n\nx", "one\ntwo\nthree");
const pattern = fc.constantFrom("*", "a/*", "**/b", "?", "[!a]*", "*/a", "");
const which = fc.nat({ max: 5 });

const step: fc.Arbitrary<readonly [string, Step]> = fc.oneof(
  fc.tuple(at, text).map(nameStep("writeText", (fs, [path, text]) => fs.writeText(path, text))),
  fc
    .tuple(at, fc.uint8Array({ maxLength: 4 }))
    .map(nameStep("write", (fs, [path, bytes]) => fs.write(path, bytes))),
  at.map(nameStep("delete", (fs, path) => fs.delete(path))),
  at.map(nameStep("delete again", (fs, path) => fs.delete(path))),
  at.map(nameStep("mkdir", (fs, path) => fs.mkdir(path))),
  fc.constant(null).map(nameStep("snapshot", takeSnapshot)),
  fc.constant(null).map(nameStep("snapshot again", takeSnapshot)),
  which.map(nameStep("restore", (fs, index, marks) => fs.restore(findMark(marks, index)))),
  which.map(
    nameStep("release", async (fs, index, marks) => await fs.release?.(findMark(marks, index))),
  ),
  fc
    .tuple(at, fc.nat({ max: 3 }), fc.nat({ max: 3 }))
    .map(nameStep("read", (fs, [path, offset, limit]) => fs.read(path, { offset, limit }))),
  at.map(nameStep("readBytes", async (fs, path) => [...(await fs.readBytes(path))])),
  at.map(nameStep("stat", (fs, path) => fs.stat(path))),
  at.map(nameStep("listDir", (fs, path) => fs.listDir(path))),
  at.map(
    nameStep("exists", async (fs, path) => [
      await fs.exists(path),
      await fs.isFile(path),
      await fs.isDir(path),
    ]),
  ),
  pattern.map(nameStep("glob", (fs, pattern) => fs.glob(pattern))),
  fc
    .tuple(pattern, fc.constantFrom("x", "^$", "b$", "("))
    .map(
      nameStep("grep", (fs, [glob, expression]) => fs.grep(expression, { glob, maxMatches: 3 })),
    ),
);

test("HostFilesystem and InMemoryFilesystem return the same results for any operations", async () => {
  const scratch = await createScratchDirectory();
  let runs = 0;
  const property = fc.asyncProperty(
    fc.array(step, { maxLength: 60, size: "max" }),
    async (steps) => {
      const root = join(scratch, String(runs++));
      await mkdir(root);
      const host = { filesystem: new HostFilesystem(root), marks: [] };
      const memory = { filesystem: new InMemoryFilesystem(), marks: [] };
      for (const [name, work] of steps) {
        const [on, off] = [await runStep(host, work), await runStep(memory, work)];
        expect(on, name).toEqual(off);
        if (name.startsWith("restore")) await expectSameTree(host.filesystem, memory.filesystem);
      }
      await expectSameTree(host.filesystem, memory.filesystem);
      await host.filesystem[Symbol.asyncDispose]();
    },
  );
  await fc.assert(property, { numRuns: 80 });
});

test("restore() returns to the exact tree of the snapshot after any operations", async () => {
  const scratch = await createScratchDirectory();
  let runs = 0;
  const some = fc.array(step, { maxLength: 25, size: "max" });
  const property = fc.asyncProperty(some, some, async (before, after) => {
    const root = join(scratch, String(runs++));
    await mkdir(root);
    for (const filesystem of [new HostFilesystem(root), new InMemoryFilesystem()]) {
      const subject = { filesystem, marks: [] };
      for (const [, work] of before) await runStep(subject, work);
      const tree = await readTree(filesystem);
      const snapshot = await filesystem.snapshot();
      const since = { filesystem, marks: [] };
      for (const [, work] of after) await runStep(since, work);
      await filesystem.restore(snapshot);
      expect(await readTree(filesystem)).toEqual(tree);
      if (filesystem instanceof HostFilesystem) await filesystem[Symbol.asyncDispose]();
    }
  });
  await fc.assert(property, { numRuns: 60 });
});

const fuzzedName = fc.oneof(
  fc.constantFrom("..", ".", "", "a", "out", "file", "up", "deep", "\\..", "..\\", "\0", "~", "…"),
  fc.string({ maxLength: 5, unit: "binary" }),
);
const fuzzedPath = fc
  .tuple(fc.constantFrom("", "/", "./", "../"), fc.array(fuzzedName, { maxLength: 6 }))
  .map(([start, names]) => start + names.join("/"));

test("HostFilesystem reads and changes nothing outside the root for any path", async () => {
  const scratch = await createScratchDirectory();
  const root = join(scratch, "root");
  for (const directory of ["root/deep/a", "sentinel/deep"]) {
    await mkdir(join(scratch, directory), { recursive: true });
  }
  for (const file of ["sentinel/a", "sentinel/file", "sentinel/deep/a"]) {
    await writeFile(join(scratch, file), "secret");
  }
  const links = { out: "../sentinel", file: "../sentinel/file", up: "..", "deep/out": scratch };
  for (const [name, target] of Object.entries(links)) await symlink(target, join(root, name));
  const filesystem = new HostFilesystem(root);
  const property = fc.asyncProperty(fc.array(fuzzedPath, { maxLength: 8 }), async (paths) => {
    const snapshot = await filesystem.snapshot();
    for (const path of paths) {
      const seen = await Promise.allSettled([
        filesystem.writeText(path, "mine"),
        filesystem.readText(path),
        filesystem.mkdir(`${path}/a`),
        filesystem.listDir(path),
        filesystem.writeText(`${path}/a`, "mine"),
        filesystem.delete(path),
      ]);
      for (const result of seen) {
        if (result.status === "rejected") expect(result.reason).toBeInstanceOf(FilesystemError);
        else expect(result.value === "secret").toBe(false);
      }
    }
    await filesystem.restore(snapshot);
    await filesystem.release(snapshot);
    expect((await readdir(scratch)).sort()).toEqual(["root", "sentinel"]);
    const outside = await readdir(join(scratch, "sentinel"), { recursive: true });
    expect(outside.sort()).toEqual(["a", "deep", "deep/a", "file"]);
  });
  await fc.assert(property, { numRuns: 150 });
  for (const file of ["a", "file", "deep/a"]) {
    expect(await readFile(join(scratch, "sentinel", file), "utf8")).toBe("secret");
  }
});

/** Creates steps with a name that appears in the failure message. */
function nameStep<Given>(
  name: string,
  work: (filesystem: Filesystem, given: Given, marks: FsSnapshot[]) => Promise<unknown>,
): (given: Given) => readonly [string, Step] {
  return (given) => [
    `${name} ${JSON.stringify(given)}`,
    (filesystem, marks) => work(filesystem, given, marks),
  ];
}

async function takeSnapshot(filesystem: Filesystem, _: null, marks: FsSnapshot[]): Promise<string> {
  const mark = await filesystem.snapshot();
  marks.push(mark);
  return mark.id;
}

function findMark(marks: readonly FsSnapshot[], index: number): FsSnapshot {
  return marks.at(-1 - index) ?? { id: "none" };
}

interface Subject {
  readonly filesystem: Filesystem;
  readonly marks: FsSnapshot[];
}

/** Runs a step and returns its result or the code of its error. */
async function runStep({ filesystem, marks }: Subject, work: Step): Promise<unknown> {
  try {
    return { result: await work(filesystem, marks) };
  } catch (error) {
    if (error instanceof FilesystemError) return { code: error.code };
    throw error;
  }
}

async function expectSameTree(one: Filesystem, other: Filesystem): Promise<void> {
  expect(await readTree(one)).toEqual(await readTree(other));
}
