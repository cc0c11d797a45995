import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import type { HostMountPreview } from "../../files/mounts/mount-preview.ts";
import type { SyncReport } from "../../files/sync/sync-report.ts";
import type { Session } from "../../session/session.ts";
import type { Section } from "../section.ts";
import { MarkdownSection } from "./markdown-section.ts";
import type { WorkspaceSectionOptions } from "./workspace-options.ts";

/** A section with files: tools find them as `context.filesystem`. */
export interface WorkspaceSection extends Section {
  readonly filesystem: Filesystem;
}

/** Whether a section is a workspace, whichever provider it is for. */
export function isWorkspace(section: Section): section is WorkspaceSection {
  if (!("filesystem" in section)) return false;
  const { filesystem } = section;
  return typeof filesystem === "object" && filesystem !== null && "readBytes" in filesystem;
}

/** Where a section keeps the files that were mounted; clones of the section share it. */
export interface MountedFiles {
  readonly tempDir: string;
  readonly plan: { readonly previews: readonly HostMountPreview[] };
  readonly filesystem: Filesystem;
  readonly syncedDir: string | null;
  ready(): Promise<unknown>;
  /** Adds a section that has the files: the last one cleans them up. */
  share(): void;
  cleanup(): Promise<SyncReport>;
}

/** Mounted files with the text that describes them to the model: what clones of a section share. */
export interface SharedFiles<Files extends MountedFiles> {
  readonly workspace: Files;
  readonly text: string;
}

/** A section with files of this machine: what those of all adapters have in common. */
export abstract class MountedSection<
    Files extends MountedFiles,
    Options extends WorkspaceSectionOptions,
  >
  extends MarkdownSection
  implements AsyncDisposable
{
  readonly session: Session;
  /** For the adapter. */
  readonly workspace: Files;
  readonly #provider: string;
  readonly #options: Options;
  #cleaned: Promise<SyncReport> | null = null;

  /** `provider`: the name of the adapter that the section is for. */
  constructor(provider: string, options: Options, { workspace, text }: SharedFiles<Files>) {
    const { session, key = "workspace", title = "Workspace", acceptsOverrides = false } = options;
    super({ key, title, template: text, acceptsOverrides });
    this.session = session;
    this.workspace = workspace;
    this.#provider = provider;
    this.#options = { ...options };
  }

  override get provider(): string {
    return this.#provider;
  }

  /** Where the files are on this machine, from when it is ready until it is cleaned up. */
  get tempDir(): string {
    return this.workspace.tempDir;
  }

  /** What each mount brings, and what is withheld. */
  get mountPreviews(): readonly HostMountPreview[] {
    return this.workspace.plan.previews;
  }

  /** The same files, for tools that run here. */
  get filesystem(): Files["filesystem"] {
    return this.workspace.filesystem;
  }

  /** Where the files were brought back to, once they were. */
  get syncedDir(): string | null {
    return this.workspace.syncedDir;
  }

  /** Copies the mounts now; else that is done at the first use. */
  async ready(): Promise<void> {
    await this.workspace.ready();
  }

  /** Brings the files back if that was asked for, and gives up all that is temporary. */
  override async cleanup(): Promise<SyncReport> {
    this.#cleaned ??= this.workspace.cleanup();
    return await this.#cleaned;
  }

  /** Clones the section: another one of the class `kind`, with the same files. */
  protected cloneAs(
    kind: new (options: Options, shared: SharedFiles<Files>) => MountedSection<Files, Options>,
    options: Partial<Options>,
  ): this {
    const { workspace, template: text } = this;
    const clone = new kind({ ...this.#options, ...options }, { workspace, text });
    workspace.share(); // not before there is a clone to clean up
    return clone as this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cleanup();
  }
}
