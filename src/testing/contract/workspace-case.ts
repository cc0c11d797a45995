import type { WorkspaceSection } from "../../prompt/sections/mounted-section.ts";
import type { WorkspaceSectionOptions } from "../../prompt/sections/workspace-options.ts";
import type { Session } from "../../session/session.ts";
import type { RecordingBus } from "../recording-bus.ts";
import type { HostTree } from "./host-folder.ts";
import type { ContractSubject, ContractTurn } from "./subject.ts";

/** A workspace section under test: any provider's. */
export type ContractWorkspace = WorkspaceSection;

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
