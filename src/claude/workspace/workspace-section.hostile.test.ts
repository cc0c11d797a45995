import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { filesIn } from "../../../tests/support/files-in.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import type { HostMount } from "../../files/mounts/host-mount.ts";
import { OpenAIContainerWorkspaceSection } from "../../openai/workspace/container-workspace-section.ts";
import { Session } from "../../session/session.ts";
import { ClaudeAgentWorkspaceSection } from "./workspace-section.ts";

interface Mounts {
  readonly mounts: readonly HostMount[];
  readonly allowedHostRoots: readonly string[];
}

const both = [ClaudeAgentWorkspaceSection, OpenAIContainerWorkspaceSection] as const;

/** What a section says, be it when it is made or when it is to be ready. */
async function refusal(Section: (typeof both)[number], options: Mounts): Promise<unknown> {
  const session = new Session();
  try {
    await using section = new Section({ session, ...options });
    await section.ready();
    return "nothing";
  } catch (error) {
    return error;
  }
}

function outsideOf(tree: Readonly<Record<string, string>>) {
  const folder = temporaryTree(tree);
  return { folder, outside: temporaryTree({ "secret.txt": "s", "sub/b.txt": "b" }) };
}

describe("a workspace of either kind refuses", () => {
  const hostile: readonly (readonly [string, () => Mounts, string])[] = [
    [
      "a folder outside its roots",
      () => {
        const { folder, outside } = outsideOf({});
        return { mounts: [{ hostPath: outside }], allowedHostRoots: [folder] };
      },
      "WorkspaceSecurityError",
    ],
    [
      "a symlink that leads out of its roots",
      () => {
        const { folder, outside } = outsideOf({});
        symlinkSync(outside, join(folder, "link"));
        const mounts = [{ hostPath: join(folder, "link"), followSymlinks: true }];
        return { mounts, allowedHostRoots: [folder] };
      },
      "WorkspaceSecurityError",
    ],
    [
      "a way up out of its roots",
      () => {
        const { folder } = outsideOf({ "in/a.txt": "a" });
        const mounts = [{ hostPath: join(folder, "in/..") }];
        return { mounts, allowedHostRoots: [join(folder, "in")] };
      },
      "WorkspaceSecurityError",
    ],
    [
      "a target outside the workspace",
      () => {
        const { folder } = outsideOf({ "a.txt": "a" });
        const mounts = [{ hostPath: folder, mountPath: "../out" }];
        return { mounts, allowedHostRoots: [folder] };
      },
      "WorkspaceSecurityError",
    ],
    [
      "an absolute target",
      () => {
        const { folder } = outsideOf({ "a.txt": "a" });
        return { mounts: [{ hostPath: folder, mountPath: "/p" }], allowedHostRoots: [folder] };
      },
      "WorkspaceSecurityError",
    ],
    [
      "one byte more than it may have",
      () => {
        const { folder } = outsideOf({ "a.txt": "123" });
        return { mounts: [{ hostPath: folder, maxBytes: 2 }], allowedHostRoots: [folder] };
      },
      "WorkspaceBudgetExceededError",
    ],
    [
      "what is not there",
      () => {
        const { folder } = outsideOf({});
        return { mounts: [{ hostPath: join(folder, "gone") }], allowedHostRoots: [folder] };
      },
      "FilesystemError",
    ],
    [
      "two mounts at one place",
      () => {
        const { folder } = outsideOf({ "a.txt": "a" });
        const mount = { hostPath: folder, mountPath: "p" };
        return { mounts: [mount, mount], allowedHostRoots: [folder] };
      },
      "InvalidOptionError",
    ],
  ];

  test.each(hostile)("%s, in the same words", async (_, options, name) => {
    const given = options();
    const [claude, openai] = [await refusal(both[0], given), await refusal(both[1], given)];
    expect(claude).toMatchObject({ name });
    expect(String(claude)).toBe(String(openai));
  });

  test("what became a symlink since it was looked at", async () => {
    const { folder, outside } = outsideOf({ "a.txt": "a" });
    const section = new ClaudeAgentWorkspaceSection({
      session: new Session(),
      mounts: [{ hostPath: folder, mountPath: "p" }],
      allowedHostRoots: [folder],
    });
    onTestFinished(async () => void (await section.cleanup()));
    rmSync(join(folder, "a.txt"));
    symlinkSync(join(outside, "secret.txt"), join(folder, "a.txt"));
    await expect(section.ready()).rejects.toMatchObject({ name: "WorkspaceSecurityError" });
  });

  test("nothing of a folder with links out of its roots, but leaves the links out", async () => {
    const { folder, outside } = outsideOf({ "a.txt": "a" });
    symlinkSync(join(outside, "secret.txt"), join(folder, "file"));
    symlinkSync(outside, join(folder, "folder"));
    writeFileSync(join(folder, "b.txt"), "b");
    await using section = new ClaudeAgentWorkspaceSection({
      session: new Session(),
      mounts: [{ hostPath: folder, mountPath: "p" }],
    });
    await section.ready();
    expect(filesIn(section.tempDir)).toEqual({ "p/a.txt": "a", "p/b.txt": "b" });
  });
});
