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

/** Returns the error of the constructor or of `ready()`, or "nothing". */
async function catchError(Section: (typeof both)[number], options: Mounts): Promise<unknown> {
  const session = new Session();
  try {
    await using section = new Section({ session, ...options });
    await section.ready();
    return "nothing";
  } catch (error) {
    return error;
  }
}

function createFolders(tree: Readonly<Record<string, string>>) {
  const folder = temporaryTree(tree);
  return { folder, outside: temporaryTree({ "secret.txt": "s", "sub/b.txt": "b" }) };
}

describe("workspaces of both adapters reject", () => {
  const hostile: readonly (readonly [string, () => Mounts, string])[] = [
    [
      "a folder outside its roots",
      () => {
        const { folder, outside } = createFolders({});
        return { mounts: [{ hostPath: outside }], allowedHostRoots: [folder] };
      },
      "WorkspaceSecurityError",
    ],
    [
      "a symlink that leads out of its roots",
      () => {
        const { folder, outside } = createFolders({});
        symlinkSync(outside, join(folder, "link"));
        const mounts = [{ hostPath: join(folder, "link"), followSymlinks: true }];
        return { mounts, allowedHostRoots: [folder] };
      },
      "WorkspaceSecurityError",
    ],
    [
      "a path with .. that leads out of its roots",
      () => {
        const { folder } = createFolders({ "in/a.txt": "a" });
        const mounts = [{ hostPath: join(folder, "in/..") }];
        return { mounts, allowedHostRoots: [join(folder, "in")] };
      },
      "WorkspaceSecurityError",
    ],
    [
      "a target outside the workspace",
      () => {
        const { folder } = createFolders({ "a.txt": "a" });
        const mounts = [{ hostPath: folder, mountPath: "../out" }];
        return { mounts, allowedHostRoots: [folder] };
      },
      "WorkspaceSecurityError",
    ],
    [
      "an absolute target",
      () => {
        const { folder } = createFolders({ "a.txt": "a" });
        return { mounts: [{ hostPath: folder, mountPath: "/p" }], allowedHostRoots: [folder] };
      },
      "WorkspaceSecurityError",
    ],
    [
      "a mount that is one byte above its limit",
      () => {
        const { folder } = createFolders({ "a.txt": "123" });
        return { mounts: [{ hostPath: folder, maxBytes: 2 }], allowedHostRoots: [folder] };
      },
      "WorkspaceBudgetExceededError",
    ],
    [
      "a missing folder",
      () => {
        const { folder } = createFolders({});
        return { mounts: [{ hostPath: join(folder, "missing") }], allowedHostRoots: [folder] };
      },
      "FilesystemError",
    ],
    [
      "two mounts with the same target",
      () => {
        const { folder } = createFolders({ "a.txt": "a" });
        const mount = { hostPath: folder, mountPath: "p" };
        return { mounts: [mount, mount], allowedHostRoots: [folder] };
      },
      "InvalidOptionError",
    ],
  ];

  test.each(hostile)("%s, with the same message", async (_, createMounts, name) => {
    const mounts = createMounts();
    const [claude, openai] = [await catchError(both[0], mounts), await catchError(both[1], mounts)];
    expect(claude).toMatchObject({ name });
    expect(String(claude)).toBe(String(openai));
  });

  test("a file that was replaced by a symlink after the scan", async () => {
    const { folder, outside } = createFolders({ "a.txt": "a" });
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

  test("no folder with symlinks out of its roots, but omit the symlinks", async () => {
    const { folder, outside } = createFolders({ "a.txt": "a" });
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
