import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import type { HostMount } from "./host-mount.ts";
import { planMounts } from "./plan-mounts.ts";

/** Plans a mount at the root of the workspace. Symlinks may lead anywhere below `root`. */
function createPlan(hostPath: string, mount: Partial<HostMount> = {}, root = hostPath) {
  return planMounts([{ hostPath, mountPath: ".", ...mount }], { allowedHostRoots: [root] });
}

const planPaths = (...given: Parameters<typeof createPlan>) =>
  createPlan(...given).files.map(({ mountPath }) => mountPath);
const followSymlinks = true;

describe("planMounts() and symlinks in a mount", () => {
  test("omits symlinks by default", () => {
    const folder = temporaryTree({ "a/b": "1" });
    symlinkSync("a/b", join(folder, "file"));
    symlinkSync("a", join(folder, "folder"));
    symlinkSync("/etc/hosts", join(folder, "outside"));
    expect(planPaths(folder)).toEqual(["a/b"]);
    expect(createPlan(folder).directories).toEqual(["a"]);
  });

  test("follows symlinks to real paths and sorts them by the kind of their target", () => {
    const folder = temporaryTree({ "a/b": "1", "z.b": "2" });
    symlinkSync("a/b", join(folder, "file"));
    symlinkSync("a", join(folder, "z"));
    const { files, directories } = createPlan(folder, { followSymlinks });
    expect(files.map(({ mountPath }) => mountPath)).toEqual(["a/b", "file", "z.b", "z/b"]);
    expect(directories).toEqual(["a", "z"]);
    const hosts = files.map(({ hostPath }) => hostPath);
    expect(hosts).toEqual(["a/b", "a/b", "z.b", "a/b"].map((path) => join(folder, path)));
  });

  test("follows a symlink out of the mount within the allowed roots", () => {
    const root = temporaryTree({ "in/a": "1", "beside/b": "2" });
    symlinkSync("../beside", join(root, "in/link"));
    expect(planPaths(join(root, "in"), { followSymlinks }, root)).toEqual(["a", "link/b"]);
  });

  test.each(["../beside", "../beside/b", "/etc", "inner/../../beside"])(
    "rejects a symlink that leads out of the allowed roots: %s",
    (target) => {
      const root = temporaryTree({ "in/inner/a": "1", "beside/b": "2" });
      symlinkSync(target, join(root, "in/link"));
      expect(() => createPlan(join(root, "in"), { followSymlinks })).toThrow(
        expect.objectContaining({
          name: "WorkspaceSecurityError",
          message: expect.stringMatching(
            /in\/link", which is .*, is outside the allowed host roots, ".*\/in"/,
          ),
        }),
      );
      expect(planPaths(join(root, "in"), { followSymlinks, excludeGlob: ["link"] })).toEqual([
        "inner/a",
      ]);
      expect(planPaths(join(root, "in"), { followSymlinks, excludeGlob: ["link/*"] })).toEqual([
        "inner/a",
      ]);
    },
  );

  test.each([".", "..", "../inner", "../../in/inner"])("rejects a symlink cycle: %s", (target) => {
    const root = temporaryTree({ "in/inner/a": "1" });
    symlinkSync(target, join(root, "in/inner/back"));
    expect(() => createPlan(join(root, "in"), { followSymlinks }, root)).toThrow(
      expect.objectContaining({
        name: "WorkspaceSecurityError",
        message: expect.stringMatching(/"\/.*" contains itself through a symlink\. Add the link/),
      }),
    );
  });

  test("rejects a symlink cycle through the parent folder or through two symlinks", () => {
    const root = temporaryTree({ "in/a": "1", "x/a": "", "y/a": "" });
    symlinkSync("..", join(root, "in/up"));
    expect(() => createPlan(join(root, "in"), { followSymlinks }, root)).toThrow("contains itself");
    symlinkSync("../y", join(root, "x/y"));
    symlinkSync("../x", join(root, "y/x"));
    expect(() => createPlan(join(root, "x"), { followSymlinks }, root)).toThrow("contains itself");
  });

  test("rejects a symlink that leads to itself", () => {
    const folder = temporaryTree();
    symlinkSync("b", join(folder, "a"));
    symlinkSync("a", join(folder, "b"));
    expect(() => createPlan(folder, { followSymlinks })).toThrow(
      expect.objectContaining({
        name: "WorkspaceSecurityError",
        message: expect.stringContaining("is a symlink that leads to itself"),
      }),
    );
  });

  test("lists broken symlinks as withheld", () => {
    const folder = temporaryTree({ a: "" });
    symlinkSync("gone", join(folder, "broken"));
    expect(createPlan(folder, { followSymlinks }).previews[0]).toMatchObject({
      files: 1,
      withheld: ["broken"],
    });
  });

  test("rejects a symlink to a path below a file", () => {
    const folder = temporaryTree({ a: "" });
    symlinkSync("a/b", join(folder, "link"));
    expect(() => createPlan(folder, { followSymlinks })).toThrow(
      expect.objectContaining({ name: "FilesystemError", code: "ENOTDIR" }),
    );
  });

  test("accepts several symlinks to one folder, up to 10,000 symlinks per mount", () => {
    const levels = Array.from({ length: 20 }, (_, level) => `d${level}`);
    const root = temporaryTree(Object.fromEntries(levels.map((name) => [`${name}/f`, ""])));
    for (const level of levels.keys()) {
      if (level === 0) continue;
      symlinkSync(`../d${level}`, join(root, `d${level - 1}/left`));
      symlinkSync(`../d${level}`, join(root, `d${level - 1}/right`));
    }
    expect(planPaths(join(root, "d17"), { followSymlinks }, root)).toHaveLength(7);
    expect(() => createPlan(join(root, "d0"), { followSymlinks }, root)).toThrow(
      expect.objectContaining({
        name: "WorkspaceSecurityError",
        message: expect.stringContaining("is symlink 10001 of its mount, and the maximum is 10000"),
      }),
    );
  });
});

describe("planMounts() with a host path that is a symlink", () => {
  test.each(["file", "folder", "folder/"])(
    "rejects it unless followSymlinks is set: %s",
    (name) => {
      const root = temporaryTree({ "a/b": "1" });
      symlinkSync("a/b", join(root, "file"));
      symlinkSync("a", join(root, "folder"));
      const mount = { hostPath: `${root}/${name}`, mountPath: "in" };
      expect(() => createPlan(root, mount)).toThrow(
        expect.objectContaining({
          name: "WorkspaceSecurityError",
          message: expect.stringMatching(
            /is a symlink to \/.*\/a(\/b)?\. Mount the target, or set followSymlinks\.$/,
          ),
        }),
      );
      expect(createPlan(root, { ...mount, followSymlinks }).files[0]?.hostPath).toBe(
        join(root, "a/b"),
      );
    },
  );

  test("uses the name of the symlink as the mountPath", () => {
    const root = temporaryTree({ "real/b": "1" });
    symlinkSync("real", join(root, "link"));
    const mounts = [{ hostPath: join(root, "link"), followSymlinks }];
    const { files } = planMounts(mounts, { allowedHostRoots: [root] });
    expect(files[0]).toMatchObject({ mountPath: "link/b", hostPath: join(root, "real/b") });
  });

  test("rejects it if it leads out of the allowed roots", () => {
    const root = temporaryTree({ "in/a": "", "out/b": "" });
    symlinkSync("../out", join(root, "in/link"));
    const mount = { hostPath: join(root, "in/link"), followSymlinks };
    expect(() => createPlan(join(root, "in"), mount)).toThrow("is outside the allowed host roots");
  });

  test("rejects it with ENOENT if it is broken", () => {
    const root = temporaryTree();
    symlinkSync("gone", join(root, "link"));
    expect(() => createPlan(root, { hostPath: join(root, "link"), followSymlinks })).toThrow(
      expect.objectContaining({ name: "FilesystemError", code: "ENOENT" }),
    );
  });
});
