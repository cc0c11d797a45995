import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { copyTreeFile } from "./tree-file.ts";

test("copyTreeFile() copies a file, but follows no symlink and opens no pipe that has replaced it", async () => {
  const folder = temporaryTree({ "root/d/f": "text", "outside/f": "secret" });
  const root = join(folder, "root");
  symlinkSync("../outside", join(root, "link"));
  symlinkSync("../outside/f", join(root, "file"));
  execFileSync("mkfifo", [join(root, "pipe")]);
  const target = join(folder, "copy");
  for (const path of ["link/f", "file", "pipe"]) {
    const copy = copyTreeFile({ root, real: join(root, path), mode: 0o644 }, target);
    await expect(copy).rejects.toThrow(/ELOOP|It is not a file in the source folder/);
  }
  expect(existsSync(target)).toBe(false);
  await copyTreeFile({ root, real: join(root, "d/f"), mode: 0o644 }, target);
  expect(readFileSync(target, "utf8")).toBe("text");
});
