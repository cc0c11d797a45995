import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { temporaryTree } from "../../../../tests/support/temporary-tree.ts";
import { writeTar } from "./write-tar.ts";

type Node = { readonly bytes: Uint8Array; readonly isExecutable: boolean } | Folder;
interface Folder {
  readonly inside: Readonly<Record<string, Node>>;
}

const isName = (name: string) =>
  name !== "." && name !== ".." && !/[/\0]/.test(name) && Buffer.byteLength(name) <= 255;
const names = fc
  .oneof(
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }),
    fc.string({ unit: "binary", minLength: 1, maxLength: 6 }),
    fc.string({ unit: fc.constantFrom("a", "é", "😀"), minLength: 60, maxLength: 130 }),
  )
  .filter(isName);

const { folder: folders } = fc.letrec<{ node: Node; folder: Folder }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.record({ bytes: fc.uint8Array({ maxLength: 1200 }), isExecutable: fc.boolean() }),
    tie("folder"),
  ),
  folder: fc.record({
    inside: fc.dictionary(names, tie("node"), { maxKeys: 5, noNullPrototype: true }),
  }),
}));

test("writeTar() packs any tree so that it unpacks unchanged and packs to the same bytes", () => {
  const root = temporaryTree();
  const checkRoundTrip = (tree: Folder) => {
    const source = mkdtempSync(join(root, "in-"));
    const target = mkdtempSync(join(root, "out-"));
    writeTree(source, tree);
    const tar = packFolder(source);
    execFileSync("tar", ["-xf", "-", "-C", target], { input: tar });
    expect(execFileSync("diff", ["-r", source, target], { encoding: "utf8" })).toBe("");
    compareModes(source, target, tree);
    expect(packFolder(target).equals(tar)).toBe(true);
  };
  fc.assert(fc.property(folders, checkRoundTrip), { numRuns: 30 });
});

function writeTree(folder: string, { inside }: Folder): void {
  for (const [name, node] of Object.entries(inside)) {
    const path = join(folder, name);
    if ("inside" in node) {
      mkdirSync(path);
      writeTree(path, node);
    } else {
      writeFileSync(path, node.bytes);
      chmodSync(path, node.isExecutable ? 0o755 : 0o644);
    }
  }
}

function compareModes(source: string, target: string, { inside }: Folder): void {
  for (const [name, node] of Object.entries(inside)) {
    const [one, other] = [join(source, name), join(target, name)];
    expect(statSync(other).mode).toBe(statSync(one).mode);
    if ("inside" in node) compareModes(one, other, node);
  }
}

function packFolder(folder: string): Buffer {
  const chunks: Uint8Array[] = [];
  writeTar(folder, (chunk) => chunks.push(chunk));
  return Buffer.concat(chunks);
}
