import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { gitRepository, listIgnored, listOthers } from "../../../tests/support/git-repository.ts";
import { writeTree } from "../../../tests/support/temporary-tree.ts";
import { readGitignore } from "./gitignore.ts";
import { planMounts } from "./plan-mounts.ts";

const pieces = [
  ...["a", "b", "*", "**", "***", "/", "?", "[ab]", "[!a]", "[^b]", "\\a", "\\*", "\\\\", "\\/"],
  ...[" ", "\\ ", "c.txt", "!", "\\!", "#", "\\#", "[a-c]", "[b-a]", "[]a]", "[!]a]", "[", "]"],
  ...["-", "[a-]", "[--0]", "[[:alpha:]]", "[[:punct:]x]", "[[:nope:]]", "[[:a]", "[\\]a]", "é"],
  ...["[é]", "\r", "\t", "[a/b]", "\\", "{a,b}", ".", "[[:digit:]-z]"],
];
const names = ["a", "b", "ab", "c.txt", "*", "[a]", " a", "a ", "!", "#a", "\\a", "é", "aé", "1"];

const line = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 6 });
const file = fc
  .tuple(fc.array(line, { minLength: 1, maxLength: 3 }), fc.constantFrom("\n", "\r\n"))
  .map(([lines, ending]) => lines.map((parts) => parts.join("")).join(ending));
const path = fc
  .array(fc.constantFrom(...names), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join("/"));

/** Returns the paths that are ignored themselves or below an ignored folder. */
function findIgnored(folder: string, paths: readonly string[]): readonly string[] {
  const rules = readGitignore(folder).enter(folder, "");
  return paths
    .filter((one) => {
      const parts = one.split("/");
      return parts.some((_part, index) => {
        const isFolder = index < parts.length - 1;
        return rules.findIgnoring(parts.slice(0, index + 1).join("/"), isFolder) !== null;
      });
    })
    .sort();
}

describe("readGitignore()", () => {
  test("ignores exactly what git check-ignore reports, for random rules and paths", () => {
    const repository = gitRepository();
    let ignored = 0;
    fc.assert(
      fc.property(file, fc.uniqueArray(path, { minLength: 30 }), (text, paths) => {
        writeFileSync(join(repository, ".gitignore"), text);
        const expected = listIgnored(repository, paths);
        ignored += expected.length;
        expect(findIgnored(repository, paths)).toEqual(expected);
      }),
      { numRuns: 200 },
    );
    expect(ignored).toBeGreaterThan(100);
  });
});

describe("planMounts() with gitignore", () => {
  const folders = ["", "a/", "a/b/", "b/"];
  const sources = fc.record({
    rules: fc.dictionary(fc.constantFrom(...folders), file, { noNullPrototype: true }),
    exclude: fc.option(file),
    mounted: fc.constantFrom("", "a", "a/b"),
  });

  test("mounts exactly the files that git ls-files lists, for random nested rules", () => {
    const repository = gitRepository();
    const files = names.flatMap((name) => folders.map((folder) => `${folder}${name}/${name}.x`));
    const others = ["a/b/f.txt", "b/f.txt", "a/f", "f.txt", "a/b/-", "b/b/b/ab"];
    writeTree(repository, Object.fromEntries([...files, ...others].map((one) => [one, "1"])));
    let skipped = 0;
    fc.assert(
      fc.property(sources, ({ rules, exclude, mounted }) => {
        for (const folder of folders)
          rmSync(join(repository, folder, ".gitignore"), { force: true });
        writeTree(repository, { ".git/info/exclude": exclude ?? "" });
        for (const [folder, text] of Object.entries(rules)) {
          writeFileSync(join(repository, folder, ".gitignore"), text);
        }
        const hostPath = join(repository, mounted);
        const mount = { hostPath, mountPath: ".", gitignore: true };
        const plan = planMounts([mount], { allowedHostRoots: [repository] });
        const isUnlisted = mounted !== "" && listIgnored(repository, [mounted]).length > 0;
        fc.pre(!isUnlisted); // git lists nothing in an ignored folder, which a mount may name
        expect(plan.files.map(({ mountPath }) => mountPath).sort()).toEqual(listOthers(hostPath));
        skipped += plan.previews[0]?.skippedCount ?? 0;
      }),
      { numRuns: 150 },
    );
    expect(skipped).toBeGreaterThan(100);
  });
});
