import { execFileSync } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { PinnedFolder } from "../../host/pinned-folder.ts";
import { UndoCopies } from "./undo-copies.ts";

test("UndoCopies.copy() stores a file, but neither a symlink nor a pipe that has replaced it", async () => {
  const root = temporaryTree({ f: "text", secret: "secret" });
  symlinkSync("secret", join(root, "link"));
  execFileSync("mkfifo", [join(root, "pipe")]);
  using folder = PinnedFolder.pin(Buffer.from(root));
  const copies = new UndoCopies(root);
  const kept = await copies.copy({ folder, name: "f", path: "f" });
  expect(readFileSync(kept, "utf8")).toBe("text");
  const link = copies.copy({ folder, name: "link", path: "link" });
  await expect(link).rejects.toMatchObject({ code: "ELOOP" });
  const pipe = copies.copy({ folder, name: "pipe", path: "pipe" });
  await expect(pipe).rejects.toThrow("was replaced by another process while it was copied");
  await copies.clear();
});
