import { describe, expect, test } from "vitest";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import { fromFilesystem, planSteps } from "./plan-patch.ts";
import { parsePatch } from "./v4a-patch.ts";

const changesOf = (...lines: string[]) =>
  parsePatch(["*** Begin Patch", ...lines, "*** End Patch"].join("\n"));

test("a plan has the bytes of every file, and nothing is written", async () => {
  const filesystem = new InMemoryFilesystem();
  for (const path of ["a", "b", "c", "d"]) await filesystem.writeText(path, `${path}\n`);
  const steps = await planSteps(
    filesystem,
    changesOf(
      "*** Add File: new",
      "+n",
      "*** Add File: ./a",
      "+A",
      "*** Update File: b",
      "@@",
      "-b",
      "+B",
      "*** Update File: c",
      "*** Move to: sub/./c",
      "*** Delete File: d",
    ),
  );
  const bytes = (text: string) => new TextEncoder().encode(text);
  expect(steps).toEqual([
    { type: "added", path: "new", bytes: bytes("n\n") },
    { type: "changed", path: "a", bytes: bytes("A\n") },
    { type: "changed", path: "b", bytes: bytes("B\n") },
    { type: "moved", path: "c", to: "sub/c", bytes: bytes("c\n") },
    { type: "deleted", path: "d" },
  ]);
  expect(await filesystem.glob("*")).toEqual(["a", "b", "c", "d"]);
  expect(await filesystem.readText("a")).toBe("a\n");
});

test("a byte order mark is kept", async () => {
  const filesystem = new InMemoryFilesystem();
  await filesystem.write("a", new TextEncoder().encode("\ufeffa\n"));
  const [step] = await planSteps(filesystem, changesOf("*** Update File: a", "@@", "-a", "+b"));
  expect(step).toHaveProperty("bytes", new TextEncoder().encode("\ufeffb\n"));
});

describe("what a file system throws", () => {
  const place = { path: "a", line: 3 };

  test("is a refusal of the patch if the file system refused", async () => {
    const cause = new FilesystemError("EACCES", "a", "may not be read");
    await expect(fromFilesystem(place, () => Promise.reject(cause))).rejects.toMatchObject({
      name: "PatchError",
      message:
        'Patch of "a", line 3: EACCES: "a" may not be read: correct the path, or what stands in its way',
      cause,
      ...place,
    });
  });

  test("stays what it is if something else went wrong", async () => {
    const error = new Error("the network is down");
    await expect(fromFilesystem(place, () => Promise.reject(error))).rejects.toBe(error);
  });
});
