import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import type { HostMountPreview } from "../../files/mounts/mount-preview.ts";
import type { SyncReport } from "../../files/sync/sync-report.ts";
import type { Session } from "../../session/session.ts";
import { MarkdownSection } from "./markdown-section.ts";
import type { WorkspaceSectionOptions } from "./workspace-options.ts";

/** Where a section keeps the files that were mounted; clones of the section share it. */
export interface MountedFiles {
  readonly tempDir: string;
  readonly plan: { readonly previews: readonly HostMountPreview[] };
  readonly filesystem: Filesystem;
  readonly syncedDir: string | null;
  ready(): Promise<unknown>;
  cleanup(): Promise<SyncReport>;
}

/** A section with files of this machine: what those of all adapters have in common. */
export abstract class MountedSection<Files extends MountedFiles>
  extends MarkdownSection
  implements AsyncDisposable
{
  readonly session: Session;
  /** For the adapter. */
  readonly workspace: Files;
  #cleaned: Promise<SyncReport> | null = null;

  constructor(options: WorkspaceSectionOptions, files: Files, text: string) {
    const { session, key = "workspace", title = "Workspace", acceptsOverrides = false } = options;
    super({ key, title, template: text, acceptsOverrides });
    this.session = session;
    this.workspace = files;
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cleanup();
  }
}
