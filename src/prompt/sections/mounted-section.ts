import { WinkError } from "../../base/errors.ts";
import type { WorkspaceDiff } from "../../files/changes/workspace-diff.ts";
import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import type { HostMountPreview } from "../../files/mounts/host-mount-preview.ts";
import type { SyncReport } from "../../files/sync/sync-report.ts";
import type { Session } from "../../session/session.ts";
import type { Section } from "../section.ts";
import { MarkdownSection } from "./markdown-section.ts";
import { markRestored } from "./restored.ts";
import type { WorkspaceSectionOptions } from "./workspace-options.ts";

/** A section with files. Tool handlers access them as `context.filesystem`. */
export interface FilesSection extends Section {
  /** The section's files. */
  readonly filesystem: Filesystem;
}

/**
 * A workspace of any provider: a section with copies of host files. Code that uses only this type runs on every
 * adapter; only the constructor of the section differs.
 */
export interface WorkspaceSection extends FilesSection, AsyncDisposable {
  /** Folder with the files on the host, available after `ready()` until cleanup. */
  readonly tempDir: string;
  /** Contents of each mount, and its withheld files: after `ready()` also those that contain a private key. */
  readonly mountPreviews: readonly HostMountPreview[];
  /** Folder to which the files were copied, or `null` before the sync. */
  readonly syncedDir: string | null;
  /** Copies the mounts now. If not called, they are copied on first use. */
  ready(): Promise<void>;
  /** Compares the files with the mounted versions. */
  diff(): Promise<WorkspaceDiff>;
  /** Syncs the files if requested, and deletes all temporary data. */
  cleanup(): Promise<SyncReport>;
}

/** Returns whether a section has files, for any provider. */
export function isWorkspace(section: Section): section is FilesSection {
  if (!("filesystem" in section)) return false;
  const { filesystem } = section;
  return typeof filesystem === "object" && filesystem !== null && "readBytes" in filesystem;
}

/** Files mounted for a section, shared by its clones. */
export interface MountedFiles {
  readonly tempDir: string;
  readonly previews: readonly HostMountPreview[];
  readonly filesystem: Filesystem;
  readonly syncedDir: string | null;
  ready(): Promise<unknown>;
  diff(): Promise<WorkspaceDiff>;
  /** Throws if the last section would remove the files while an evaluation uses them. */
  checkIdle(): void;
  /** Registers another section that uses the files. The last one cleans them up. */
  share(): void;
  cleanup(options?: CleanupOptions): Promise<SyncReport>;
}

/** How the use of mounted files ends. */
export interface CleanupOptions {
  /** Whether another attempt continues with the kept files: then nothing is synced. @default false */
  readonly isContinued?: boolean | undefined;
}

/** Mounted files, and the text that describes them to the model. Clones of a section share both. */
export interface SharedFiles<Files extends MountedFiles> {
  readonly workspace: Files;
  readonly text: string;
}

/** Base class of the workspace sections of all adapters. */
export abstract class MountedSection<
    Files extends MountedFiles,
    Options extends WorkspaceSectionOptions,
  >
  extends MarkdownSection
  implements WorkspaceSection
{
  readonly session: Session;
  /** The mounted files, for use by the adapter. */
  readonly workspace: Files;
  readonly #provider: string;
  readonly #options: Options;
  #cleanup: Promise<SyncReport> | null = null;

  /** `provider` is the name of the adapter that the section is for. */
  constructor(provider: string, options: Options, { workspace, text }: SharedFiles<Files>) {
    const { session, key = "workspace", title = "Workspace", acceptsOverrides = false } = options;
    super({ key, title, template: text, acceptsOverrides });
    this.session = session;
    this.workspace = workspace;
    this.#provider = provider;
    this.#options = { ...options };
    if (options.persistDir !== undefined) markRestored(workspace.filesystem);
  }

  override get provider(): string {
    return this.#provider;
  }

  /** Folder with the files on the host, available after `ready()` until cleanup. */
  get tempDir(): string {
    return this.workspace.tempDir;
  }

  /** Contents of each mount, and its withheld files: after `ready()` also those that contain a private key. */
  get mountPreviews(): readonly HostMountPreview[] {
    return this.workspace.previews;
  }

  /** The same files, for tools that run locally. */
  get filesystem(): Files["filesystem"] {
    return this.workspace.filesystem;
  }

  /** Folder to which the files were copied, or `null` before the sync. */
  get syncedDir(): string | null {
    return this.workspace.syncedDir;
  }

  /** Copies the mounts now. If not called, they are copied on first use. */
  async ready(): Promise<void> {
    await this.workspace.ready();
  }

  /**
   * Compares the files with the mounted versions. Files of an OpenAI container are downloaded first, if code has run
   * since the last download.
   */
  async diff(): Promise<WorkspaceDiff> {
    return await this.workspace.diff();
  }

  /**
   * Syncs the files if requested, and deletes all temporary data. Can be repeated, and returns the same report.
   * Throws `WinkError` while an evaluation uses the files.
   */
  override async cleanup(): Promise<SyncReport> {
    return await this.#end({ isContinued: false });
  }

  /**
   * Deletes the temporary data of this process without a sync, because another attempt continues with the files in
   * `persistDir`. An OpenAI container stays for it, except with zero data retention. Use it instead of `cleanup`.
   */
  override async suspend(): Promise<void> {
    await this.#end({ isContinued: true });
  }

  async #end(options: CleanupOptions): Promise<SyncReport> {
    if (!this.#cleanup) this.workspace.checkIdle();
    this.#cleanup ??= this.workspace.cleanup(options);
    return await this.#cleanup;
  }

  /** Creates a clone of class `kind` that shares the files. */
  protected cloneAs(
    kind: new (options: Options, shared: SharedFiles<Files>) => MountedSection<Files, Options>,
    options: Partial<Options>,
  ): this {
    const { workspace, template: text } = this;
    const clone = new kind({ ...this.#options, ...options }, { workspace, text });
    workspace.share(); // only after the clone exists and can clean up
    return clone as this;
  }

  /** Cleans up like {@link MountedSection.cleanup}, without a report. */
  async close(): Promise<void> {
    await this.cleanup();
  }

  /** Cleans up, like {@link MountedSection.close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Returns the error for a cleanup during an evaluation. */
export function createInUseError(): WinkError {
  const remedy = "Wait until evaluate() has settled, then call cleanup() again.";
  return new WinkError(`An evaluation is using the workspace. ${remedy}`);
}

/** Returns the error for a comparison after cleanup. */
export function createCleanedUpError(): WinkError {
  return new WinkError("The workspace was cleaned up. Call diff() before cleanup().");
}
