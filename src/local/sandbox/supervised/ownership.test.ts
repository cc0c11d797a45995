import { chownSync, lstatSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../../tests/support/temporary-tree.ts";
import { Ownership } from "./ownership.ts";

const THEIRS = 1_900_000_001;

const areRoot = process.getuid?.() === 0;
if (!areRoot) process.stderr.write("giving files away is not tested: only root can\n");

describe.skipIf(!areRoot)("Ownership", () => {
  test("gives nested files to the container's user", async () => {
    const root = temporaryTree({ "a.txt": "a", "folder/b.txt": "b" });
    await new Ownership(root, THEIRS).settle();
    for (const path of ["", "/a.txt", "/folder", "/folder/b.txt"]) {
      expect(statSync(root + path).uid, path).toBe(THEIRS);
    }
  });

  test("gives files added later at the top level to the container's user", async () => {
    const root = temporaryTree({ "a.txt": "a" });
    const ownership = new Ownership(root, THEIRS);
    await ownership.settle();
    await ownership.settle();
    writeFileSync(`${root}/late.txt`, "");
    await ownership.settle();
    expect(statSync(`${root}/late.txt`).uid).toBe(THEIRS);
  });

  test("does not change the owner of links or of their targets", async () => {
    const outside = temporaryTree({ "host.txt": "host", "folder/inner.txt": "" });
    const root = temporaryTree({ "a.txt": "" });
    symlinkSync(`${outside}/host.txt`, `${root}/link`);
    symlinkSync(`${outside}/folder`, `${root}/folder`);
    await new Ownership(root, THEIRS).settle();
    expect(statSync(`${outside}/host.txt`).uid).toBe(0);
    expect(statSync(`${outside}/folder/inner.txt`).uid).toBe(0);
    expect(lstatSync(`${root}/link`).uid).toBe(0);
  });

  test("tolerates entries that vanish or become links during the walk", async () => {
    const outside = temporaryTree({ "host.txt": "host" });
    const root = temporaryTree();
    mkdirSync(`${root}/folder`);
    chownSync(root, THEIRS, THEIRS);
    const ownership = new Ownership(root, THEIRS);
    for (let round = 0; round < 30; round++) {
      const path = `${root}/f${round}`;
      writeFileSync(path, "");
      const settling = ownership.settle();
      await rm(path);
      symlinkSync(`${outside}/host.txt`, path);
      await settling;
    }
    expect(statSync(`${outside}/host.txt`).uid).toBe(0);
  });
});
