import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { pinBelow } from "../../host/pinned-folder.ts";
import { inspectEntry, isStill } from "./host-entry.ts";

const digest = (text: string) => createHash("sha256").update(text).digest("hex");

function createFolder() {
  const root = temporaryTree({ "a.txt": "one", "empty.txt": "", "folder/b.txt": "two" });
  symlinkSync("a.txt", join(root, "link"));
  execFileSync("mkfifo", [join(root, "pipe")]);
  return root;
}

test.each([
  ["nothing", "missing"],
  ["folder", "folder"],
  ["link", "link"],
  ["pipe", "other"],
] as const)(
  "inspectEntry() reports %s as %s, and isStill() notices its replacement",
  async (name, kind) => {
    const root = createFolder();
    using folder = pinBelow(root, root);
    const entry = await inspectEntry(folder, name, { needsDigest: true });
    expect(entry).toEqual({ kind });
    expect(isStill(folder, name, entry)).toBe(true);
    rmSync(join(root, name), { recursive: true, force: true });
    writeFileSync(join(root, name), "new");
    expect(isStill(folder, name, entry)).toBe(false);
  },
);

test.each([
  ["a.txt", "one"],
  ["empty.txt", ""],
])("inspectEntry() computes the digest of %s only if it is needed", async (name, text) => {
  const root = createFolder();
  using folder = pinBelow(root, root);
  const [plain, hashed] = [
    await inspectEntry(folder, name, { needsDigest: false }),
    await inspectEntry(folder, name, { needsDigest: true }),
  ];
  expect(plain).toMatchObject({ kind: "file", digest: null });
  expect(hashed).toMatchObject({ kind: "file", digest: digest(text) });
  expect(isStill(folder, name, hashed)).toBe(true);
  appendFileSync(join(root, name), "more");
  expect(isStill(folder, name, hashed)).toBe(false);
  rmSync(join(root, name));
  expect(isStill(folder, name, hashed)).toBe(false);
});

test("inspectEntry() gives a file that keeps being replaced a digest that matches nothing", async () => {
  const root = createFolder();
  using folder = pinBelow(root, root);
  const restless = {
    lstat: (name: string) => folder.lstat(name),
    // Between the look and the reading, the file has become a symlink.
    toPath: () => folder.toPath("link"),
  } as unknown as typeof folder;
  const entry = await inspectEntry(restless, "a.txt", { needsDigest: true });
  expect(entry).toMatchObject({ kind: "file", digest: "" });
});

test("inspectEntry() does not read a folder or pipe that has replaced a file", async () => {
  const root = createFolder();
  using folder = pinBelow(root, root);
  for (const other of ["folder", "pipe", "nothing"]) {
    const replaced = {
      lstat: (name: string) => folder.lstat(name),
      toPath: () => folder.toPath(other),
    } as unknown as typeof folder;
    const entry = await inspectEntry(replaced, "a.txt", { needsDigest: true });
    expect(entry).toMatchObject({ kind: "file", digest: "" });
  }
});
