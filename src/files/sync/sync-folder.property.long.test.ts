import { mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { filesIn } from "../../../tests/support/files-in.ts";
import { temporaryTree, writeTree } from "../../../tests/support/temporary-tree.ts";
import { syncFolder } from "./sync-folder.ts";

const names = fc.constantFrom("a", "b", "é", "c.d");
const trees = fc
  .dictionary(
    fc.array(names, { minLength: 1, maxLength: 3 }).map((path) => path.join("/")),
    fc.string({ maxLength: 3 }),
    { maxKeys: 10, noNullPrototype: true },
  )
  .filter((tree) => {
    const paths = Object.keys(tree);
    return !paths.some((path) => paths.some((other) => other.startsWith(`${path}/`)));
  });

test("syncFolder() turns any folder into any other, even where files become folders", async () => {
  const root = temporaryTree();
  await fc.assert(
    fc.asyncProperty(trees, trees, fc.boolean(), async (before, after, isThere) => {
      const above = mkdtempSync(join(root, "to-"));
      const to = join(above, "to");
      const exists = isThere || Object.keys(before).length > 0;
      if (exists) mkdirSync(to);
      writeTree(to, before);
      const from = writeTree(mkdtempSync(join(root, "from-")), after);
      const changed = Object.keys(after).filter((path) => before[path] !== after[path]);
      const deleted = Object.keys(before).filter((path) => !Object.hasOwn(after, path));
      expect(await syncFolder({ from, to, changed, deleted })).toEqual({ failed: [] });
      expect(filesIn(to)).toEqual(after);
      expect(readdirSync(above)).toEqual(["to"]);
    }),
    { numRuns: 150 },
  );
});
