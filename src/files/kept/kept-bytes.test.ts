import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { fillKeptFolder, forEachContent, readKeptBytes } from "./kept-bytes.ts";
import { readManifest } from "./read-manifest.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const toState = (text: string) => ({ digest: sha256(text), bytes: text.length, mode: 0o644 });

/** Returns trees with a changed and an unchanged file. */
function createTrees() {
  const folders = new Map<string, number>();
  const [same, before, now] = ["same", "before", "now"].map(toState);
  if (!same || !before || !now) throw new Error("there are three");
  const mounted = {
    files: new Map([
      ["a", same],
      ["b", before],
    ]),
    folders,
  };
  return {
    mounted,
    tree: {
      files: new Map([
        ["a", same],
        ["b", now],
        ["c", now],
      ]),
      folders,
    },
  };
}

describe("fillKeptFolder()", () => {
  test("adds missing files once, privately, and writes both manifests", async () => {
    const folder = temporaryTree({ [`blobs/${sha256("same")}`]: "same" });
    const asked: string[] = [];
    const missing = await fillKeptFolder(folder, createTrees(), async (digest) => {
      asked.push(digest);
      return digest === sha256("now") ? Buffer.from("now") : null;
    });
    expect(asked.sort()).toEqual([sha256("before"), sha256("now")].sort());
    expect([...missing]).toEqual([sha256("before")]);
    expect(readdirSync(join(folder, "blobs")).sort()).toEqual(
      [sha256("same"), sha256("now")].sort(),
    );
    expect(statSync(join(folder, "blobs", sha256("now"))).mode & 0o777).toBe(0o600);
    const { tree, mounted } = createTrees();
    expect(readManifest(join(folder, "manifest.json"))).toEqual(tree);
    expect(readManifest(join(folder, "mounted.json"))).toEqual(mounted);
  });

  test("does not use bytes that have another digest", async () => {
    const folder = temporaryTree({ blobs: null });
    const missing = await fillKeptFolder(folder, createTrees(), async () => Buffer.from("same"));
    expect(missing).toEqual(new Set([sha256("before"), sha256("now")]));
    expect(readdirSync(join(folder, "blobs"))).toEqual([sha256("same")]);
  });

  test("leaves nothing behind if a file cannot be written", async () => {
    const folder = temporaryTree({ blobs: null });
    mkdirSync(join(folder, "blobs", sha256("same"), "taken"), { recursive: true });
    const filled = fillKeptFolder(folder, createTrees(), async () => Buffer.from("same"));
    await expect(filled).rejects.toThrow(FilesystemError);
    expect(readdirSync(join(folder, "blobs"))).toEqual([sha256("same")]);
  });
});

describe("readKeptBytes()", () => {
  test("returns null for bytes that are missing, damaged, a folder or behind a symlink", async () => {
    const folder = temporaryTree({ [`blobs/${sha256("one")}`]: "one", elsewhere: "two" });
    const read = async (text: string) => (await readKeptBytes(folder, toState(text)))?.toString();
    expect(await read("one")).toBe("one");
    expect(await read("two")).toBeUndefined();
    symlinkSync("../elsewhere", join(folder, "blobs", sha256("two")));
    expect(await read("two")).toBeUndefined();
    writeFileSync(join(folder, "blobs", sha256("one")), "eno");
    expect(await read("one")).toBeUndefined();
    writeFileSync(join(folder, "blobs", sha256("one")), "longer");
    expect(await read("one")).toBeUndefined();
    rmSync(join(folder, "blobs", sha256("one")));
    mkdirSync(join(folder, "blobs", sha256("one")));
    expect(await read("one")).toBeUndefined();
  });
});

describe("forEachContent()", () => {
  test("processes several small contents at once, and large ones one after the other", async () => {
    let [running, most] = [0, 0];
    const run = async (bytes: number) => {
      most = 0;
      const contents = Array.from({ length: 20 }, (_, index) => ({ digest: `${index}`, bytes }));
      await forEachContent([...contents, ...contents], async () => {
        running += 1;
        most = Math.max(most, running);
        await Promise.resolve();
        running -= 1;
      });
      return most;
    };
    expect([await run(1), await run(2 ** 20 + 1)]).toEqual([8, 1]);
  });
});
