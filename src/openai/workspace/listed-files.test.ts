import { describe, expect, test } from "vitest";
import { ownPlace, pathBelowRoot, whatIsListed } from "./listed-files.ts";

const listed = (path: string) => ({
  ...{ id: "cfile_1", path, bytes: 1, createdAt: 1, source: "assistant" },
});

describe("a file that the provider lists", () => {
  const hash = "0123456789abcdef".repeat(2);

  test.each([
    ["/mnt/data/a.txt", "a.txt"],
    ["/mnt/data/sub/deep/a.txt", "sub/deep/a.txt"],
    [`/mnt/data/sub/${hash}-a.txt`, `sub/${hash}-a.txt`],
    [`/mnt/data/${hash.slice(1)}-a.txt`, `${hash.slice(1)}-a.txt`],
    ["/mnt/data/file-short-a.txt", "file-short-a.txt"],
    ["/mnt/data/../a.txt", "../a.txt"],
  ])("%s is the workspace's, by its own path", (path, own) => {
    expect(pathBelowRoot(listed(path))).toBe(own);
    expect(ownPlace(own)).toBe(path);
  });

  test.each([
    "/etc/passwd",
    "/mnt/data",
    "/mnt/database/a.txt",
    `/mnt/data/${hash}-a.txt`,
    `/mnt/data/file-${hash}-a.txt`,
    "/mnt/data/wink-7c1e-0123.tar",
  ])("%s is nobody's: it is elsewhere, or an upload under a flat name", (path) => {
    expect(pathBelowRoot(listed(path))).toBeNull();
  });

  test("may be all that is known, where a list may not be whole", () => {
    expect(whatIsListed.placeOf("a.txt")).toBeNull();
  });
});
