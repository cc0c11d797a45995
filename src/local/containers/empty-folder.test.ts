import { renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { EmptyFolders, lastChangeOf } from "./empty-folder.ts";

/** A folder that was found empty some time after its last change. */
function found(laterMs: number) {
  const [root, other] = [temporaryTree(), temporaryTree({ x: "" })];
  const change = lastChangeOf(root) ?? 0n;
  const folders = new EmptyFolders(fakeClock({ now: Number(change / 1_000_000n) + laterMs }));
  folders.note("cntr_1", change);
  return { root, other, folders, isEmpty: () => folders.has("cntr_1", lastChangeOf(root)) };
}

describe("a folder that was found empty", () => {
  it("is so until something comes", () => {
    const { root, isEmpty } = found(2_000);
    expect(isEmpty()).toBe(true);
    writeFileSync(join(root, "x"), "");
    expect(isEmpty()).toBe(false);
    rmSync(join(root, "x")); // it has been another one since: it is to be read again
    expect(isEmpty()).toBe(false);
  });

  it("cannot be made to look so", () => {
    const { root, other, isEmpty } = found(2_000);
    renameSync(join(other, "x"), join(root, "x"));
    utimesSync(root, 0, 0);
    expect(isEmpty()).toBe(false);
  });

  it("is read again if that was right after a change, which may not have been the last", () => {
    expect(found(1_000).isEmpty()).toBe(false);
  });

  it("is not remembered when it is gone, or forgotten", () => {
    const { root, folders, isEmpty } = found(2_000);
    folders.forget("cntr_1");
    expect(isEmpty()).toBe(false);
    rmSync(root, { recursive: true });
    folders.note("cntr_1", lastChangeOf(root));
    expect(isEmpty()).toBe(false);
  });
});
