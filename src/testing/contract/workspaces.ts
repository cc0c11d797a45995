import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import type { HostMountPreview } from "../../files/mounts/mount-preview.ts";
import type { SyncReport } from "../../files/sync/sync-report.ts";
import type { Section } from "../../prompt/section.ts";
import type { WorkspaceSectionOptions } from "../../prompt/sections/workspace-options.ts";
import { Session } from "../../session/session.ts";
import { type RecordingBus, recordingBus } from "../recording-bus.ts";
import { type HostTree, hostFolder, removeFolder } from "./host-folder.ts";
import type { ContractCase, ContractSubject, ContractTurn } from "./subject.ts";
import { workspaceEndings } from "./workspace-endings.ts";
import { workspaceMounts } from "./workspace-mounts.ts";
import { workspaceWork } from "./workspace-work.ts";

/** What every section with a workspace has, whichever provider it is for. */
export interface ContractWorkspace extends Section {
  /** Where its files are on this machine, from when it is ready until it is cleaned up. */
  readonly tempDir: string;
  readonly mountPreviews: readonly HostMountPreview[];
  readonly filesystem: Filesystem;
  readonly syncedDir: string | null;
  ready(): Promise<void>;
  cleanup(): Promise<SyncReport>;
}

/** Makes a provider's section from what all of them take. */
export type MakeWorkspace = (options: WorkspaceSectionOptions) => ContractWorkspace;

/** What a case with a workspace has. */
export interface WorkspaceStage extends Pick<ContractSubject, "adapter" | "asked"> {
  readonly session: Session;
  /** Of the session. */
  readonly bus: RecordingBus;
  /** A folder of this machine that holds these files. */
  host(tree: HostTree): Promise<string>;
  /** A workspace of the session. */
  workspace(options: Omit<WorkspaceSectionOptions, "session">): ContractWorkspace;
}

/** One thing that every adapter does whose prompts have workspaces. */
export interface WorkspaceCase {
  /** A sentence that holds. */
  readonly name: string;
  readonly script: readonly ContractTurn[];
  check(stage: WorkspaceStage): Promise<void>;
}

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
