import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import type { HostMountPreview } from "../../files/mounts/mount-preview.ts";
import type { SyncReport } from "../../files/sync/sync-report.ts";
import type { Section } from "../../prompt/section.ts";
import type { WorkspaceSectionOptions } from "../../prompt/sections/workspace-options.ts";
import type { Session } from "../../session/session.ts";
import type { RecordingBus } from "../recording-bus.ts";
import type { HostTree } from "./host-folder.ts";
import type { ContractSubject, ContractTurn } from "./subject.ts";

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
