import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { HostFilesystem, InMemoryFilesystem } from "weakincentives/files";
import { filesystemContract, type MakeFilesystem } from "weakincentives/testing";

const inMemory: MakeFilesystem = () => ({ filesystem: new InMemoryFilesystem() });

/** Fails if anything is left beside the root, or of what snapshots keep. */
const onHost: MakeFilesystem = async () => {
  const scratch = await mkdtemp(join(tmpdir(), "wink-contract-"));
  const root = join(scratch, "root");
  await mkdir(root);
  const filesystem = new HostFilesystem(root);
  return {
    filesystem,
    async close() {
      await filesystem[Symbol.asyncDispose]();
      expect(await readdir(scratch)).toEqual(["root"]);
      await rm(scratch, { recursive: true });
    },
  };
};

describe.each([
  ["files in memory", inMemory],
  ["files of this machine", onHost],
])("%s keep the file system contract:", (_name, make) => {
  for (const { name, run } of filesystemContract(make)) test(name, run);
});
