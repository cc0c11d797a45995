import { describe, expect, test } from "vitest";
import { type Tree, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { planMounts } from "../../files/mounts/mount-plan.ts";
import { workspaceText } from "./workspace-text.ts";

function planned(...trees: readonly Tree[]) {
  const mounts = trees.map((tree, index) => ({
    hostPath: temporaryTree(tree),
    mountPath: `p${index}`,
  }));
  return planMounts(mounts, { allowedHostRoots: "any" });
}

describe("what the model reads about its files", () => {
  test("is that there are none", () => {
    expect(workspaceText(planned())).toBe(
      "Your working folder is empty at first, and paths are relative to it.",
    );
  });

  test("is where they are and what they are called", () => {
    expect(workspaceText(planned({ "a.txt": "one", "sub/b.txt": "two!" }, {}))).toBe(
      'These files are in your working folder, and paths are relative to it.\n- "p0": 2 files, 7 bytes: "a.txt", "sub/b.txt"\n- "p1": 0 files, 0 bytes',
    );
  });

  test("is a template in which a dollar stays one", () => {
    expect(workspaceText(planned({ "$a $$": "x" }))).toContain('1 bytes: "$$a $$$$"');
  });
});
