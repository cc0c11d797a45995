import { execFileSync, spawnSync } from "node:child_process";
import { describe, expect, type TestContext, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";

const toModuleUrl = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);

/**
 * Runs `code` in its own namespaces and returns its result. A 1 MB disk is mounted at `disk` and disappears
 * with the process. `large` has three files of 400,000 bytes.
 */
function runOnSmallDisk(code: string): unknown {
  const [disk, large] = [temporaryTree(), temporaryTree()];
  const program = `
    import { execFileSync } from "node:child_process";
    import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
    const { syncFolder } = await import(${toModuleUrl("./sync-folder.ts")});
    const { filesIn } = await import(${toModuleUrl("../../../tests/support/files-in.ts")});
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

/** Some systems let only root create a namespace, or do not support it. */
const canMount =
  spawnSync("unshare", ["-rm", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]).status === 0;

function skipWithoutDisk({ skip }: TestContext): void {
  skip(!canMount, "no disk can be mounted here: unshare -rm with mount inside is not permitted");
}

const FULL = /^The disk is full\. Free some space and sync again, or sync to a folder other than "/;

describe("syncFolder() with a full disk", () => {
  test("leaves no part of a new folder", (context) => {
    skipWithoutDisk(context);
    const output = runOnSmallDisk(`
      const to = disk + "/above/to";
      const { failed } = await syncFolder({ from: large, to, changed, deleted: [] });
      return { failed, left: readdirSync(disk) };
    `);
    expect(output).toEqual({
      failed: expect.arrayContaining(
        ["d/a", "d/b", "d/c"].map((path) => ({ path, reason: expect.any(String) })),
      ),
      left: [],
    });
    expect(output).toHaveProperty("failed.0.reason", expect.stringMatching(FULL));
    expect(output).toHaveProperty(
      "failed.1.reason",
      expect.stringContaining("receives all files or none"),
    );
  });

  test("leaves no part of the files in a folder that is the whole disk", (context) => {
    skipWithoutDisk(context);
    const output = runOnSmallDisk(`
      const { failed } = await syncFolder({ from: large, to: disk, changed, deleted: [] });
      return { failed: failed.length, left: readdirSync(disk) };
    `);
    expect(output).toEqual({ failed: 3, left: [] });
  });

  test("writes the files that fit into an existing folder and leaves the others unchanged", (context) => {
    skipWithoutDisk(context);
    const output = runOnSmallDisk(`
      const to = disk + "/to";
      mkdirSync(to + "/d", { recursive: true });
      for (const name of ["/d/c", "/gone"]) writeFileSync(to + name, "old");
      const { failed } = await syncFolder({ from: large, to, changed, deleted: ["gone"] });
      const files = Object.entries(filesIn(to)).map(([path, text]) => [path, text.length]);
      return { failed, files: Object.fromEntries(files), names: readdirSync(to + "/d") };
    `) as { failed: { path: string; reason: string }[]; files: object; names: string[] };
    expect(output.failed.at(-1)).toEqual({
      path: "gone",
      reason: expect.stringContaining(
        "It was not removed because other files could not be written",
      ),
    });
    const full = output.failed.slice(0, -1);
    expect(full.length).toBeGreaterThan(0);
    for (const { reason } of full) expect(reason).toMatch(FULL);
    const isWritten = (path: string) => !full.some((failure) => failure.path === path);
    expect(output.files).toEqual({
      gone: 3,
      ...(isWritten("d/a") ? { "d/a": 400_000 } : {}),
      ...(isWritten("d/b") ? { "d/b": 400_000 } : {}),
      "d/c": isWritten("d/c") ? 400_000 : 3,
    });
  });
});

describe("syncFolder() with a mount point", () => {
  test("fills it, because it cannot be replaced", (context) => {
    skipWithoutDisk(context);
    const output = runOnSmallDisk(`
      const before = statSync(disk).ino;
      const result = await syncFolder({ from: large, to: disk, changed: ["d/a"], deleted: [] });
      return { result, sizes: statSync(disk + "/d/a").size, isSame: statSync(disk).ino === before };
    `);
    expect(output).toEqual({ result: { failed: [] }, sizes: 400_000, isSame: true });
  });
});
