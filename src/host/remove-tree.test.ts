import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { asPlainUser, growTree, temporaryTree } from "../../tests/support/temporary-tree.ts";
import { removeTree } from "./remove-tree.ts";

describe("a tree is removed", () => {
  test("whole, or but for the folder itself", () => {
    const above = temporaryTree({ "one/a/b": "1", "one/c": "2", "other/owner.json": "3" });
    expect(removeTree({ type: "empty", folder: join(above, "one") })).toBe(true);
    expect(readdirSync(join(above, "one"))).toEqual([]);
    expect(removeTree({ type: "remove", folder: join(above, "one") })).toBe(true);
    expect(removeTree({ type: "remove", folder: join(above, "other") })).toBe(true);
    expect(readdirSync(above)).toEqual([]);
  });

  test("once: who comes later is told that it is gone", () => {
    const folder = join(temporaryTree(), "gone");
    expect(removeTree({ type: "remove", folder })).toBe(false);
    expect(removeTree({ type: "empty", folder })).toBe(false);
  });

  test("without following links", () => {
    const outside = temporaryTree({ "a/b": "1" });
    const folder = temporaryTree({ c: "2" });
    symlinkSync(outside, join(folder, "link"));
    removeTree({ type: "empty", folder });
    expect(readFileSync(join(outside, "a/b"), "utf8")).toBe("1");
  });

  test("though its owner has closed it", async () => {
    const outside = temporaryTree({ a: "1" });
    chmodSync(outside, 0o755);
    const above = temporaryTree();
    chmodSync(above, 0o777);
    const folder = join(above, "mine");
    await asPlainUser(() => {
      growTree(folder, { "closed/deep/a": "1", "fixed/b": "2", c: "3" });
      symlinkSync(outside, join(folder, "closed/link"));
      for (const path of ["closed/deep", "closed", "."]) chmodSync(join(folder, path), 0o000);
      expect(removeTree({ type: "remove", folder })).toBe(true);
    });
    expect(existsSync(folder)).toBe(false);
    expect(lstatSync(outside).mode & 0o777).toBe(0o755);
  });

  test.runIf(process.geteuid?.() === 0)(
    "with its owner's file last, so that it stays where the rest cannot go",
    async () => {
      const above = temporaryTree();
      chmodSync(above, 0o777);
      const folder = join(above, "mine");
      await asPlainUser(() => growTree(folder, { "owner.json": "", a: "" }));
      growTree(folder, { "theirs/file": "" });
      await asPlainUser(() => {
        expect(() => removeTree({ type: "remove", folder })).toThrow(
          expect.objectContaining({
            name: "FilesystemError",
            code: "EACCES",
            path: folder,
            message: expect.stringContaining("remove this temporary folder by hand"),
          }),
        );
      });
      expect(readdirSync(folder)).toEqual(["owner.json", "theirs"]);
    },
  );
});
