import { chmodSync, lstatSync, symlinkSync, utimesSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { planMounts } from "./plan-mounts.ts";

const anywhere = { allowedHostRoots: "any" } as const;

describe("planMounts()", () => {
  test("records the state of each file", () => {
    const folder = temporaryTree({ "a.txt": "hello", "bin/run": "#!" });
    chmodSync(join(folder, "bin/run"), 0o750);
    utimesSync(join(folder, "a.txt"), 1, 1.5);
    const { files } = planMounts([{ hostPath: folder, mountPath: "in" }], anywhere);
    const inode = (path: string) => lstatSync(join(folder, path)).ino;
    expect(files).toEqual([
      {
        hostPath: join(folder, "a.txt"),
        mountPath: "in/a.txt",
        bytes: 5,
        mode: 0o100644,
        mtimeMs: 1500,
        ino: inode("a.txt"),
      },
      expect.objectContaining({
        mountPath: "in/bin/run",
        bytes: 2,
        mode: 0o100750,
        ino: inode("bin/run"),
      }),
    ]);
  });

  test("returns a frozen plan", () => {
    const folder = temporaryTree({ "a.txt": "a", ".env": "" });
    const plan = planMounts([{ hostPath: folder, maxBytes: 9 }], anywhere);
    const parts = [
      plan,
      ...Object.values(plan),
      plan.files[0],
      plan.previews[0],
      plan.previews[0]?.entries,
      plan.previews[0]?.withheld,
      plan.previews[0]?.unmatched,
      plan.previews[0]?.skipped,
      plan.limits[0],
    ];
    expect(parts.every(Object.isFrozen)).toBe(true);
  });

  test("returns an empty plan for no mounts", () => {
    const empty = { files: [], directories: [], previews: [], limits: [] };
    expect(planMounts([], { allowedHostRoots: [] })).toEqual(empty);
  });

  test("sorts files by code units, independent of the order of mounts and folders", () => {
    const tree = { "b/x": "", "a/z": "", "a.b": "", "a-b": "", a0: "", "B/x": "", é: "", "😀": "" };
    const backwards = Object.fromEntries(Object.entries(tree).reverse());
    const one = temporaryTree({ ...addPrefix("x", tree), ...addPrefix("a", tree) });
    const other = temporaryTree({ ...addPrefix("a", backwards), ...addPrefix("x", backwards) });
    const plan = (root: string, names: string[]) =>
      planMounts(
        names.map((name) => ({ hostPath: join(root, name) })),
        anywhere,
      );
    const paths = plan(one, ["x", "a"]).files.map(({ mountPath }) => mountPath);
    expect(paths).toEqual([...paths].sort());
    expect(paths).toHaveLength(16);
    expect(plan(other, ["a", "x"]).files.map(({ mountPath }) => mountPath)).toEqual(paths);
    const entries = plan(one, ["a"]).previews[0]?.entries;
    expect(entries).toEqual(Object.keys(tree).sort());
    expect(plan(one, ["a"]).previews[0]?.entries).toEqual(entries);
    expect(plan(other, ["a"]).previews[0]?.entries).toEqual(entries);
  });

  test("lists folders with included files and empty folders, parents first", () => {
    const folder = temporaryTree({
      "a/b/c.py": "",
      "a.d/x.py": "",
      "empty/inner": null,
      "onlyText/x.txt": "",
      "skipped/inner": null,
    });
    const mount = { hostPath: folder, mountPath: "deep/in", excludeGlob: ["*.txt", "skipped/*"] };
    expect(planMounts([mount], anywhere).directories).toEqual([
      "deep",
      "deep/in",
      "deep/in/a",
      "deep/in/a.d",
      "deep/in/a/b",
      "deep/in/empty",
      "deep/in/empty/inner",
    ]);
    const onlyPython = { ...mount, includeGlob: ["*.py"] };
    expect(planMounts([onlyPython], anywhere).directories).not.toContain("deep/in/empty");
  });

  test("lists a folder that mounts share once", () => {
    const folder = temporaryTree({ a: "1", b: "2" });
    const mounts = ["a", "b"].map((name) => ({
      hostPath: join(folder, name),
      mountPath: `in/${name}`,
    }));
    const plan = planMounts(mounts, anywhere);
    expect(plan.directories).toEqual(["in"]);
    expect(plan.files.map(({ mountPath }) => mountPath)).toEqual(["in/a", "in/b"]);
  });

  test("mounts a folder at the root of the workspace", () => {
    const folder = temporaryTree({ "a/b": "", c: "" });
    const plan = planMounts([{ hostPath: folder, mountPath: "." }], anywhere);
    expect(plan.files.map(({ mountPath }) => mountPath)).toEqual(["a/b", "c"]);
    expect(plan.directories).toEqual(["a"]);
  });

  test("lists the limits of mounts with maxBytes", () => {
    const folder = temporaryTree({ a: "", b: "" });
    const mounts = [{ hostPath: join(folder, "a"), maxBytes: 0 }, { hostPath: join(folder, "b") }];
    expect(planMounts(mounts, anywhere).limits).toEqual([{ mountPath: "a", maxBytes: 0 }]);
  });
});

describe("the preview of planMounts()", () => {
  test("counts all files and lists the first 20", () => {
    const names = Array.from({ length: 21 }, (_, n) => `f${String(n).padStart(2, "0")}`);
    const folder = temporaryTree(Object.fromEntries(names.map((name) => [name, "12"])));
    const preview = (excludeGlob: string[]) =>
      planMounts([{ hostPath: folder, mountPath: "a/b", excludeGlob }], anywhere).previews[0];
    expect(preview([])).toEqual({
      hostPath: folder,
      mountPath: "a/b",
      files: 21,
      bytes: 42,
      entries: names.slice(0, 20),
      truncated: true,
      withheld: [],
      unmatched: [],
      skipped: [],
      skippedCount: 0,
    });
    expect(preview(["f20"])).toMatchObject({ files: 20, bytes: 40, truncated: false });
  });

  test("is empty for an empty folder", () => {
    const folder = temporaryTree();
    const { previews, directories } = planMounts([{ hostPath: folder, mountPath: "x" }], anywhere);
    const nothing = {
      ...{ files: 0, bytes: 0, entries: [], truncated: false },
      ...{ withheld: [], unmatched: [], skipped: [], skippedCount: 0 },
    };
    expect(previews).toEqual([{ hostPath: folder, mountPath: "x", ...nothing }]);
    expect(directories).toEqual(["x"]);
  });

  test("lists the file name of a single-file mount", () => {
    const hostPath = join(temporaryTree({ "a.txt": "abc" }), "a.txt");
    const plan = planMounts([{ hostPath, mountPath: "docs/b.txt" }], anywhere);
    expect(plan.previews[0]).toMatchObject({ files: 1, bytes: 3, entries: ["a.txt"] });
    expect(plan.files[0]).toMatchObject({ hostPath, mountPath: "docs/b.txt" });
    expect(plan.directories).toEqual(["docs"]);
  });
});

describe("allowedHostRoots of planMounts()", () => {
  const plan = (hostPath: string, ...allowedHostRoots: string[]) =>
    planMounts([{ hostPath }], { allowedHostRoots });

  test("allow themselves and everything below them", () => {
    const root = temporaryTree({ "in/a": "" });
    expect(plan(root, root).files).toHaveLength(1);
    expect(plan(join(root, "in"), "/nowhere", root).files).toHaveLength(1);
    expect(plan(join(root, "in"), `${root}/`).files).toHaveLength(1);
    expect(plan(join(root, "in"), "/").files).toHaveLength(1);
  });

  test("reject a path outside them and name it", () => {
    const root = temporaryTree({ "in/a": "", "in-evil/a": "", b: "" });
    for (const path of ["in-evil", "b", ".", "in/../b"]) {
      expect(() => plan(`${root}/${path}`, join(root, "in"))).toThrow(
        expect.objectContaining({
          name: "WorkspaceSecurityError",
          message: expect.stringMatching(
            new RegExp(`${path}".* is outside the allowed host roots, "${join(root, "in")}"`),
          ),
        }),
      );
    }
  });

  test('allow nothing if empty, and everything if "any"', () => {
    const root = temporaryTree({ a: "" });
    expect(() => plan(root)).toThrow(
      "is outside the allowed host roots, which are empty. Add its folder to allowedHostRoots.",
    );
    expect(planMounts([{ hostPath: root }], anywhere).files).toHaveLength(1);
  });

  test("are compared with mounts by real paths", () => {
    const root = temporaryTree({ "real/in/a": "", "other/a": "" });
    symlinkSync(join(root, "real"), join(root, "link"));
    symlinkSync(join(root, "other"), join(root, "real/out"));
    expect(plan(join(root, "link/in"), join(root, "real")).files).toHaveLength(1);
    expect(plan(join(root, "real/in"), join(root, "link")).files).toHaveLength(1);
    expect(() => plan(join(root, "real/out/a"), join(root, "real"))).toThrow(
      `real/out/a", which is ${join(root, "other/a")}, is outside the allowed host roots`,
    );
  });

  test("may be relative to the working directory, like mounts", () => {
    const root = temporaryTree({ a: "" });
    const here = relative(process.cwd(), root);
    expect(plan(here, here).previews[0]?.hostPath).toBe(here);
    expect(plan(here, here).files[0]?.hostPath).toBe(join(root, "a"));
  });

  test.each([[undefined], ["/tmp"], [[""]], [[5]]])("must not be %j", (allowedHostRoots) => {
    const options = { allowedHostRoots } as never;
    expect(() => planMounts([], options)).toThrow(
      expect.objectContaining({ name: "InvalidOptionError" }),
    );
  });

  test("must be readable paths", () => {
    const root = temporaryTree({ a: "" });
    expect(() => plan(root, join(root, "a/b"))).toThrow(
      expect.objectContaining({ name: "FilesystemError", code: "ENOTDIR" }),
    );
  });
});

test("planMounts() names a host path that does not exist", () => {
  const root = temporaryTree();
  const hostPath = join(root, "gone");
  expect(() => planMounts([{ hostPath }], anywhere)).toThrow(
    expect.objectContaining({
      name: "FilesystemError",
      code: "ENOENT",
      path: hostPath,
      message: expect.stringContaining("Set mounts[0].hostPath to a file or folder of the host"),
    }),
  );
});

test.each([[undefined], [null], ["any"]])("planMounts() rejects the options %j", (options) => {
  expect(() => planMounts([], options as never)).toThrow(
    expect.objectContaining({
      name: "InvalidOptionError",
      message: expect.stringContaining("planMounts(options) must be an object"),
    }),
  );
});

test("planMounts() rejects allowSecrets that is not an array", () => {
  expect(() => planMounts([], { ...anywhere, allowSecrets: ".env" as never })).toThrow(
    "allowSecrets must be an array of strings",
  );
});

function addPrefix(prefix: string, tree: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    Object.entries(tree).map(([path, text]) => [`${prefix}/${path}`, text]),
  );
}
