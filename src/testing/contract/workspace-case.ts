import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import type { HostMountPreview } from "../../files/mounts/host-mount-preview.ts";
import type { SyncReport } from "../../files/sync/sync-report.ts";
import type { Section } from "../../prompt/section.ts";
import type { WorkspaceSectionOptions } from "../../prompt/sections/workspace-options.ts";
import type { Session } from "../../session/session.ts";
import type { RecordingBus } from "../recording-bus.ts";
import type { HostTree } from "./host-folder.ts";
import type { ContractSubject, ContractTurn } from "./subject.ts";

/** Members that the workspace sections of all providers share. */
export interface ContractWorkspace extends Section {
  /** Folder with the files on the host, available after `ready()` until cleanup. */
  readonly tempDir: string;
  /** Contents of each mount, and its withheld files. */
  readonly mountPreviews: readonly HostMountPreview[];
  /** The same files, for tools that run locally. */
  readonly filesystem: Filesystem;
  /** Folder to which the files were copied, or `null` before the sync. */
  readonly syncedDir: string | null;
  /** Copies the mounts now. */
  ready(): Promise<void>;
  /** Syncs the files if requested, and deletes all temporary data. */
  cleanup(): Promise<SyncReport>;
}

/** Creates a provider's workspace section from the options that all providers share. */
export type MakeWorkspace = (options: WorkspaceSectionOptions) => ContractWorkspace;

/** The fixture of a case with a workspace. */
export interface WorkspaceFixture extends Pick<ContractSubject, "adapter" | "asked"> {
  readonly session: Session;
  /** Bus of the session. */
  readonly bus: RecordingBus;
  /** Creates a folder on the host with these files. */
  createFolder(tree: HostTree): Promise<string>;
  /** Creates a workspace of the session. */
  createWorkspace(options: Omit<WorkspaceSectionOptions, "session">): ContractWorkspace;
}

/** One requirement of every adapter whose prompts have workspaces. */
export interface WorkspaceCase {
  /** Title of the test. */
  readonly name: string;
  readonly script: readonly ContractTurn[];
  check(stage: WorkspaceFixture): Promise<void>;
}
