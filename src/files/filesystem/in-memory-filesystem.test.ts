import { describe, expect, test } from "vitest";
import { InMemoryFilesystem } from "./in-memory-filesystem.ts";

test("InMemoryFilesystem distinguishes names by case and Unicode composition", async () => {
  const filesystem = new InMemoryFilesystem();
  for (const name of ["a", "A", "\u00e9", "e\u0301"]) await filesystem.writeText(name, name);
  expect(await filesystem.listDir(".")).toEqual(["A", "a", "e\u0301", "\u00e9"]);
  expect(await filesystem.readText("\u00e9")).toBe("\u00e9");
});

test("InMemoryFilesystem with readOnly rejects every change before it checks the path's state", async () => {
  const filesystem = new InMemoryFilesystem({ readOnly: true });
  expect(filesystem.readOnly).toBe(true);
  const changes = [
    () => filesystem.write("a", new Uint8Array()),
    () => filesystem.writeText(".", "x"),
    () => filesystem.delete("gone"),
    () => filesystem.delete("."),
    () => filesystem.mkdir("."),
  ];
  for (const change of changes) await expect(change()).rejects.toMatchObject({ code: "EACCES" });
  await expect(filesystem.mkdir("/")).rejects.toMatchObject({ code: "EINVAL" });
  await filesystem.restore(await filesystem.snapshot());
  expect(await filesystem.listDir(".")).toEqual([]);
});

describe("InMemoryFilesystem.snapshot()", () => {
  test("takes the same time for a large tree as for a small one", async () => {
    const filesystem = new InMemoryFilesystem();
    for (let file = 0; file < 2000; file++)
      await filesystem.writeText(`d${file % 50}/${file}`, "x");
    for (let taken = 0; taken < 20_000; taken++) await filesystem.snapshot();
    await filesystem.writeText("d1/1", "y");
    expect((await filesystem.glob("*")).length).toBe(2000);
  });

  test("returns a snapshot that another file system rejects, even with the same id", async () => {
    const [one, other] = [new InMemoryFilesystem(), new InMemoryFilesystem()];
    const snapshot = await one.snapshot();
    expect((await other.snapshot()).id).toBe(snapshot.id);
    await expect(other.restore(snapshot)).rejects.toThrow("not a snapshot of this file system");
  });

  test("returns a frozen object", async () => {
    expect(await new InMemoryFilesystem().snapshot()).toSatisfy(Object.isFrozen);
  });
});
