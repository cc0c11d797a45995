import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keepInBounds } from "./bounds.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "bounds-")));
const workspace = join(base, "work");
const outside = join(base, "out");
const bounds = { workspace, cwd: workspace, readable: [] };
/** Replaces placeholders, because titles must not contain the random folder names. */
const toRealPath = (path: unknown) =>
  typeof path === "string" ? path.replace("WORK", workspace).replace("OUT", outside) : path;
const read = (file_path: unknown, more = {}) =>
  keepInBounds("Read", { file_path }, { ...bounds, ...more });
const glob = (pattern: unknown, path?: unknown) =>
  keepInBounds("Glob", { pattern, ...(path !== undefined && { path }) }, bounds);
const grep = (path?: unknown, glob?: unknown) =>
  keepInBounds("Grep", { pattern: "x", path, glob }, bounds);

beforeAll(() => {
  mkdirSync(join(workspace, "sub"), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(workspace, "a.txt"), "a");
  writeFileSync(join(workspace, "sub/b.txt"), "b");
  writeFileSync(join(outside, "secret.txt"), "s");
  symlinkSync(outside, join(workspace, "link"));
  symlinkSync(outside, join(workspace, "a\\b"));
  symlinkSync(outside, join(workspace, "@scope"));
  symlinkSync(join(outside, "secret.txt"), join(workspace, "flink"));
  symlinkSync(join(outside, "new.txt"), join(workspace, "dangling"));
  symlinkSync("sub", join(workspace, "inner"));
  symlinkSync("round", join(workspace, "round"));
  symlinkSync(workspace, join(base, "alias"));
});

afterAll(() => rmSync(base, { recursive: true, force: true }));

describe("keepInBounds() with a file path", () => {
  test.each([
    ["a.txt", "a.txt"],
    [" a.txt\u00a0", "a.txt"],
    ["./sub/../a.txt", "a.txt"],
    ["sub//b.txt", "sub/b.txt"],
    ["new/deep/c.txt", "new/deep/c.txt"],
    ["a.txt/below", "a.txt/below"],
    ["inner/b.txt", "inner/b.txt"],
    ["link/../a.txt", "a.txt"],
    ["$HOME/x", "$HOME/x"],
    ["file:///etc/passwd", "file:/etc/passwd"],
    ["..a", "..a"],
    [".", "."],
    ["", "."],
  ])("allows the workspace path %j", async (path, resolved) => {
    const file_path = join(workspace, resolved);
    expect(await read(path)).toEqual({ input: { file_path } });
    expect(await read(join(workspace, path.trim()))).toEqual({ input: { file_path } });
  });

  test.each([
    "/etc/passwd",
    "/",
    "..",
    "../x",
    "sub/../../out/secret.txt",
    "link",
    "link/secret.txt",
    "link/new.txt",
    "sub/../link/secret.txt",
    "inner/../../out",
    "flink",
    "dangling",
    "round",
    "round/x",
    "~",
    "~/.ssh/id_rsa",
    "~root/.ssh",
    " ~/x",
    "a\0b",
    "WORKx",
    "WORK/../out/secret.txt",
    undefined,
    null,
    7,
    ["a.txt"],
  ])("denies the outside path %j", async (path) => {
    for (const name of ["Read", "Write", "Edit"]) {
      const verdict = await keepInBounds(
        name,
        { file_path: toRealPath(path), content: "x" },
        bounds,
      );
      expect(verdict).toEqual({
        denied: expect.stringMatching(
          new RegExp(`^${name} may not access .*: use a path in the working folder$`, "s"),
        ),
      });
    }
  });

  test.each([
    ["a long name", "x".repeat(300)],
    ["many folders", "d/".repeat(2_100)],
  ])("denies a path with %s", async (_, path) => {
    expect(await read(path)).toHaveProperty("denied");
    expect(await glob(path)).toHaveProperty("denied");
  });

  test("resolves paths from the shell's folder, and keeps other fields", async () => {
    const cwd = join(workspace, "sub");
    const input = { file_path: "../a.txt", old_string: "a", new_string: "b" };
    expect(await keepInBounds("Edit", input, { ...bounds, cwd })).toEqual({
      input: { ...input, file_path: join(workspace, "a.txt") },
    });
    expect(await read("../../x", { cwd })).toHaveProperty("denied");
    expect(await read("secret.txt", { cwd: outside })).toHaveProperty("denied");
    expect(await read("secret.txt", { cwd: join(workspace, "link") })).toHaveProperty("denied");
  });

  test("allows the workspace's real path and its symlinked path", async () => {
    const alias = join(base, "alias");
    for (const folder of [alias, workspace]) {
      const place = { workspace: alias, cwd: alias };
      expect(await read(join(folder, "a.txt"), place)).toHaveProperty("input");
      expect(await read(join(folder, "link/secret.txt"), place)).toHaveProperty("denied");
    }
  });

  test("allows reading and searching a readable folder, but not changing it", async () => {
    const readable = [join(base, "missing"), outside];
    const file_path = join(outside, "secret.txt");
    expect(await read(file_path, { readable })).toEqual({ input: { file_path } });
    const at = { ...bounds, readable };
    expect(await keepInBounds("Grep", { pattern: "s", path: outside }, at)).toHaveProperty("input");
    expect(await keepInBounds("Glob", { pattern: "*", path: outside }, at)).toHaveProperty(
      "denied",
    );
    expect(await keepInBounds("Write", { file_path }, at)).toHaveProperty("denied");
    expect(await read(join(base, "other"), { readable })).toHaveProperty("denied");
  });

  test("denies all paths if the workspace is missing", async () => {
    const missing = join(base, "missing");
    expect(await read("a.txt", { workspace: missing, cwd: missing })).toHaveProperty("denied");
  });
});

describe("keepInBounds() with a search", () => {
  test.each([
    ["**/*.txt", undefined, "."],
    ["**/*.{ts,tsx}", "sub", "sub"],
    ["*.txt", " sub ", "sub"],
    ["[...slug]/page.tsx", undefined, "."],
    ["!x", undefined, "."],
    ["WORK/**", undefined, "."],
    ["\\[a\\].txt", undefined, "."],
    ["", undefined, "."],
  ])("allows the pattern %j in %j", async (pattern, path, resolved) => {
    const input = { pattern: toRealPath(pattern), path: join(workspace, resolved) };
    expect(await glob(toRealPath(pattern), path)).toEqual({ input });
  });

  test.each([
    ["/**", undefined],
    ["/etc/*", undefined],
    ["OUT/*", undefined],
    [" OUT/*", undefined],
    ["\\OUT/*", undefined],
    ["OUT/*", "sub"],
    ["../*", undefined],
    ["{../x,y}", undefined],
    ["sub/{a,..}/../x", undefined],
    ["[.][.]/x", undefined],
    ["sub/@(../..)/*", undefined],
    ["*/../../out/*", undefined],
    ["link/*", undefined],
    ["WORK/link/*", undefined],
    ["WORK/@scope/*", undefined],
    ["WORK/a\\b/*", undefined],
    ["~/*", undefined],
    ["*", "/"],
    ["*", "link"],
    ["*", "~"],
    ["*", "../out"],
    ["*", 5],
    ["a\0/*", undefined],
  ])("denies the pattern %j in %j", async (pattern, path) => {
    expect(await glob(toRealPath(pattern), path)).toEqual({
      denied: expect.stringMatching(/^Glob may not access .*: use a path in the working folder$/s),
    });
  });

  test("checks the path of a Grep, and only the parent steps of its glob", async () => {
    const path = join(workspace, "sub");
    expect(await grep("sub", "*.txt")).toEqual({ input: { pattern: "x", path, glob: "*.txt" } });
    expect(await grep(undefined, "/src/**")).toHaveProperty("input.path", workspace);
    for (const place of ["link", "flink", "..", "/etc", "~"]) {
      expect(await grep(place)).toHaveProperty("denied");
    }
    expect(await grep("sub", "../**")).toHaveProperty("denied");
  });
});

test("keepInBounds() never allows a path outside the workspace", async () => {
  const step = fc.constantFrom(
    "..",
    ".",
    "sub",
    "link",
    "inner",
    "a.txt",
    "~",
    "",
    "x",
    "*",
    "{..,a}",
    "\\",
  );
  const paths = fc.tuple(fc.constantFrom("", "/", `${workspace}/`, `${outside}/`), fc.array(step));
  await fc.assert(
    fc.asyncProperty(paths, async ([start, steps]) => {
      const path = start + steps.join("/");
      for (const verdict of [await read(path), await glob(path), await glob("*", path)]) {
        if ("denied" in verdict) continue;
        const place = String(verdict.input["file_path"] ?? verdict.input["path"]);
        expect(`${place}/`.startsWith(`${workspace}/`)).toBe(true);
        if (existsSync(place)) {
          expect(`${realpathSync(place)}/`.startsWith(`${workspace}/`)).toBe(true);
        }
      }
    }),
    { numRuns: 300 },
  );
});
