import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createPaxRecords, createTar } from "../../../../tests/support/crafted-tar.ts";
import { readTarContents } from "../../../../tests/support/read-tar-contents.ts";
import { temporaryTree, writeTree } from "../../../../tests/support/temporary-tree.ts";
import { FilesystemError, WorkspaceSecurityError } from "../../../base/filesystem-error.ts";
import { normalizePath } from "../../path.ts";
import { writeTar } from "./write-tar.ts";

const names = fc
  .oneof(
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }),
    fc.string({
      unit: fc.constantFrom("a", "é", "😀", "\uf8ff", " "),
      minLength: 1,
      maxLength: 60,
    }),
  )
  .filter((name) => isName(name));

/** Generates files at up to 5 levels, where no file is also a folder. */
const trees = fc
  .dictionary(
    fc.array(names, { minLength: 1, maxLength: 5 }).map((path) => path.join("/")),
    fc.uint8Array({ maxLength: 1500 }),
    { maxKeys: 8, noNullPrototype: true },
  )
  .filter((tree) => {
    const paths = Object.keys(tree);
    return !paths.some((path) => paths.some((other) => other.startsWith(`${path}/`)));
  });

test("readTar() returns the files that writeTar() packed", async () => {
  const root = temporaryTree();
  await fc.assert(
    fc.asyncProperty(trees, async (tree) => {
      const folder = writeTree(mkdtempSync(join(root, "in-")), tree);
      await expectContents(writeArchive(root, packFolder(folder)), tree);
    }),
    { numRuns: 60 },
  );
});

const PYTHON = `
import os, sys, tarfile
FORMATS = {"pax": tarfile.PAX_FORMAT, "gnu": tarfile.GNU_FORMAT}
for folder in sys.argv[1:]:
    for name, form in FORMATS.items():
        with tarfile.open(f"{folder}.{name}.tar", "w", format=form) as tar:
            tar.add(folder, arcname=".")
`;

test("readTar() returns the files that Python's tarfile packed in both formats", async () => {
  const root = temporaryTree();
  const sample = fc.sample(trees, 40).map((tree, index) => {
    const folder = join(root, String(index));
    mkdirSync(folder);
    return { tree, folder: writeTree(folder, tree) };
  });
  execFileSync("python3", ["-c", PYTHON, ...sample.map(({ folder }) => folder)]);
  for (const { tree, folder } of sample) {
    await expectContents(`${folder}.pax.tar`, tree);
    await expectContents(`${folder}.gnu.tar`, tree);
  }
});

/** One entry of every kind that a reader must support. */
const EVERYTHING = createTar(
  { type: "g", name: "pax_global_header", content: createPaxRecords({ comment: "x" }) },
  { type: "5", name: "d/" },
  { type: "x", name: "PaxHeaders/a", content: createPaxRecords({ path: "d/é", size: "700" }) },
  { name: "d/_", content: "x".repeat(700) },
  { type: "L", name: "././@LongLink", content: `${"long/".repeat(30)}name\0` },
  { name: "short", magic: "ustar  \0", content: "y" },
  { name: "name", prefix: "of/two/parts", content: "z".repeat(512) },
  { type: "2", name: "link" },
  { type: "\0", name: "old" },
);

/** With `isSigned`, checksums are corrected so that the damage gets past them. */
const damages = fc.record({
  flips: fc.array(
    fc.record({ at: fc.nat(EVERYTHING.length - 1), to: fc.oneof(fc.nat(255), pickOddBytes()) }),
    { minLength: 1, maxLength: 6 },
  ),
  isSigned: fc.boolean(),
  length: fc.oneof(fc.constant(EVERYTHING.length), fc.nat(EVERYTHING.length)),
});

test("readTar() rejects a damaged tar or returns only paths inside the folder", async () => {
  const root = temporaryTree();
  let rejected = 0;
  await fc.assert(
    fc.asyncProperty(damages, async ({ flips, isSigned, length }) => {
      const tar = Buffer.from(EVERYTHING);
      for (const { at, to } of flips) tar[at] = to;
      if (isSigned) signAll(tar);
      const path = writeArchive(root, tar.subarray(0, length));
      try {
        const { files } = await readTarContents(path, { maxBytes: 10_000, maxEntries: 20 });
        for (const name of Object.keys(files)) {
          expect(normalizePath(name)).toBe(name);
          expect(isName(name.replaceAll("/", ""))).toBe(true);
        }
      } catch (error) {
        const isExpected =
          error instanceof FilesystemError || error instanceof WorkspaceSecurityError;
        if (!isExpected) throw error;
        rejected += 1;
      }
    }),
    { numRuns: 2000 },
  );
  expect(rejected).toBeGreaterThan(300);
});

function pickOddBytes() {
  return fc.constantFrom(...[..."/.\\ 01257xLKgS"].map((letter) => letter.charCodeAt(0)), 0, 0x80);
}

/** Corrects the checksum of every header block. */
function signAll(tar: Buffer): void {
  for (let at = 0; at + 512 <= tar.length; at += 512) {
    const block = tar.subarray(at, at + 512);
    if (block.toString("latin1", 257, 262) !== "ustar") continue;
    block.fill(" ", 148, 156);
    const sum = block.reduce((total, byte) => total + byte, 0);
    block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, 8, "latin1");
  }
}

function isName(name: string): boolean {
  const isInside = !name.split("\\").includes("..") && name !== "." && !name.startsWith("\\");
  return isInside && !/[/\p{Cc}]|^[a-z]:\\/iu.test(name) && Buffer.byteLength(name) <= 255;
}

async function expectContents(
  path: string,
  tree: Readonly<Record<string, Uint8Array>>,
): Promise<void> {
  const { files, skipped } = await readTarContents(path);
  const toHexLines = (of: Readonly<Record<string, Uint8Array>>) =>
    Object.entries(of)
      .map(([name, bytes]) => `${name} ${Buffer.from(bytes).toString("hex")}`)
      .sort();
  expect(toHexLines(files)).toEqual(toHexLines(tree));
  expect(skipped).toEqual([]);
}

function writeArchive(root: string, tar: Uint8Array): string {
  const path = join(root, "a.tar");
  writeFileSync(path, tar);
  return path;
}

function packFolder(folder: string): Buffer {
  const chunks: Uint8Array[] = [];
  writeTar(folder, (chunk) => chunks.push(chunk));
  return Buffer.concat(chunks);
}
