import { closeSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryTree } from "../../tests/support/temporary-tree.ts";
import { openNoFollow } from "./open-no-follow.ts";

test("openNoFollow() opens a file, and refuses a symlink", () => {
  const folder = temporaryTree({ file: "text" });
  symlinkSync("file", join(folder, "link"));
  const file = openNoFollow(join(folder, "file"));
  expect(readFileSync(file, "utf8")).toBe("text");
  closeSync(file);
  expect(() => openNoFollow(join(folder, "link"))).toThrow("ELOOP");
});
