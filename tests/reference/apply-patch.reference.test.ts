import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { applyPatch, PatchError } from "weakincentives";
import type { Filesystem } from "../../src/files/filesystem/filesystem.ts";
import { HostFilesystem } from "../../src/files/filesystem/host-filesystem.ts";
import { InMemoryFilesystem } from "../../src/files/filesystem/in-memory-filesystem.ts";

const { WINK_SHARED: shared = "" } = process.env;
const root = join(shared, "recorded/apply-patch");
const folder = mkdtempSync(join(tmpdir(), "wink-apply-patch-"));
const scenarios = shared === "" ? [] : foldersIn(root);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.skipIf(shared === "")("there are scenarios", () => {
  expect(scenarios.length).toBeGreaterThan(0);
});

describe.each([
  ["memory", () => new InMemoryFilesystem()],
  ["a folder of this machine", () => new HostFilesystem(mkdtempSync(join(folder, "scenario-")))],
])("in %s", (_where, make) => {
  test.each(scenarios)("scenario %s ends as it was recorded", async (name) => {
    const input = treeIn(join(root, name, "input"));
    const expected = treeIn(join(root, name, "expected"));
    const patch = readFileSync(join(root, name, "patch.txt"), "utf8");
    const filesystem = make();
    for (const [path, bytes] of Object.entries(input)) await filesystem.write(path, bytes);

    const attempt = applyPatch(filesystem, patch);
    if (isSame(input, expected)) await expect(attempt).rejects.toBeInstanceOf(PatchError);
    else await attempt;

    expect(await treeOf(filesystem)).toEqual(expected);
  });
});

function foldersIn(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

type Tree = Record<string, Uint8Array>;

/** Every file below a folder of this machine; none if there is no such folder. */
function treeIn(directory: string): Tree {
  if (!existsSync(directory)) return {};
  const paths = readdirSync(directory, { recursive: true, encoding: "utf8" }).sort();
  const files = paths.filter((path) => statSync(join(directory, path)).isFile());
  return Object.fromEntries(
    files.map((path) => [path, bytesOf(readFileSync(join(directory, path)))]),
  );
}

async function treeOf(filesystem: Filesystem): Promise<Tree> {
  const tree: Tree = {};
  for (const path of await filesystem.glob("*"))
    tree[path] = bytesOf(await filesystem.readBytes(path));
  return tree;
}

/** Without the class of the buffer, which is not compared. */
function bytesOf(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes);
}

function isSame(one: Tree, other: Tree): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
