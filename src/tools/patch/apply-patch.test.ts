import { expect, test } from "vitest";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import { applyPatch } from "./apply-patch.ts";
import { PatchError } from "./patch-error.ts";

const patch = (...lines: readonly string[]) =>
  ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

test("applyPatch() applies a patch and returns a report", async () => {
  const filesystem = new InMemoryFilesystem();
  await filesystem.writeText("a.txt", "one\n");
  const update = ["*** Update File: a.txt", "@@", "-one", "+two"];
  expect(await applyPatch(filesystem, patch(...update))).toMatchObject({ changed: ["a.txt"] });
  expect(await filesystem.readText("a.txt")).toBe("two\n");
});

test("applyPatch() throws the PatchError that the root entry point exports", async () => {
  const work = applyPatch(new InMemoryFilesystem(), patch("*** Delete File: nought"));
  await expect(work).rejects.toBeInstanceOf(PatchError);
});
