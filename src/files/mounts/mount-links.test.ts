import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import type { HostMount } from "./host-mount.ts";
import { planMounts } from "./mount-plan.ts";

/** Mounts a folder at the root of the workspace, and lets links go as far as `root`. */
function plan(hostPath: string, mount: Partial<HostMount> = {}, root = hostPath) {
  return planMounts([{ hostPath, mountPath: ".", ...mount }], { allowedHostRoots: [root] });
}

const paths = (...given: Parameters<typeof plan>) =>
  plan(...given).files.map(({ mountPath }) => mountPath);
const followSymlinks = true;

describe("symlinks in a mount", () => {
  test("are not followed unless asked", () => {
    const folder = temporaryTree({ "a/b": "1" });
    symlinkSync("a/b", join(folder, "file"));
    symlinkSync("a", join(folder, "folder"));
    symlinkSync("/etc/hosts", join(folder, "outside"));
    expect(paths(folder)).toEqual(["a/b"]);
    expect(plan(folder).directories).toEqual(["a"]);
  });

  test("are followed to real paths, and sorted by what they lead to", () => {
    const folder = temporaryTree({ "a/b": "1", "z.b": "2" });
    symlinkSync("a/b", join(folder, "file"));
    symlinkSync("a", join(folder, "z"));
    const { files, directories } = plan(folder, { followSymlinks });
    expect(files.map(({ mountPath }) => mountPath)).toEqual(["a/b", "file", "z.b", "z/b"]);
    expect(directories).toEqual(["a", "z"]);
    const hosts = files.map(({ hostPath }) => hostPath);
    expect(hosts).toEqual(["a/b", "a/b", "z.b", "a/b"].map((path) => join(folder, path)));
  });

  test("may lead out of the mount, within the roots", () => {
    const root = temporaryTree({ "in/a": "1", "beside/b": "2" });
    symlinkSync("../beside", join(root, "in/link"));
    expect(paths(join(root, "in"), { followSymlinks }, root)).toEqual(["a", "link/b"]);
  });

  test.each(["../beside", "../beside/b", "/etc", "inner/../../beside"])(
    "may not lead out of the roots: %s",
    (target) => {
      const root = temporaryTree({ "in/inner/a": "1", "beside/b": "2" });
      symlinkSync(target, join(root, "in/link"));
      expect(() => plan(join(root, "in"), { followSymlinks })).toThrow(
        expect.objectContaining({
          name: "WorkspaceSecurityError",
          message: expect.stringMatching(
            /in\/link", which is .*, is outside the allowed host roots, ".*\/in"/,
          ),
        }),
      );
      expect(paths(join(root, "in"), { followSymlinks, excludeGlob: ["link"] })).toEqual([
        "inner/a",
      ]);
      expect(paths(join(root, "in"), { followSymlinks, excludeGlob: ["link/*"] })).toEqual([
        "inner/a",
      ]);
    },
  );

  test.each([".", "..", "../inner", "../../in/inner"])("may not lead in a circle: %s", (target) => {
    const root = temporaryTree({ "in/inner/a": "1" });
    symlinkSync(target, join(root, "in/inner/back"));
    expect(() => plan(join(root, "in"), { followSymlinks }, root)).toThrow(
      expect.objectContaining({
        name: "WorkspaceSecurityError",
        message: expect.stringMatching(/"\/.*" is reached from within itself, by a symlink: name/),
      }),
    );
  });

  test("may not lead in a circle by way of the folder above the mount, or of each other", () => {
    const root = temporaryTree({ "in/a": "1", "x/a": "", "y/a": "" });
    symlinkSync("..", join(root, "in/up"));
    expect(() => plan(join(root, "in"), { followSymlinks }, root)).toThrow("within itself");
    symlinkSync("../y", join(root, "x/y"));
    symlinkSync("../x", join(root, "y/x"));
    expect(() => plan(join(root, "x"), { followSymlinks }, root)).toThrow("within itself");
  });

  test("may not lead to themselves", () => {
    const folder = temporaryTree();
    symlinkSync("b", join(folder, "a"));
    symlinkSync("a", join(folder, "b"));
    expect(() => plan(folder, { followSymlinks })).toThrow(
      expect.objectContaining({
        name: "WorkspaceSecurityError",
        message: expect.stringContaining("is a symlink that leads to itself"),
      }),
    );
  });

  test("that lead nowhere are listed", () => {
    const folder = temporaryTree({ a: "" });
    symlinkSync("gone", join(folder, "broken"));
    expect(plan(folder, { followSymlinks }).previews[0]).toMatchObject({
      files: 1,
      withheld: ["broken"],
    });
  });

  test("that lead where nothing can be are refused", () => {
    const folder = temporaryTree({ a: "" });
    symlinkSync("a/b", join(folder, "link"));
    expect(() => plan(folder, { followSymlinks })).toThrow(
      expect.objectContaining({ name: "FilesystemError", code: "ENOTDIR" }),
    );
  });

  test("may meet in one folder, but not so often that they stand for more than there is", () => {
    const levels = Array.from({ length: 20 }, (_, level) => `d${level}`);
    const root = temporaryTree(Object.fromEntries(levels.map((name) => [`${name}/f`, ""])));
    for (const level of levels.keys()) {
      if (level === 0) continue;
      symlinkSync(`../d${level}`, join(root, `d${level - 1}/left`));
      symlinkSync(`../d${level}`, join(root, `d${level - 1}/right`));
    }
    expect(paths(join(root, "d17"), { followSymlinks }, root)).toHaveLength(7);
    expect(() => plan(join(root, "d0"), { followSymlinks }, root)).toThrow(
      expect.objectContaining({
        name: "WorkspaceSecurityError",
        message: expect.stringContaining("is symlink 10001 of its mount"),
      }),
    );
  });
});

describe("a mount that is a symlink itself", () => {
  test.each(["file", "folder", "folder/"])("is refused unless it is to be followed: %s", (name) => {
    const root = temporaryTree({ "a/b": "1" });
    symlinkSync("a/b", join(root, "file"));
    symlinkSync("a", join(root, "folder"));
    const mount = { hostPath: `${root}/${name}`, mountPath: "in" };
    expect(() => plan(root, mount)).toThrow(
      expect.objectContaining({
        name: "WorkspaceSecurityError",
        message: expect.stringMatching(/is a symlink to \/.*\/a(\/b)?: mount that, or set follow/),
      }),
    );
    expect(plan(root, { ...mount, followSymlinks }).files[0]?.hostPath).toBe(join(root, "a/b"));
  });

  test("is called by its own name", () => {
    const root = temporaryTree({ "real/b": "1" });
    symlinkSync("real", join(root, "link"));
    const mounts = [{ hostPath: join(root, "link"), followSymlinks }];
    const { files } = planMounts(mounts, { allowedHostRoots: [root] });
    expect(files[0]).toMatchObject({ mountPath: "link/b", hostPath: join(root, "real/b") });
  });

  test("may not lead out of the roots", () => {
    const root = temporaryTree({ "in/a": "", "out/b": "" });
    symlinkSync("../out", join(root, "in/link"));
    const mount = { hostPath: join(root, "in/link"), followSymlinks };
    expect(() => plan(join(root, "in"), mount)).toThrow("is outside the allowed host roots");
  });

  test("and leads nowhere does not exist", () => {
    const root = temporaryTree();
    symlinkSync("gone", join(root, "link"));
    expect(() => plan(root, { hostPath: join(root, "link"), followSymlinks })).toThrow(
      expect.objectContaining({ name: "FilesystemError", code: "ENOENT" }),
    );
  });
});
