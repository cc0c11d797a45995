import { describe, expect, test } from "vitest";
import { incompleteListing, toContainerPath, toWorkspacePath } from "./listed-files.ts";

const createListedFile = (path: string) => ({
  ...{ id: "cfile_1", path, bytes: 1, createdAt: 1, source: "assistant" },
});

describe("toWorkspacePath()", () => {
  const hash = "0123456789abcdef".repeat(2);

  test.each([
    ["/mnt/data/a.txt", "a.txt"],
    ["/mnt/data/sub/deep/a.txt", "sub/deep/a.txt"],
    [`/mnt/data/sub/${hash}-a.txt`, `sub/${hash}-a.txt`],
    [`/mnt/data/${hash.slice(1)}-a.txt`, `${hash.slice(1)}-a.txt`],
    ["/mnt/data/file-short-a.txt", "file-short-a.txt"],
    ["/mnt/data/../a.txt", "../a.txt"],
  ])("maps %s to a workspace path and back", (path, workspacePath) => {
    expect(toWorkspacePath(createListedFile(path))).toBe(workspacePath);
    expect(toContainerPath(workspacePath)).toBe(path);
  });

  test.each([
    "/etc/passwd",
    "/mnt/data",
    "/mnt/database/a.txt",
    `/mnt/data/${hash}-a.txt`,
    `/mnt/data/file-${hash}-a.txt`,
    "/mnt/data/wink-7c1e-0123.tar",
  ])("returns null for %s, which is outside the root or has a flat name", (path) => {
    expect(toWorkspacePath(createListedFile(path))).toBeNull();
  });

  test("incompleteListing never treats a missing file as deleted", () => {
    expect(incompleteListing.toLocation("a.txt")).toBeNull();
  });
});
