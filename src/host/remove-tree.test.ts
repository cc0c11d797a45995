import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runAsPlainUser, temporaryTree, writeTree } from "../../tests/support/temporary-tree.ts";
import { removeTree } from "./remove-tree.ts";

describe("removeTree()", () => {
  test("removes a folder, or only its contents", () => {
    const above = temporaryTree({ "one/a/b": "1", "one/c": "2", "other/owner.json": "3" });
    expect(removeTree({ type: "empty", folder: join(above, "one") })).toBe(true);
    expect(readdirSync(join(above, "one"))).toEqual([]);
    expect(removeTree({ type: "remove", folder: join(above, "one") })).toBe(true);
    expect(removeTree({ type: "remove", folder: join(above, "other") })).toBe(true);
    expect(readdirSync(above)).toEqual([]);
  });

  test("returns false if the folder does not exist", () => {
    const folder = join(temporaryTree(), "gone");
    expect(removeTree({ type: "remove", folder })).toBe(false);
    expect(removeTree({ type: "empty", folder })).toBe(false);
  });

  test("does not follow symbolic links", () => {
    const outside = temporaryTree({ "a/b": "1" });
    const folder = temporaryTree({ c: "2" });
    symlinkSync(outside, join(folder, "link"));
    removeTree({ type: "empty", folder });
    expect(readFileSync(join(outside, "a/b"), "utf8")).toBe("1");
  });

  test("removes folders without permissions", async () => {
    const outside = temporaryTree({ a: "1" });
    chmodSync(outside, 0o755);
    const above = temporaryTree();
    chmodSync(above, 0o777);
    const folder = join(above, "mine");
    await runAsPlainUser(() => {
      writeTree(folder, { "closed/deep/a": "1", "fixed/b": "2", c: "3" });
      symlinkSync(outside, join(folder, "closed/link"));
      for (const path of ["closed/deep", "closed", "."]) chmodSync(join(folder, path), 0o000);
      expect(removeTree({ type: "remove", folder })).toBe(true);
    });
    expect(existsSync(folder)).toBe(false);
    expect(lstatSync(outside).mode & 0o777).toBe(0o755);
  });

  test.runIf(process.geteuid?.() === 0)(
    "removes the owner file last, so that it stays if the rest cannot be removed",
    async () => {
      const above = temporaryTree();
      chmodSync(above, 0o777);
      const folder = join(above, "mine");
      await runAsPlainUser(() => writeTree(folder, { "owner.json": "", a: "" }));
      writeTree(folder, { "theirs/file": "" });
      await runAsPlainUser(() => {
        expect(() => removeTree({ type: "remove", folder })).toThrow(
          expect.objectContaining({
            name: "FilesystemError",
            code: "EACCES",
            path: folder,
            message: expect.stringContaining("Remove this temporary folder by hand"),
          }),
        );
      });
      expect(readdirSync(folder)).toEqual(["owner.json", "theirs"]);
    },
  );
});
