import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runAsPlainUser, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { copyFiles } from "./copy-files.ts";
import type { MountPlan } from "./mount-plan.ts";
import { planMounts } from "./plan-mounts.ts";

function createPlan(folder: string, maxBytes?: number): MountPlan {
  const mounts = [{ hostPath: folder, mountPath: "in", maxBytes }];
  return planMounts(mounts, { allowedHostRoots: [folder] });
}

describe("copyFiles()", () => {
  test("copies bytes, empty files and empty folders", () => {
    const large = Buffer.alloc(2_500_000, "abc");
    const name = `${"ü".repeat(127)}x`;
    const folder = temporaryTree({ large, "a/empty": "", [`a/${name}`]: "1", nothing: null });
    const target = temporaryTree();
    copyFiles(createPlan(folder), target);
    expect(readFileSync(join(target, "in/large")).equals(large)).toBe(true);
    expect(readFileSync(join(target, "in/a/empty"), "utf8")).toBe("");
    expect(readFileSync(join(target, "in/a", name), "utf8")).toBe("1");
    expect(statSync(join(target, "in/nothing")).isDirectory()).toBe(true);
  });

  test("preserves only the owner's executable bit of a mode", () => {
    const folder = temporaryTree({ run: "", wide: "", theirs: "" });
    chmodSync(join(folder, "run"), 0o4710);
    chmodSync(join(folder, "wide"), 0o666);
    chmodSync(join(folder, "theirs"), 0o655);
    const target = temporaryTree();
    copyFiles(createPlan(folder), target);
    const modes = ["run", "wide", "theirs"].map(
      (name) => statSync(join(target, "in", name)).mode & 0o7777,
    );
    expect(modes).toEqual([0o755, 0o644, 0o644]);
  });

  test("withholds files with a private key unless they are allowed, also in a mount at the root", () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${"A".repeat(64)}\n-----END PRIVATE KEY-----\n`;
    const folder = temporaryTree({ "a.txt": key, "b.txt": key, c: "1" });
    const mounts = [{ hostPath: folder, mountPath: ".", maxBytes: 10_000 }];
    const target = temporaryTree();
    const plan = planMounts(mounts, { allowedHostRoots: [folder], allowSecrets: ["b.txt"] });
    expect(copyFiles(plan, target)).toEqual([
      { path: "a.txt", reason: expect.stringContaining("private key") },
    ]);
    expect(existsSync(join(target, "a.txt"))).toBe(false);
    expect(readFileSync(join(target, "b.txt"), "utf8")).toBe(key);
    expect(readFileSync(join(target, "c"), "utf8")).toBe("1");
  });

  test("does not overwrite an existing file", () => {
    const folder = temporaryTree({ a: "1" });
    const target = temporaryTree({ "in/a": "2" });
    expect(() => copyFiles(createPlan(folder), target)).toThrow(
      expect.objectContaining({ name: "FilesystemError", path: join(target, "in/a") }),
    );
    expect(readFileSync(join(target, "in/a"), "utf8")).toBe("2");
  });

  test("names the path it could not write", () => {
    const folder = temporaryTree({ a: "1" });
    const target = temporaryTree({ in: "a file" });
    expect(() => copyFiles(createPlan(folder), target)).toThrow(
      "Copy the mounts to another folder",
    );
  });

  test("rejects plan paths that leave the folder", () => {
    const folder = temporaryTree({ a: "1" });
    const outer = temporaryTree({ target: null });
    const target = join(outer, "target");
    const plan = createPlan(folder);
    const files = plan.files.map((file) => ({ ...file, mountPath: "../a" }));
    expect(() => copyFiles({ ...plan, files }, target)).toThrow("leaves the root");
    expect(() => copyFiles({ ...plan, directories: ["../x"] }, target)).toThrow("leaves the root");
    expect(readdirSync(outer)).toEqual(["target"]);
  });
});

describe("the budget of copyFiles()", () => {
  test("is checked again while copying", () => {
    const folder = temporaryTree({ a: "12", b: "34" });
    const plan = createPlan(folder, 4);
    expect(() => copyFiles(plan, temporaryTree())).not.toThrow();
    const limits = [{ mountPath: "in", maxBytes: 3 }];
    expect(() => copyFiles({ ...plan, limits }, temporaryTree())).toThrow(
      expect.objectContaining({
        name: "WorkspaceBudgetExceededError",
        message: expect.stringContaining(
          'The mount at "in" is over its maxBytes of 3: "in/b" brings it to 4',
        ),
      }),
    );
  });

  test("counts only files at or below its mount path", () => {
    const plan = createPlan(temporaryTree({ a: "12", ab: "34" }));
    const copyWithLimit = (mountPath: string, maxBytes: number) => () =>
      copyFiles({ ...plan, limits: [{ mountPath, maxBytes }] }, temporaryTree());
    expect(copyWithLimit("in/a", 2)).not.toThrow();
    expect(copyWithLimit("in/a", 1)).toThrow('"in/a" brings it to 2');
    expect(copyWithLimit(".", 4)).not.toThrow();
    expect(copyWithLimit(".", 3)).toThrow('"in/ab" brings it to 4');
  });
});

describe("copyFiles() with a file that changed after planning", () => {
  const changes: Readonly<Record<string, (path: string) => void>> = {
    longer: (path) => writeFileSync(path, "12345"),
    shorter: (path) => truncateSync(path, 1),
    touched: (path) => utimesSync(path, 5, 5),
    replaced: (path) => {
      const { atime, mtime } = statSync(path);
      writeFileSync(`${path}.new`, "abc");
      utimesSync(`${path}.new`, atime, mtime);
      renameSync(`${path}.new`, path);
    },
    "a folder": (path) => {
      rmSync(path);
      mkdirSync(path);
    },
    "a pipe": (path) => {
      rmSync(path);
      execFileSync("mkfifo", [path]);
    },
  };

  test.each(Object.keys(changes))("names the file: it is %s now", (change) => {
    const folder = temporaryTree({ a: "123" });
    const path = join(folder, "a");
    utimesSync(path, 1, 1);
    const plan = createPlan(folder);
    changes[change]?.(path);
    expect(() => copyFiles(plan, temporaryTree())).toThrow(
      expect.objectContaining({
        name: "FilesystemError",
        code: "EINVAL",
        path,
        message: expect.stringContaining(
          "has changed since the mounts were checked. Create the workspace",
        ),
      }),
    );
  });

  test("names the file: it was removed", () => {
    const folder = temporaryTree({ a: "123" });
    const plan = createPlan(folder);
    rmSync(join(folder, "a"));
    expect(() => copyFiles(plan, temporaryTree())).toThrow(
      expect.objectContaining({ name: "FilesystemError", code: "ENOENT", path: join(folder, "a") }),
    );
  });

  test("does not follow the file: it is a symlink now", () => {
    const folder = temporaryTree({ "a/f": "123", b: "123" });
    const plan = createPlan(join(folder, "a"));
    rmSync(join(folder, "a/f"));
    symlinkSync("../b", join(folder, "a/f"));
    expect(() => copyFiles(plan, temporaryTree())).toThrow(
      expect.objectContaining({
        name: "WorkspaceSecurityError",
        message: expect.stringContaining(`${join(folder, "a/f")}" has become a symlink`),
      }),
    );
  });
});

test("copyFiles() names a file that this user may not read", async () => {
  const folder = temporaryTree({ a: "123" });
  const target = temporaryTree();
  chmodSync(folder, 0o755);
  chmodSync(target, 0o777);
  chmodSync(join(folder, "a"), 0o000);
  const plan = createPlan(folder);
  await expect(runAsPlainUser(() => copyFiles(plan, target))).rejects.toMatchObject({
    name: "FilesystemError",
    code: "EACCES",
    path: join(folder, "a"),
  });
});
