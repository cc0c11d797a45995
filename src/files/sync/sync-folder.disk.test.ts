import { execFileSync, spawnSync } from "node:child_process";
import { describe, expect, type TestContext, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";

const moduleUrl = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);

/**
 * Runs in namespaces of its own, where a disk of one megabyte is at `disk` and vanishes with the
 * process. `large` has three files of 400,000 bytes; what `code` returns is given.
 */
function onSmallDisk(code: string): unknown {
  const [disk, large] = [temporaryTree(), temporaryTree()];
  const program = `
    import { execFileSync } from "node:child_process";
    import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
    const { syncFolder } = await import(${moduleUrl("./sync-folder.ts")});
    const { filesIn } = await import(${moduleUrl("../../../tests/support/files-in.ts")});
    const [disk, large] = ${JSON.stringify([disk, large])};
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk]);
    const changed = ["d/a", "d/b", "d/c"];
    mkdirSync(large + "/d");
    for (const path of changed) writeFileSync(large + "/" + path, Buffer.alloc(400_000, "x"));
    const run = async () => { ${code} };
    console.log(JSON.stringify(await run()));
  `;
  const args = ["-rm", process.execPath, "--input-type=module", "-e", program];
  return JSON.parse(execFileSync("unshare", args, { encoding: "utf8" }));
}

/** Some machines let nobody but root make a namespace, and some nobody at all. */
const canMount =
  spawnSync("unshare", ["-rm", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]).status === 0;

function needsDisk({ skip }: TestContext): void {
  skip(!canMount, "no disk can be mounted here: unshare -rm, with mount inside it, is not allowed");
}

const FULL =
  /^there is no room left on the disk: free some and sync again, or sync to another folder than "/;

describe("a disk that is full", () => {
  test("gets nothing of a new folder", (context) => {
    needsDisk(context);
    const said = onSmallDisk(`
      const to = disk + "/above/to";
      const { failed } = await syncFolder({ from: large, to, changed, deleted: [] });
      return { failed, left: readdirSync(disk) };
    `);
    expect(said).toEqual({
      failed: expect.arrayContaining(
        ["d/a", "d/b", "d/c"].map((path) => ({ path, reason: expect.any(String) })),
      ),
      left: [],
    });
    expect(said).toHaveProperty("failed.0.reason", expect.stringMatching(FULL));
    expect(said).toHaveProperty(
      "failed.1.reason",
      expect.stringContaining("gets all files or none"),
    );
  });

  test("gets nothing of a folder that is the whole disk", (context) => {
    needsDisk(context);
    const said = onSmallDisk(`
      const { failed } = await syncFolder({ from: large, to: disk, changed, deleted: [] });
      return { failed: failed.length, left: readdirSync(disk) };
    `);
    expect(said).toEqual({ failed: 3, left: [] });
  });

  test("gets the files of a folder that fit, and keeps all others", (context) => {
    needsDisk(context);
    const said = onSmallDisk(`
      const to = disk + "/to";
      mkdirSync(to + "/d", { recursive: true });
      for (const name of ["/d/c", "/gone"]) writeFileSync(to + name, "old");
      const { failed } = await syncFolder({ from: large, to, changed, deleted: ["gone"] });
      const files = Object.entries(filesIn(to)).map(([path, text]) => [path, text.length]);
      return { failed, files: Object.fromEntries(files), names: readdirSync(to + "/d") };
    `) as { failed: { path: string; reason: string }[]; files: object; names: string[] };
    expect(said.failed.at(-1)).toEqual({
      path: "gone",
      reason: expect.stringContaining("it was left because other files could not be written"),
    });
    const full = said.failed.slice(0, -1);
    expect(full.length).toBeGreaterThan(0);
    for (const { reason } of full) expect(reason).toMatch(FULL);
    const isWritten = (path: string) => !full.some((failure) => failure.path === path);
    expect(said.files).toEqual({
      gone: 3,
      ...(isWritten("d/a") ? { "d/a": 400_000 } : {}),
      ...(isWritten("d/b") ? { "d/b": 400_000 } : {}),
      "d/c": isWritten("d/c") ? 400_000 : 3,
    });
  });
});

describe("a folder that is a disk of its own", () => {
  test("is filled, since it cannot be replaced", (context) => {
    needsDisk(context);
    const said = onSmallDisk(`
      const before = statSync(disk).ino;
      const result = await syncFolder({ from: large, to: disk, changed: ["d/a"], deleted: [] });
      return { result, sizes: statSync(disk + "/d/a").size, isSame: statSync(disk).ino === before };
    `);
    expect(said).toEqual({ result: { failed: [] }, sizes: 400_000, isSame: true });
  });
});
