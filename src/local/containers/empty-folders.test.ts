import { renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { EmptyFolders, getFolderChangeTime } from "./empty-folders.ts";

/** Records a folder as empty, `laterMs` after its last change. */
function recordEmptyFolder(laterMs: number) {
  const [root, other] = [temporaryTree(), temporaryTree({ x: "" })];
  const change = getFolderChangeTime(root) ?? 0n;
  const folders = new EmptyFolders(fakeClock({ now: Number(change / 1_000_000n) + laterMs }));
  folders.add("cntr_1", change);
  return { root, other, folders, isEmpty: () => folders.has("cntr_1", getFolderChangeTime(root)) };
}

describe("EmptyFolders", () => {
  it("reports a folder as empty until an entry is added", () => {
    const { root, isEmpty } = recordEmptyFolder(2_000);
    expect(isEmpty()).toBe(true);
    writeFileSync(join(root, "x"), "");
    expect(isEmpty()).toBe(false);
    rmSync(join(root, "x")); // it changed in between, so it must be read again
    expect(isEmpty()).toBe(false);
  });

  it("detects an entry even if code resets the folder's times", () => {
    const { root, other, isEmpty } = recordEmptyFolder(2_000);
    renameSync(join(other, "x"), join(root, "x"));
    utimesSync(root, 0, 0);
    expect(isEmpty()).toBe(false);
  });

  it("does not record a folder right after a change, because another change may follow", () => {
    expect(recordEmptyFolder(1_000).isEmpty()).toBe(false);
  });

  it("does not report a deleted or missing folder", () => {
    const { root, folders, isEmpty } = recordEmptyFolder(2_000);
    folders.forget("cntr_1");
    expect(isEmpty()).toBe(false);
    rmSync(root, { recursive: true });
    folders.add("cntr_1", getFolderChangeTime(root));
    expect(isEmpty()).toBe(false);
  });
});
