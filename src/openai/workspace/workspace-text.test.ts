import { describe, expect, test } from "vitest";
import { type Tree, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { planMounts } from "../../files/mounts/mount-plan.ts";
import { flatText, replacedNote, workspaceText } from "./workspace-text.ts";

function planned(tree: Tree) {
  const mounts = [{ hostPath: temporaryTree(tree), mountPath: "p" }];
  return planMounts(mounts, { allowedHostRoots: "any" });
}

const many = Object.fromEntries([...Array(1_025).keys()].map((name) => [`${name}.txt`, "x"]));

describe("what the model reads about its files", () => {
  test("is that there are none", () => {
    const plan = planMounts([], { allowedHostRoots: [] });
    expect(workspaceText(plan, "bootstrap", "x.tar")).toBe(
      "Code runs in a container. Its folder, /mnt/data, is empty at first.",
    );
  });

  test("is where they are and what they are called", () => {
    const plan = planned({ "a.txt": "one", "sub/b.txt": "two!" });
    expect(workspaceText(plan, "bootstrap", "x.tar")).toBe(
      'These files are in the container that code runs in, below /mnt/data. Read and change them there with Python.\n- "p": 2 files, 7 bytes: "a.txt", "sub/b.txt"',
    );
  });

  test("is of a mount without files that it has none", () => {
    const [full, empty] = [temporaryTree({ "a.txt": "one" }), temporaryTree({})];
    const mounts = [
      { hostPath: full, mountPath: "full" },
      { hostPath: empty, mountPath: "empty" },
    ];
    const text = workspaceText(planMounts(mounts, { allowedHostRoots: "any" }), "bootstrap", "x");
    expect(text).toContain('- "full": 1 file, 3 bytes: "a.txt"\n- "empty": 0 files, 0 bytes');
    expect(text.endsWith("0 bytes")).toBe(true);
  });

  test("is a template in which a dollar stays one", () => {
    const text = workspaceText(planned({ "$a ${b} $$": "x" }), "bootstrap", "x.tar");
    expect(text).toContain('- "p": 1 file, 1 bytes: "$$a $${b} $$$$"');
  });

  test("is the first few names of many", () => {
    const text = workspaceText(planned(many), "bootstrap", "x.tar");
    expect(text).toContain('- "p": 1,025 files, 1,025 bytes: "0.txt", "1.txt"');
    expect(text.split(".txt")).toHaveLength(11);
    expect(text).toMatch(/, … and 1,015 more$/);
  });

  test("is the Python to unpack them with, where it is to do that", () => {
    const text = workspaceText(planned({ "a.txt": "one" }), "prompt", "wink-7c1e-x.tar");
    expect(text).toContain("Before anything else, run this Python once, exactly as it is:");
    expect(text).toMatch(/```python\ndef _wink\(\):[\s\S]*wink-7c1e-x\.tar[\s\S]*\n```$/);
  });

  test("is how to find each where they are not in folders", () => {
    const text = workspaceText(planned({ "a.txt": "one" }), "files", "x.tar");
    const where =
      "The newest /mnt/data/*-wink-7c1e-paths.json is a JSON object that gives, for each path of the workspace, where the file is;";
    expect(text).toContain(`These files are in the container that code runs in. ${where}`);
    expect(flatText()).toContain(where);
  });

  test("is what is gone with a container", () => {
    const fetched = { isStale: false, isFlat: false };
    expect(replacedNote(fetched)).toBe(
      "The container was replaced by a new one. The files are as they were. Variables, imports and processes of earlier code are gone.",
    );
    expect(replacedNote({ ...fetched, isStale: true })).toContain(
      "changes that code made since are gone. Variables",
    );
    expect(replacedNote({ ...fetched, isFlat: true })).toContain(
      "The files are as they were. Where each is now says the newest /mnt/data/*-wink-7c1e-paths.json. Variables",
    );
  });
});
