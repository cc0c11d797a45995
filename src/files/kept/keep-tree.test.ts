import { createHash } from "node:crypto";
import { chmodSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { type KnownFile, keepTree } from "./keep-tree.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const NONE: ReadonlyMap<string, KnownFile> = new Map();

describe("keepTree()", () => {
  test("stores each content once and returns the state of all files", () => {
    const [folder, blobs] = [temporaryTree({ a: "1", "b/c": "1", "b/d": "2" }), temporaryTree()];
    chmodSync(join(folder, "a"), 0o755);
    const { files, folders } = keepTree({ folder, blobs, known: NONE });
    expect(readdirSync(blobs).sort()).toEqual([sha256("1"), sha256("2")].sort());
    expect(files.get("a")).toEqual({ digest: sha256("1"), bytes: 1, mode: 0o755 });
    expect([...folders.keys()]).toEqual(["b"]);
  });

  test("only computes digests without a folder for the bytes", () => {
    const text = "x".repeat(3 * 2 ** 20);
    const { files } = keepTree({
      folder: temporaryTree({ a: text, empty: "" }),
      blobs: null,
      known: NONE,
    });
    expect(files.get("a")).toMatchObject({ digest: sha256(text), bytes: text.length });
    expect(files.get("empty")).toMatchObject({ digest: sha256(""), bytes: 0 });
  });

  test("reads a file again only if it has changed, or too recently to be sure", () => {
    const folder = temporaryTree({ a: "1" });
    const first = keepTree({ folder, blobs: null, known: NONE });
    expect(first.known.get("a")?.version).toBeNull();
    const later = Date.now() + 60_000;
    vi.spyOn(Date, "now").mockReturnValue(later);
    const second = keepTree({ folder, blobs: null, known: first.known });
    const known = new Map([["a", { ...getFile(second.known), digest: "not read" }]]);
    expect(keepTree({ folder, blobs: null, known }).files.get("a")?.digest).toBe("not read");
    writeFileSync(join(folder, "a"), "2");
    utimesSync(join(folder, "a"), 1, 1);
    expect(keepTree({ folder, blobs: null, known }).files.get("a")?.digest).toBe(sha256("2"));
    vi.restoreAllMocks();
  });

  test("throws with a remedy if the bytes cannot be stored", () => {
    const [folder, blobs] = [temporaryTree({ a: "1", b: "2" }), temporaryTree()];
    rmSync(blobs, { recursive: true });
    const keep = () => keepTree({ folder, blobs, known: NONE });
    expect(keep).toThrow(FilesystemError);
    expect(keep).toThrow("Free space on the disk, then try again.");
  });

  test("throws with a remedy if a stored file cannot get its name", () => {
    const folder = temporaryTree({ a: "1" });
    const blobs = temporaryTree({ [`${sha256("1")}/in-the-way`]: "" });
    expect(() => keepTree({ folder, blobs, known: NONE })).toThrow("Free space on the disk");
    expect(readdirSync(blobs)).toEqual([sha256("1")]);
  });
});

function getFile(known: ReadonlyMap<string, KnownFile>): KnownFile {
  const file = known.get("a");
  if (!file) throw new Error("a is not known");
  return file;
}
