import { describe, expect, test } from "vitest";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import { parsePatch } from "./parse-patch.ts";
import { planSteps, wrapFilesystemErrors } from "./plan-steps.ts";

const parseChanges = (...lines: string[]) =>
  parsePatch(["*** Begin Patch", ...lines, "*** End Patch"].join("\n"));

test("planSteps() returns the bytes of every file and writes nothing", async () => {
  const filesystem = new InMemoryFilesystem();
  for (const path of ["a", "b", "c", "d"]) await filesystem.writeText(path, `${path}\n`);
  const steps = await planSteps(
    filesystem,
    parseChanges(
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

test("planSteps() keeps a byte order mark", async () => {
  const filesystem = new InMemoryFilesystem();
  await filesystem.write("a", new TextEncoder().encode("\ufeffa\n"));
  const [step] = await planSteps(filesystem, parseChanges("*** Update File: a", "@@", "-a", "+b"));
  expect(step).toHaveProperty("bytes", new TextEncoder().encode("\ufeffb\n"));
});

describe("wrapFilesystemErrors()", () => {
  const place = { path: "a", line: 3 };

  test("converts a FilesystemError to a PatchError", async () => {
    const cause = new FilesystemError("EACCES", "a", "may not be read");
    await expect(wrapFilesystemErrors(place, () => Promise.reject(cause))).rejects.toMatchObject({
      name: "PatchError",
      message:
        'Patch of "a", line 3: EACCES: "a" may not be read. Correct the path, or remove the obstacle.',
      cause,
      ...place,
    });
  });

  test("rethrows other errors unchanged", async () => {
    const error = new Error("the network is down");
    await expect(wrapFilesystemErrors(place, () => Promise.reject(error))).rejects.toBe(error);
  });
});

test("planSteps() rejects a patch of more than 1,000 files and a file of more than 32 MiB", async () => {
  const filesystem = new InMemoryFilesystem();
  const many = Array.from({ length: 1001 }, (_, n) => `*** Delete File: ${n}`);
  await expect(planSteps(filesystem, parseChanges(...many))).rejects.toThrow(
    "the patch changes 1001 files, and at most 1000 are allowed. Split it",
  );
  await filesystem.write("big", new Uint8Array(32 * 2 ** 20 + 1));
  const update = parseChanges("*** Update File: big", "@@", "-a", "+b");
  await expect(planSteps(filesystem, update)).rejects.toThrow("at most 33554432 can be patched");
});
