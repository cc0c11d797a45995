import { describe, expect, test } from "vitest";
import { FilesystemError } from "../../base/filesystem-error.ts";
import type { HostMount } from "./host-mount.ts";
import { checkedMounts, checkedTexts } from "./mount-checks.ts";

const check = (mount: unknown) => checkedMounts([mount as HostMount]);

describe("a mount", () => {
  test("is copied, with its defaults filled in", () => {
    const includeGlob = ["*.md"];
    const [mount] = checkedMounts([{ hostPath: "/home/me/notes", includeGlob }]);
    includeGlob.push("*.env");
    expect(mount).toEqual({
      field: "mounts[0]",
      hostPath: "/home/me/notes",
      mountPath: "notes",
      includeGlob: ["*.md"],
      excludeGlob: [],
      maxBytes: Infinity,
      followSymlinks: false,
    });
  });

  test("may leave options undefined, and have a budget of 0", () => {
    const [mount] = checkedMounts([{ hostPath: "/a", mountPath: undefined, maxBytes: 0 }]);
    expect(mount).toMatchObject({ mountPath: "a", maxBytes: 0 });
  });

  test.each([
    ["mounts[0]", null, "must be a plain object"],
    ["mounts[0]", "/a", "must be a plain object"],
    ["mounts[0].hostPath", {}, "must be a text that is not empty"],
    ["mounts[0].hostPath", { hostPath: "" }, "must be a text that is not empty"],
    ["mounts[0].hostPath", { hostPath: "/a\0b" }, "holds no NUL"],
    ["mounts[0].hostPath", { hostPath: 5 }, "must be a text that is not empty"],
    ["mounts[0].mountPath", { hostPath: "/a", mountPath: 5 }, "must be a relative path"],
    ["mounts[0].mountPath", { hostPath: "/" }, "must be given for /, which has no name"],
    ["mounts[0].includeGlob", { hostPath: "/a", includeGlob: "*" }, "must be a list"],
    ["mounts[0].includeGlob[1]", { hostPath: "/a", includeGlob: ["*", ""] }, "not empty"],
    ["mounts[0].excludeGlob[0]", { hostPath: "/a", excludeGlob: [/x/] }, "must be a text"],
    ["mounts[0].maxBytes", { hostPath: "/a", maxBytes: -1 }, "0 or more"],
    ["mounts[0].maxBytes", { hostPath: "/a", maxBytes: 1.5 }, "whole number of bytes"],
    ["mounts[0].maxBytes", { hostPath: "/a", maxBytes: null }, "leave it out for no limit"],
    ["mounts[0].maxBytes", { hostPath: "/a", maxBytes: "9" }, "whole number of bytes"],
    ["mounts[0].followSymlinks", { hostPath: "/a", followSymlinks: 1 }, "must be a boolean"],
    ["mounts[0] key", { hostPath: "/a", maxByte: 1 }, 'did you mean "maxBytes"?'],
    ["mounts[0] key", { hostPath: "/a", zzzzzz: 1 }, "there is no such option"],
    ["mounts[0] key", { hostPath: "/a", constructor: 1 }, "must be one of"],
  ])("whose %s is wrong is refused: %j", (field, mount, rule) => {
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
  ])("cannot be mounted at %j", (mountPath) => {
    expect(() => check({ hostPath: "/a", mountPath })).toThrow(
      expect.objectContaining({
        name: "WorkspaceSecurityError",
        message: expect.stringContaining("mounts[0].mountPath"),
        cause: expect.any(FilesystemError),
      }),
    );
  });

  test("is mounted below a nested path, in its one spelling", () => {
    expect(check({ hostPath: "/a", mountPath: "./data/x/../in" })[0]?.mountPath).toBe("data/in");
    expect(check({ hostPath: "/a", mountPath: "." })[0]?.mountPath).toBe(".");
  });
});

describe("mounts", () => {
  const at = (...paths: string[]) =>
    checkedMounts(paths.map((mountPath) => ({ hostPath: "/a", mountPath })));

  test.each([
    ["a", "a"],
    ["a", "a/b"],
    ["a/b", "a"],
    ["a", "./a"],
    [".", "a"],
    ["a", "."],
  ])("cannot be at %j and %j", (one, other) => {
    expect(() => at(one, "elsewhere", other)).toThrow(
      expect.objectContaining({
        name: "InvalidOptionError",
        message: expect.stringContaining("must be apart from mounts[0]"),
      }),
    );
  });

  test("can be side by side: only the spelling counts, and whole names", () => {
    expect(at("data", "Data", "data2", "x/data", "x/data2")).toHaveLength(5);
    expect(at()).toEqual([]);
  });

  test("must be a list", () => {
    expect(() => checkedMounts("a" as never)).toThrow("mounts must be a list");
  });
});

test("a list of texts is copied, and one that holds something else is refused", () => {
  const given = ["a"];
  expect(checkedTexts(given, "x")).toEqual(given);
  expect(checkedTexts(given, "x")).not.toBe(given);
  expect(() => checkedTexts("a", "x")).toThrow("x must be a list");
  expect(() => checkedTexts([1], "x")).toThrow("x[0] must be a text");
});
