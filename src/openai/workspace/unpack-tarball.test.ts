import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTar } from "../../../tests/support/crafted-tar.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { readFiles } from "../../../tests/support/workspace/workspace-fixture.ts";
import { unpackTarball } from "./unpack-tarball.ts";

function createFolders() {
  const home = temporaryTree({ root: null, stage: null });
  return { root: join(home, "root"), stage: join(home, "stage") };
}

test("unpackTarball() names the archive if a file cannot be written", async () => {
  const { root, stage } = createFolders();
  mkdirSync(join(root, "a/in"), { recursive: true });
  const tarball = join(temporaryTree({ "a.tar": createTar({ content: "1" }) }), "a.tar");
  await expect(unpackTarball(tarball, { root, stage })).rejects.toMatchObject({
    ...{ name: "FilesystemError", code: "EINVAL", path: tarball },
    message: expect.stringContaining('cannot be unpacked: "a" '),
  });
});

test("unpackTarball() names the archive in the error about one of its entries", async () => {
  const { root, stage } = createFolders();
  const tarball = join(temporaryTree({ "a.tar": createTar({ name: "a\nb" }) }), "a.tar");
  await expect(unpackTarball(tarball, { root, stage })).rejects.toMatchObject({
    path: tarball,
    message: expect.stringContaining("contains a control character"),
  });
  expect(readFiles(root)).toEqual({});
});
