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
const scenarios = shared === "" ? [] : listFolders(root);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.skipIf(shared === "")("the apply_patch recordings contain scenarios", () => {
  expect(scenarios.length).toBeGreaterThan(0);
});

describe.each([
  ["memory", () => new InMemoryFilesystem()],
  ["a host folder", () => new HostFilesystem(mkdtempSync(join(folder, "scenario-")))],
])("applyPatch() in %s", (_where, make) => {
  test.each(scenarios)("produces the recorded result of scenario %s", async (name) => {
    const input = readFolder(join(root, name, "input"));
    const expected = readFolder(join(root, name, "expected"));
    const patch = readFileSync(join(root, name, "patch.txt"), "utf8");
    const filesystem = make();
    for (const [path, bytes] of Object.entries(input)) await filesystem.write(path, bytes);

    const attempt = applyPatch(filesystem, patch);
    if (areEqual(input, expected)) await expect(attempt).rejects.toBeInstanceOf(PatchError);
    else await attempt;

    expect(await readFilesystem(filesystem)).toEqual(expected);
  });
});

function listFolders(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

type Tree = Record<string, Uint8Array>;

/** Reads every file below a host folder; none if the folder does not exist. */
function readFolder(directory: string): Tree {
  if (!existsSync(directory)) return {};
  const paths = readdirSync(directory, { recursive: true, encoding: "utf8" }).sort();
  const files = paths.filter((path) => statSync(join(directory, path)).isFile());
  return Object.fromEntries(
    files.map((path) => [path, copyBytes(readFileSync(join(directory, path)))]),
  );
}

async function readFilesystem(filesystem: Filesystem): Promise<Tree> {
  const tree: Tree = {};
  for (const path of await filesystem.glob("*"))
    tree[path] = copyBytes(await filesystem.readBytes(path));
  return tree;
}

/** Copies bytes to a plain Uint8Array, so that the Buffer class does not affect comparisons. */
function copyBytes(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes);
}

function areEqual(one: Tree, other: Tree): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
