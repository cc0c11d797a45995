import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { gitRepository, listOthers } from "../../../tests/support/git-repository.ts";
import { runAsPlainUser, type Tree, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import type { HostMount } from "./host-mount.ts";
import { planMounts } from "./plan-mounts.ts";

/** Plans a mount at the root of the workspace. */
function createPlan(hostPath: string, mount: Partial<HostMount> = {}) {
  const mounts = [{ hostPath, mountPath: ".", gitignore: true, ...mount }];
  return planMounts(mounts, { allowedHostRoots: "any" });
}

const planPaths = (...given: Parameters<typeof createPlan>) =>
  createPlan(...given).files.map(({ mountPath }) => mountPath);

describe("a mount with gitignore", () => {
  test.each<[string, string, Tree]>([
    ["names at any depth", "out\n*.log\n", { out: "", "a/out/x": "", "b/y.log": "", "c/z": "" }],
    ["anchored names", "/a\nb/c\n", { "a/x": "", "d/a": "", "b/c": "", "d/b/c": "" }],
    ["folders only", "a/\n", { "a/x": "", "b/a": "", "c/a/x": "" }],
    ["comments and blank lines", "# a\n\n \n\\#b\n#b\n", { a: "", "#b": "", "# a": "" }],
    ["negation", "*.log\n!keep.log\n", { "a.log": "", "keep.log": "", "x/keep.log": "" }],
    ["an escaped !", "\\!a\n!b\n", { "!a": "", a: "", b: "" }],
    ["spaces", "a  \nb\\ \n c\n", { a: "", "b ": "", b: "", " c": "", c: "" }],
    ["a file below an ignored folder", "out/\n!out/keep\n", { "out/keep": "", "b/keep": "" }],
    ["files of a folder", "out/*\n!out/keep\n", { "out/keep": "", "out/x": "", "out/d/keep": "" }],
    [
      "double stars",
      "a/**/z\n**/q/x\n",
      { "a/z": "", "a/b/c/z": "", "q/x": "", "b/q/x": "", z: "" },
    ],
    [
      "a double star after a name",
      "doc**/x\nsrc**\\/y\n",
      { "docs/x": "", "doc/a/x": "", docx: "", "srcs/y": "", "src/a/y": "", srcy: "", x: "" },
    ],
    [
      "a double star at the end",
      "a/**\nb/**/c/**\n",
      { "a/x": "", "b/d/c/x": "", "b/c": "", c: "" },
    ],
    ["CRLF", "a\r\nb/\r\n", { a: "", "b/x": "", c: "" }],
    ["a byte order mark", "\ufeffa\n", { a: "", b: "" }],
    ["no newline at the end", "a", { a: "", b: "" }],
    ["other alphabets", "é*\n?x\n", { éa: "", éx: "", ax: "" }],
  ])("honors %s as git does", (_what, rules, tree) => {
    const folder = gitRepository({ ...tree, ".gitignore": rules });
    const kept = planPaths(folder);
    expect(kept).toEqual(listOthers(folder));
    expect(kept.length).toBeLessThan(Object.keys(tree).length + 1);
  });

  test("lets nested files override the files above them", () => {
    const folder = gitRepository({
      ".gitignore": "*.log\n/only-here\n",
      "a/.gitignore": "!keep.log\n/x\n",
      "a/keep.log": "",
      "a/other.log": "",
      "a/x": "",
      "a/b/x": "",
      "a/b/keep.log": "",
      "b/keep.log": "",
      "b/only-here": "",
    });
    expect(planPaths(folder)).toEqual(listOthers(folder));
    expect(createPlan(folder).previews[0]?.skipped).toEqual([
      { path: ".git", reason: "belongs to git" },
      { path: "a/other.log", reason: "is ignored by .gitignore" },
      { path: "a/x", reason: "is ignored by a/.gitignore" },
      { path: "b/keep.log", reason: "is ignored by .gitignore" },
    ]);
  });

  test("honors the files above the mount, and .git/info/exclude", () => {
    const folder = gitRepository({
      ".gitignore": "dist\n/app/src/generated.ts\n",
      ".git/info/exclude": "notes.txt\n/app/src/mine\n",
      "app/.gitignore": "*.tmp\n",
      "app/src/a.ts": "",
      "app/src/a.tmp": "",
      "app/src/generated.ts": "",
      "app/src/deep/generated.ts": "",
      "app/src/dist/x": "",
      "app/src/mine": "",
      "app/src/notes.txt": "",
    });
    const source = join(folder, "app/src");
    expect(planPaths(source)).toEqual(["a.ts", "deep/generated.ts"]);
    expect(planPaths(source)).toEqual(listOthers(source));
    expect(createPlan(source).previews[0]?.skipped).toEqual([
      { path: "a.tmp", reason: "is ignored by ../.gitignore" },
      { path: "dist", reason: "is ignored by ../../.gitignore" },
      { path: "generated.ts", reason: "is ignored by ../../.gitignore" },
      { path: "mine", reason: "is ignored by ../../.git/info/exclude" },
      { path: "notes.txt", reason: "is ignored by ../../.git/info/exclude" },
    ]);
  });

  test("needs no repository, and then reads only files in the mount", () => {
    const root = temporaryTree({
      ".gitignore": "a\n",
      "in/.gitignore": "b\n",
      ...{ "in/a": "", "in/b": "", "in/c/b": "" },
    });
    expect(planPaths(join(root, "in"))).toEqual([".gitignore", "a"]);
  });

  test("omits .git at any depth, and does so only with gitignore", () => {
    const folder = temporaryTree({ ".git/HEAD": "", "sub/.git": "gitdir: x", "sub/a": "" });
    expect(planPaths(folder)).toEqual(["sub/a"]);
    expect(planPaths(folder, { gitignore: false })).toEqual([".git/HEAD", "sub/.git", "sub/a"]);
  });

  test("is combined with globs, which cannot include what is ignored", () => {
    const folder = gitRepository({
      ".gitignore": "*.log\n",
      "a.log": "",
      "a.txt": "",
      "b.txt": "",
    });
    const mount = { includeGlob: ["a.*"], excludeGlob: [".gitignore"] };
    expect(planPaths(folder, mount)).toEqual(["a.txt"]);
    expect(createPlan(folder, mount).previews[0]?.unmatched).toEqual([]);
  });

  test("mounts a folder that is itself ignored, because the mount names it", () => {
    const folder = gitRepository({ ".gitignore": "dist/\n", "dist/a.js": "" });
    expect(planPaths(join(folder, "dist"))).toEqual(["a.js"]);
  });

  test("omits a single file that is ignored", () => {
    const folder = gitRepository({ ".gitignore": "*.log\n", "a/x.log": "", "a/x.txt": "" });
    const mount = { hostPath: join(folder, "a/x.log"), mountPath: "x" };
    expect(createPlan(folder, mount)).toMatchObject({
      files: [],
      previews: [{ skipped: [{ path: "x.log", reason: "is ignored by ../.gitignore" }] }],
    });
    expect(planPaths(folder, { hostPath: join(folder, "a/x.txt"), mountPath: "x" })).toEqual(["x"]);
  });

  test("applies the rules of a followed symlink's target", () => {
    const folder = gitRepository({ "real/.gitignore": "x\n", "real/x": "", "real/y": "" });
    symlinkSync("real", join(folder, "again"));
    expect(planPaths(folder, { followSymlinks: true, includeGlob: ["x", "y"] })).toEqual([
      "again/y",
      "real/y",
    ]);
  });
});

describe("a .gitignore file", () => {
  test("is not read if it is a symlink, a folder or a pipe", () => {
    const folder = gitRepository({
      rules: "a\n",
      a: "",
      "b/.gitignore/x": "",
      "b/a": "",
      "c/a": "",
    });
    symlinkSync("rules", join(folder, ".gitignore"));
    execFileSync("mkfifo", [join(folder, "c/.gitignore")]);
    const kept = ["a", "b/.gitignore/x", "b/a", "c/a", "rules"];
    expect(planPaths(folder)).toEqual(kept);
    rmSync(join(folder, ".gitignore"));
    mkdirSync(join(folder, ".gitignore"));
    expect(planPaths(folder)).toEqual(kept);
  });

  test("stops the mount if its rules would take too long for the number of files", () => {
    const rules = `${"*a".repeat(2000)}\n`.repeat(250);
    const files = Array.from({ length: 500 }, (_, n) => [`aaaa${n}`, ""]);
    const folder = temporaryTree({ ".gitignore": rules, ...Object.fromEntries(files) });
    expect(() => createPlan(folder)).toThrow("has too many rules and stars");
  });

  test("stops the mount if it cannot be read", async () => {
    const folder = gitRepository({ ".gitignore": "a\n", a: "" });
    chmodSync(folder, 0o755);
    chmodSync(join(folder, ".gitignore"), 0);
    await expect(runAsPlainUser(async () => createPlan(folder))).rejects.toMatchObject({
      name: "FilesystemError",
      code: "EACCES",
      path: join(folder, ".gitignore"),
      message: expect.stringContaining("Make it readable, or do not set gitignore."),
    });
  });

  test("stops the mount if it is too large or has a rule that is too long", () => {
    const folder = gitRepository({ a: "" });
    writeFileSync(join(folder, ".gitignore"), "a\n".repeat(1024 * 512 + 1));
    expect(() => createPlan(folder)).toThrow(
      expect.objectContaining({
        code: "EFBIG",
        message: expect.stringContaining("has 1048578 bytes. The maximum is 1048576. Shorten it"),
      }),
    );
    writeFileSync(join(folder, ".gitignore"), "a".repeat(4097));
    expect(() => createPlan(folder)).toThrow("has a rule of 4097 bytes. The maximum is 4096.");
  });

  test("with rules that could match in many ways does not slow down the mount", () => {
    const folder = gitRepository({
      [`${"a/".repeat(60)}c`]: "",
      [`${"a".repeat(250)}`]: "",
      ".gitignore": [
        `${"**/a/".repeat(40)}b`,
        `${"*a".repeat(100)}b`,
        `${"a*/".repeat(50)}**/b`,
        `${"[".repeat(4000)}`,
        `${"\\".repeat(4001)}`,
        `${" ".repeat(4000)}x`,
      ].join("\n"),
    });
    expect(planPaths(folder)).toHaveLength(3);
  });
});
