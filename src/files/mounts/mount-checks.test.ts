import { describe, expect, test } from "vitest";
import { FilesystemError } from "../../base/filesystem-error.ts";
import type { HostMount } from "./host-mount.ts";
import { checkMounts, checkStrings } from "./mount-checks.ts";

const check = (mount: unknown) => checkMounts([mount as HostMount]);

describe("checkMounts() with one mount", () => {
  test("returns a copy with defaults", () => {
    const includeGlob = ["*.md"];
    const [mount] = checkMounts([{ hostPath: "/home/me/notes", includeGlob }]);
    includeGlob.push("*.env");
    expect(mount).toEqual({
      field: "mounts[0]",
      hostPath: "/home/me/notes",
      mountPath: "notes",
      includeGlob: ["*.md"],
      excludeGlob: [],
      maxBytes: Infinity,
      followSymlinks: false,
      gitignore: false,
    });
  });

  test("accepts undefined options and a maxBytes of 0", () => {
    const [mount] = checkMounts([{ hostPath: "/a", mountPath: undefined, maxBytes: 0 }]);
    expect(mount).toMatchObject({ mountPath: "a", maxBytes: 0 });
  });

  test.each([
    ["mounts[0]", null, "must be a plain object"],
    ["mounts[0]", "/a", "must be a plain object"],
    ["mounts[0].hostPath", {}, "must be a non-empty string"],
    ["mounts[0].hostPath", { hostPath: "" }, "must be a non-empty string"],
    ["mounts[0].hostPath", { hostPath: "/a\0b" }, "without NUL characters"],
    ["mounts[0].hostPath", { hostPath: 5 }, "must be a non-empty string"],
    ["mounts[0].mountPath", { hostPath: "/a", mountPath: 5 }, "must be a relative path"],
    ["mounts[0].mountPath", { hostPath: "/" }, "must be set for /, which has no name"],
    ["mounts[0].includeGlob", { hostPath: "/a", includeGlob: "*" }, "must be an array of strings"],
    ["mounts[0].includeGlob[1]", { hostPath: "/a", includeGlob: ["*", ""] }, "non-empty"],
    [
      "mounts[0].excludeGlob[0]",
      { hostPath: "/a", excludeGlob: [/x/] },
      "must be a non-empty string",
    ],
    ["mounts[0].maxBytes", { hostPath: "/a", maxBytes: -1 }, "must be a non-negative integer"],
    ["mounts[0].maxBytes", { hostPath: "/a", maxBytes: 1.5 }, "must be a non-negative integer"],
    ["mounts[0].maxBytes", { hostPath: "/a", maxBytes: null }, "Omit it for no limit."],
    ["mounts[0].maxBytes", { hostPath: "/a", maxBytes: "9" }, "must be a non-negative integer"],
    ["mounts[0].followSymlinks", { hostPath: "/a", followSymlinks: 1 }, "must be a boolean"],
    ["mounts[0].gitignore", { hostPath: "/a", gitignore: "yes" }, "must be a boolean"],
    ["mounts[0].gitignore", { hostPath: "/a", gitignore: null }, "must be a boolean"],
    ["mounts[0].excludeGlob", { hostPath: "/a", excludeGlob: null }, "must be an array of strings"],
    ["mounts[0].excludeGlob[0]", { hostPath: "/a", excludeGlob: new Array(1) }, "non-empty string"],
    [
      "mounts[0].excludeGlob[1]",
      { hostPath: "/a", excludeGlob: ["a", "{a,b}".repeat(9)] },
      "must be a glob of at most 4,096 characters and 256 alternatives in braces",
    ],
    [
      "mounts[0].includeGlob[0]",
      { hostPath: "/a", includeGlob: ["a".repeat(4_097)] },
      "Split it into several globs.",
    ],
    ["mounts[0] key", { hostPath: "/a", maxByte: 1 }, 'Did you mean "maxBytes"?'],
    ["mounts[0] key", { hostPath: "/a", zzzzzz: 1 }, "Remove it."],
    ["mounts[0] key", { hostPath: "/a", constructor: 1 }, "must be one of"],
  ])("rejects an invalid %s: %j", (field, mount, rule) => {
    expect(() => check(mount)).toThrow(
      expect.objectContaining({
        name: "InvalidOptionError",
        field,
        message: expect.stringContaining(rule),
      }),
    );
  });

  test.each([
    "/etc",
    "../up",
    "a/../../b",
    "",
    "a//b",
    "a\0b",
    "x".repeat(256),
    `${"a/".repeat(64)}b`,
  ])("rejects the mountPath %j", (mountPath) => {
    expect(() => check({ hostPath: "/a", mountPath })).toThrow(
      expect.objectContaining({
        name: "WorkspaceSecurityError",
        message: expect.stringContaining("mounts[0].mountPath"),
        cause: expect.any(FilesystemError),
      }),
    );
  });

  test("normalizes the mountPath", () => {
    expect(check({ hostPath: "/a", mountPath: "./data/x/../in" })[0]?.mountPath).toBe("data/in");
    expect(check({ hostPath: "/a", mountPath: "." })[0]?.mountPath).toBe(".");
  });
});

describe("checkMounts() with several mounts", () => {
  const checkPaths = (...paths: string[]) =>
    checkMounts(paths.map((mountPath) => ({ hostPath: "/a", mountPath })));

  test.each([
    ["a", "a"],
    ["a", "a/b"],
    ["a/b", "a"],
    ["a", "./a"],
    [".", "a"],
    ["a", "."],
  ])("rejects overlapping mount paths %j and %j", (one, other) => {
    expect(() => checkPaths(one, "elsewhere", other)).toThrow(
      expect.objectContaining({
        name: "InvalidOptionError",
        message: expect.stringContaining("must not overlap with mounts[0]"),
      }),
    );
  });

  test("accepts similar mount paths that do not overlap", () => {
    expect(checkPaths("data", "Data", "data2", "x/data", "x/data2")).toHaveLength(5);
    expect(checkPaths()).toEqual([]);
  });

  test.each([
    ["a", 'mounts must be an array, got "a". Wrap it in [ … ].'],
    [null, "mounts must be an array, got null. Omit it for an empty workspace."],
    [{ hostPath: "/a" }, "mounts must be an array, got {"],
    [7, "mounts must be an array, got 7."],
  ])("rejects %j, which is not an array", (mounts, message) => {
    expect(() => checkMounts(mounts as never)).toThrow(message);
  });

  test("rejects an array with a missing entry", () => {
    const mounts = new Array<never>(1);
    expect(() => checkMounts(mounts)).toThrow("mounts[0] must be a plain object, got undefined.");
  });
});

test("checkStrings() returns a copy and rejects values that are not strings", () => {
  const given = ["a"];
  expect(checkStrings(given, "x")).toEqual(given);
  expect(checkStrings(given, "x")).not.toBe(given);
  expect(() => checkStrings("a", "x")).toThrow("x must be an array of strings");
  expect(() => checkStrings([1], "x")).toThrow("x[0] must be a non-empty string");
});
