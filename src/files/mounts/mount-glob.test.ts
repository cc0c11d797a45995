import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mountGlob } from "./mount-glob.ts";

/** Whether a glob matches a path, which is a folder if it ends with a slash. */
function matchesPath(pattern: string, path: string): boolean {
  const isFolder = path.endsWith("/");
  return mountGlob(pattern).matches(isFolder ? path.slice(0, -1) : path, isFolder);
}

describe("a glob of a mount", () => {
  test.each([
    ["secrets", "secrets", true],
    ["secrets", "secrets/", true],
    ["secrets", "a/b/secrets", true],
    ["secrets", "my-secrets", false],
    ["secrets", "secrets.txt", false],
    ["*.pyc", "a.pyc", true],
    ["*.pyc", "a/b/c.pyc", true],
    ["?", "x/y", true],
    ["[ab]", "x/b", true],
    ["*", "a/b", true],
    ["id_*", "keys/id_rsa", true],
  ])("without a slash inside is a name at any depth: %s and %s is %s", (...row) => {
    const [pattern, path, matches] = row;
    expect(matchesPath(pattern, path)).toBe(matches);
  });

  test.each([
    ["secrets/", "secrets/", true],
    ["secrets/", "a/secrets/", true],
    ["secrets/", "secrets", false],
    ["a/b/", "a/b/", true],
    ["a/b/", "a/b", false],
    ["a/b/.", "a/b/", true],
    ["a//", "x/a/", true],
    ["*/", "a/", true],
    ["*/", "a", false],
  ])("with a slash at the end matches only folders: %s and %s is %s", (pattern, path, matches) => {
    expect(matchesPath(pattern, path)).toBe(matches);
  });

  test.each([
    ["a/b", "a/b", true],
    ["a/b", "x/a/b", false],
    ["./a/*", "a/b", true],
    ["./a/*", "x/a/b", false],
    ["././a//b/./c", "a/b/c", true],
    ["/a", "a", true],
    ["/a", "x/a", false],
    ["./a", "a", true],
    ["./a", "x/a", false],
    ["/a/", "a/", true],
    ["/a/", "x/a/", false],
    ["a/*.py", "a/b/c.py", true],
    ["../a", "a", false],
    ["a[/]b", "a/b", true],
    ["a[/]b", "x/a/b", true],
    ["[./]a", "x/.a", true],
  ])("with a slash inside or before it is a path from the root: %s and %s is %s", (...row) => {
    const [pattern, path, matches] = row;
    expect(matchesPath(pattern, path)).toBe(matches);
  });

  test.each([
    ["**/a", "a", true],
    ["**/a", "x/y/a", true],
    ["a/**", "a/b/c", true],
    ["a/**", "a/", false],
    ["a/**/b", "a/b", true],
    ["a/**/b", "a/x/y/b", true],
    ["a/**/b", "ab", false],
    ["a/**/b", "a/xb", false],
    ["a/**/**/b/**/c", "a/b/c", true],
    ["a/**/*.key", "a/x.key", true],
    ["**", "a/b", true],
    ["a**b", "x/a1b", true],
  ])("lets a double star match zero or more folders: %s and %s is %s", (pattern, path, matches) => {
    expect(matchesPath(pattern, path)).toBe(matches);
  });

  test.each([
    ["*.{a,b}", "x/y.b", true],
    ["*.{a,b}", "y.c", false],
    ["{secrets,keys/private}", "x/secrets", true],
    ["{secrets,keys/private}", "keys/private", true],
    ["{secrets,keys/private}", "x/keys/private", false],
    ["{a,b}/", "b/", true],
    ["{./a,b/}", "x/a", false],
    ["x{,.bak}", "d/x", true],
    ["\\{a,b\\}", "{a,b}", true],
  ])("expands braces before it looks for slashes: %s and %s is %s", (pattern, path, matches) => {
    expect(matchesPath(pattern, path)).toBe(matches);
  });

  test.each([".", "./", "/", "//", "./."])("%s is the mount, with everything in it", (pattern) => {
    expect(matchesPath(pattern, "a")).toBe(true);
    expect(matchesPath(pattern, "a/b/")).toBe(true);
  });

  test.each([
    [".git/*", ".git", true],
    [".git/*", ".git/hooks", true],
    [".git/**", ".git", true],
    ["./.git/*", ".git", true],
    ["*/node_modules/*", "a/node_modules", true],
    ["**/node_modules/*", "node_modules", true],
    [".git/*", "x/.git", false],
    [".git/*", ".github", false],
    ["*.git/*", "a.git", true],
    [".git/*/", ".git", false],
    [".git/h*", ".git", false],
    [".git/[!a]*", ".git", false],
    [".git/*.pack", ".git", false],
    ["*.pyc", "a", false],
    ["{a,b}/*", "b", true],
  ])("%s matches everything below the folder %s: %s", (pattern, folder, matches) => {
    expect(mountGlob(pattern).matchesContents(folder)).toBe(matches);
  });

  test("matches at least the paths it matched as a whole path", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "/", "*", "?", ".") });
    const path = fc
      .array(fc.string({ unit: fc.constantFrom("a", "b", "."), minLength: 1 }), { minLength: 1 })
      .map((names) => names.filter((name) => !/^\.+$/.test(name)).join("/"));
    fc.assert(
      fc.property(text, path, (pattern, one) => {
        fc.pre(pattern !== "" && one !== "" && !/\/$|^\.?\/|\/\.?\//.test(pattern));
        const expression = pattern
          .replaceAll(".", "\\.")
          .replace(/\*+/g, ".*")
          .replaceAll("?", ".");
        if (!new RegExp(`^${expression}$`).test(one)) return;
        expect(matchesPath(pattern, one)).toBe(true);
      }),
    );
  });
});
