import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryTree } from "../../tests/support/temporary-tree.ts";
import { replaceFile } from "./replace-file.ts";

test("replaceFile() replaces a file, and leaves it if that fails", async () => {
  const folder = temporaryTree({ file: "old" });
  const path = join(folder, "file");
  await replaceFile(path, (temporary) => writeFile(temporary, "new"));
  expect(readFileSync(path, "utf8")).toBe("new");
  const fill = async (temporary: string) => {
    await writeFile(temporary, "torn");
    throw new Error("the disk is full");
  };
  await expect(replaceFile(path, fill)).rejects.toThrow("the disk is full");
  const missing = replaceFile(join(folder, "none/file"), (temporary) => writeFile(temporary, ""));
  await expect(missing).rejects.toThrow("ENOENT");
  mkdirSync(join(folder, "folder"));
  const folderInTheWay = replaceFile(join(folder, "folder"), (temporary) =>
    writeFile(temporary, ""),
  );
  await expect(folderInTheWay).rejects.toThrow("EISDIR");
  expect(readdirSync(folder).sort()).toEqual(["file", "folder"]);
  expect(readFileSync(path, "utf8")).toBe("new");
});
