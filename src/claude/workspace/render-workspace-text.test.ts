import { describe, expect, test } from "vitest";
import { type Tree, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { planMounts } from "../../files/mounts/plan-mounts.ts";
import { renderWorkspaceText } from "./render-workspace-text.ts";

function createPlan(...trees: readonly Tree[]) {
  const mounts = trees.map((tree, index) => ({
    hostPath: temporaryTree(tree),
    mountPath: `p${index}`,
  }));
  return planMounts(mounts, { allowedHostRoots: "any" });
}

describe("renderWorkspaceText()", () => {
  test("describes an empty folder", () => {
    expect(renderWorkspaceText(createPlan())).toBe(
      "Your working folder is empty at first, and paths are relative to it.",
    );
  });

  test("lists the mounts with their files", () => {
    expect(renderWorkspaceText(createPlan({ "a.txt": "one", "sub/b.txt": "two!" }, {}))).toBe(
      'These files are in your working folder, and paths are relative to it.\n- "p0": 2 files, 7 bytes: "a.txt", "sub/b.txt"\n- "p1": 0 files, 0 bytes',
    );
  });

  test("shows dollar signs in file names as they are", () => {
    expect(renderWorkspaceText(createPlan({ "$a $$": "x" }))).toContain('1 bytes: "$a $$"');
  });
});
