import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import type { HostMount } from "./host-mount.ts";
import { planMounts } from "./plan-mounts.ts";

/** Plans a mount at the root of the workspace. */
function createPlan(hostPath: string, mount: Partial<HostMount> = {}, maxSkipped?: number) {
  const mounts = [{ hostPath, mountPath: ".", ...mount }];
  return planMounts(mounts, { allowedHostRoots: [hostPath], maxSkipped });
}

const planPaths = (...given: Parameters<typeof createPlan>) =>
  createPlan(...given).files.map(({ mountPath }) => mountPath);

function createPreview(...given: Parameters<typeof createPlan>) {
  const [preview] = createPlan(...given).previews;
  if (!preview) throw new Error("There is no preview");
  return preview;
}

const project = {
  "a/one.a": "",
  "a/two.b": "",
  "a/deep/x": "",
  "b/a/x": "",
  "b/secrets/key": "",
  "secrets/key": "",
  "secrets.md": "",
};

describe("globs of a mount", () => {
  test.each([
    ["secrets", ["a/deep/x", "a/one.a", "a/two.b", "b/a/x", "secrets.md"]],
    ["secrets/", ["a/deep/x", "a/one.a", "a/two.b", "b/a/x", "secrets.md"]],
    ["./a/*", ["b/a/x", "b/secrets/key", "secrets.md", "secrets/key"]],
    ["/a", ["b/a/x", "b/secrets/key", "secrets.md", "secrets/key"]],
    ["a", ["b/secrets/key", "secrets.md", "secrets/key"]],
    ["*.{a,b}", ["a/deep/x", "b/a/x", "b/secrets/key", "secrets.md", "secrets/key"]],
    ["a/**/x", ["a/one.a", "a/two.b", "b/a/x", "b/secrets/key", "secrets.md", "secrets/key"]],
    ["b/**/secrets/", ["a/deep/x", "a/one.a", "a/two.b", "b/a/x", "secrets.md", "secrets/key"]],
  ])("omit what excludeGlob %j matches", (glob, kept) => {
    const folder = temporaryTree(project);
    expect(planPaths(folder, { excludeGlob: [glob] })).toEqual(kept);
    expect(createPreview(folder, { excludeGlob: [glob] }).unmatched).toEqual([]);
  });

  test.each([
    ["secrets", ["b/secrets/key", "secrets/key"]],
    ["secrets/", ["b/secrets/key", "secrets/key"]],
    ["./a/*", ["a/deep/x", "a/one.a", "a/two.b"]],
    ["*.{a,b}", ["a/one.a", "a/two.b"]],
    ["{secrets.md,deep}", ["a/deep/x", "secrets.md"]],
  ])("mount only what includeGlob %j matches", (glob, kept) => {
    const folder = temporaryTree(project);
    expect(planPaths(folder, { includeGlob: [glob] })).toEqual(kept);
    expect(createPreview(folder, { includeGlob: [glob] }).unmatched).toEqual([]);
  });

  test("let excludeGlob omit parts of an included folder", () => {
    const folder = temporaryTree(project);
    const mount = { includeGlob: ["a", "b"], excludeGlob: ["secrets", "*.b"] };
    expect(planPaths(folder, mount)).toEqual(["a/deep/x", "a/one.a", "b/a/x"]);
  });

  test("include the empty folders of an included folder", () => {
    const folder = temporaryTree({ "a/empty": null, "b/empty": null });
    expect(createPlan(folder, { includeGlob: ["a"] }).directories).toEqual(["a", "a/empty"]);
  });

  test("are listed as unmatched if they match nothing", () => {
    const folder = temporaryTree(project);
    const globs = {
      includeGlob: ["*.a", "*.txt"],
      excludeGlob: ["secrit", "*.a/", "../a", "one.a"],
    };
    expect(createPreview(folder, globs).unmatched).toEqual(["*.txt", "secrit", "*.a/", "../a"]);
  });

  test("are not listed as unmatched if another glob matches the same entries", () => {
    const folder = temporaryTree({ "a/x.log": "", "a/y": "", link: "" });
    symlinkSync("a", join(folder, "again"));
    const globs = { includeGlob: ["a", "*.log", "again"], excludeGlob: ["*.log", "x.*"] };
    expect(createPreview(folder, globs).unmatched).toEqual([]);
  });
});

describe("the skipped entries of a mount", () => {
  test("are listed with their reasons, unasked ones first", () => {
    const folder = temporaryTree({
      ".env": "",
      "a.py": "",
      "b.log": "",
      "c.txt": "",
      "out/x/y": "",
      "out/z": "",
    });
    symlinkSync("a.py", join(folder, "link"));
    symlinkSync("out", join(folder, "linked"));
    execFileSync("mkfifo", [join(folder, "pipe.py")]);
    const globs = { includeGlob: ["*.py", ".env"], excludeGlob: ["*.log", "out/"] };
    expect(createPreview(folder, globs)).toMatchObject({
      entries: ["a.py"],
      withheld: [".env", "pipe.py"],
      skipped: [
        { path: ".env", reason: "has a name that is common for key files" },
        { path: "link", reason: "is a symlink" },
        { path: "linked", reason: "is a symlink" },
        { path: "pipe.py", reason: "is a pipe" },
        { path: "b.log", reason: 'matches excludeGlob "*.log"' },
        { path: "c.txt", reason: "does not match includeGlob" },
        { path: "out", reason: 'matches excludeGlob "out/"' },
      ],
      skippedCount: 7,
    });
  });

  test("do not include followed symlinks, but broken and excluded ones", () => {
    const folder = temporaryTree({ "a/x": "" });
    symlinkSync("a", join(folder, "b"));
    symlinkSync("a", join(folder, "c"));
    symlinkSync("gone", join(folder, "d"));
    const preview = createPreview(folder, { followSymlinks: true, excludeGlob: ["c/"] });
    expect(preview).toMatchObject({
      entries: ["a/x", "b/x"],
      skipped: [
        { path: "d", reason: "is a broken symlink" },
        { path: "c", reason: 'matches excludeGlob "c/"' },
      ],
    });
  });

  test("are at most 100 unless maxSkipped is set, and all of them are counted", () => {
    const names = Array.from({ length: 150 }, (_, n) => `f${String(n).padStart(3, "0")}`);
    const folder = temporaryTree(Object.fromEntries(names.map((name) => [name, ""])));
    symlinkSync("f000", join(folder, "z"));
    const list = (maxSkipped?: number) =>
      createPreview(folder, { excludeGlob: ["f*"] }, maxSkipped);
    expect(list().skipped).toHaveLength(100);
    expect(list().skipped[0]?.path).toBe("z");
    expect(list().skippedCount).toBe(151);
    expect(list(Infinity).skipped.map(({ path }) => path)).toEqual(["z", ...names]);
    expect(list(0)).toMatchObject({ skipped: [], skippedCount: 151 });
  });

  test.each([-1, 1.5, Number.NaN, null, "9"])("reject maxSkipped %j", (maxSkipped) => {
    expect(() => createPlan("/tmp", {}, maxSkipped as number)).toThrow(
      "maxSkipped must be a non-negative integer",
    );
  });
});
