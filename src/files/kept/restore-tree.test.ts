import { createHash } from "node:crypto";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { type KnownFile, keepTree } from "./keep-tree.ts";
import { restoreTree } from "./restore-tree.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const NONE: ReadonlyMap<string, KnownFile> = new Map();

describe("restoreTree()", () => {
  test("restores the last files, and reports those whose bytes are missing or damaged", () => {
    const folder = temporaryTree({ same: "1", changed: "2", removed: "3", "old/file": "4" });
    const blobs = temporaryTree();
    const mounted = keepTree({ folder, blobs, known: NONE });
    rmSync(join(folder, "removed"));
    rmSync(join(folder, "old"), { recursive: true });
    const later = {
      changed: "22",
      "new/file": "5",
      "also/new": "9",
      damaged: "6",
      short: "7",
      folder: "8",
    };
    const copy = temporaryTree({ same: "1", ...later });
    const tree = keepTree({ folder: copy, blobs, known: NONE });
    writeFileSync(join(blobs, sha256("6")), "x");
    writeFileSync(join(blobs, sha256("7")), "");
    rmSync(join(blobs, sha256("8")));
    const home = temporaryTree({ files: null });
    const restored = restoreTree({
      blobs,
      folder: join(home, "files"),
      originals: join(home, "originals"),
      mounted,
      tree,
    });
    expect(readdirSync(join(home, "files"), { recursive: true }).sort()).toEqual([
      "also",
      "also/new",
      "changed",
      "new",
      "new/file",
      "same",
    ]);
    expect(restored.lost).toEqual([
      { path: "damaged", reason: "its kept copy is damaged" },
      { path: "folder", reason: "its kept copy is missing" },
      { path: "short", reason: "its kept copy is damaged" },
    ]);
    expect(restored.baseline.files).toEqual(mounted.files);
  });
});
