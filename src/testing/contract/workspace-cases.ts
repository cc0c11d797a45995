import { Session } from "../../session/session.ts";
import { recordingBus } from "../recording-bus.ts";
import { createHostFolder, removeFolder } from "./host-folder.ts";
import type { ContractCase } from "./subject.ts";
import type { ContractWorkspace, MakeWorkspace, WorkspaceFixture } from "./workspace-case.ts";
import { workspaceChangeCases } from "./workspace-change-cases.ts";
import { workspaceCleanupCases } from "./workspace-cleanup-cases.ts";
import { workspaceMountCases } from "./workspace-mount-cases.ts";
import { workspaceToolCases } from "./workspace-tool-cases.ts";

/** Returns the cases about workspaces. `make` creates the sections. */
export function workspaceCases(make: MakeWorkspace): readonly ContractCase[] {
  const cases = [
    ...workspaceMountCases,
    ...workspaceToolCases,
    ...workspaceCleanupCases,
    ...workspaceChangeCases,
  ];
  return cases.map(({ name, script, check }) => ({
    name,
    script,
    check: ({ adapter, asked }) => runStaged(make, (stage) => check({ ...stage, adapter, asked })),
  }));
}

/** Runs a case, and deletes everything it created on the host, even if it fails. */
async function runStaged(
  make: MakeWorkspace,
  work: (stage: Omit<WorkspaceFixture, "adapter" | "asked">) => Promise<void>,
): Promise<void> {
  const folders: string[] = [];
  const sections: ContractWorkspace[] = [];
  const bus = recordingBus();
  const session = new Session({ bus });
  try {
    await work({
      session,
      bus,
      async createFolder(tree) {
        const folder = await createHostFolder(tree);
        folders.push(folder);
        return folder;
      },
      createWorkspace(options) {
        const section = make({ ...options, session });
        sections.push(section);
        return section;
      },
    });
  } finally {
    try {
      for (const section of sections) {
        await section.cleanup();
        if (section.syncedDir !== null) folders.push(section.syncedDir);
      }
    } finally {
      for (const folder of folders) await removeFolder(folder);
    }
  }
}
