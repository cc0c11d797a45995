import { expect, test } from "vitest";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import { applyPatch } from "./patch.ts";
import { PatchError } from "./patch-error.ts";

const patch = (...lines: readonly string[]) =>
  ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

test("a patch is applied, and what it did is told", async () => {
  const filesystem = new InMemoryFilesystem();
  await filesystem.writeText("a.txt", "one\n");
  const update = ["*** Update File: a.txt", "@@", "-one", "+two"];
  expect(await applyPatch(filesystem, patch(...update))).toMatchObject({ changed: ["a.txt"] });
  expect(await filesystem.readText("a.txt")).toBe("two\n");
});

test("what refuses it is the error that the root door exports", async () => {
  const work = applyPatch(new InMemoryFilesystem(), patch("*** Delete File: nought"));
  await expect(work).rejects.toBeInstanceOf(PatchError);
});
