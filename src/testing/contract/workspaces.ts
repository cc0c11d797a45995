import { Session } from "../../session/session.ts";
import { recordingBus } from "../recording-bus.ts";
import { hostFolder, removeFolder } from "./host-folder.ts";
import type { ContractCase } from "./subject.ts";
import type { ContractWorkspace, MakeWorkspace, WorkspaceStage } from "./workspace-case.ts";
import { workspaceEndings } from "./workspace-endings.ts";
import { workspaceMounts } from "./workspace-mounts.ts";
import { workspaceWork } from "./workspace-work.ts";

/** The cases of adapters whose prompts have workspaces, which `make` makes. */
export function workspaceCases(make: MakeWorkspace): readonly ContractCase[] {
  const cases = [...workspaceMounts, ...workspaceWork, ...workspaceEndings];
  return cases.map(({ name, script, check }) => ({
    name,
    script,
    check: ({ adapter, asked }) => staged(make, (stage) => check({ ...stage, adapter, asked })),
  }));
}

/** Leaves nothing on this machine, whether the case holds or not. */
async function staged(
  make: MakeWorkspace,
  work: (stage: Omit<WorkspaceStage, "adapter" | "asked">) => Promise<void>,
): Promise<void> {
  const folders: string[] = [];
  const made: ContractWorkspace[] = [];
  const bus = recordingBus();
  const session = new Session({ bus });
  try {
    await work({
      session,
      bus,
      async host(tree) {
        const folder = await hostFolder(tree);
        folders.push(folder);
        return folder;
      },
      workspace(options) {
        const section = make({ ...options, session });
        made.push(section);
        return section;
      },
    });
  } finally {
    try {
      for (const section of made) {
        await section.cleanup();
        if (section.syncedDir !== null) folders.push(section.syncedDir);
      }
    } finally {
      for (const folder of folders) await removeFolder(folder);
    }
  }
}
