import { resolve } from "node:path";
import type { AdapterEvent } from "../../adapter/events.ts";
import { systemClock } from "../../base/clock.ts";
import { InvalidOptionError, WinkError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { ProgressListener } from "../../base/track-bytes.ts";
import { WorkspaceChanges } from "../../files/changes/workspace-changes.ts";
import { WorkspaceDiff } from "../../files/changes/workspace-diff.ts";
import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import type { HostMountPreview } from "../../files/mounts/host-mount-preview.ts";
import type { MountPlan } from "../../files/mounts/mount-plan.ts";
import { MountedFolder } from "../../files/mounts/mounted-folder.ts";
import { warnUnmatchedGlobs } from "../../files/mounts/warn-unmatched-globs.ts";
import type { ConflictPolicy } from "../../files/sync/sync-conflict.ts";
import type { SyncFailure } from "../../files/sync/sync-failure.ts";
import type { SyncPolicy } from "../../files/sync/sync-policy.ts";
import { notSynced, type SyncReport } from "../../files/sync/sync-report.ts";
import { createSyncFolder } from "../../files/sync/sync-to.ts";
import type { Prompt } from "../../prompt/prompt.ts";
import type { Section } from "../../prompt/section.ts";
import {
  type CleanupOptions,
  createCleanedUpError,
  createInUseError,
  MountedSection,
} from "../../prompt/sections/mounted-section.ts";
import type { WorkspaceKeeper } from "../../prompt/sections/workspace-keeper.ts";
import type { WorkspaceSectionOptions } from "../../prompt/sections/workspace-options.ts";
import type { WorkspaceManifest } from "../../prompt/sections/workspace-slice.ts";
import { WorkspaceFilesystem } from "./workspace-filesystem.ts";

/** A section with a workspace for Claude. */
export type WorkspaceOwner = MountedSection<HostWorkspace, WorkspaceSectionOptions>;

/** Validated settings of a workspace. */
export interface WorkspaceSettings {
  readonly plan: MountPlan;
  readonly syncPolicy: SyncPolicy;
  readonly syncDestination: string | null;
  readonly onConflict: ConflictPolicy;
  /** Keeps the files for other processes. */
  readonly keeper: WorkspaceKeeper;
}

/** Copies of host files in a temporary folder on the host, which other processes change. */
export class HostWorkspace {
  readonly plan: MountPlan;
  readonly filesystem: Filesystem = new WorkspaceFilesystem(() => this.#copyMounts());
  readonly createdAt = new Date(systemClock.now());
  readonly #settings: WorkspaceSettings;
  readonly #folder: MountedFolder;
  readonly #changes: WorkspaceChanges;
  /** Mounts with globs that match nothing, until a warning is logged. */
  readonly #previewsToWarnAbout: HostMountPreview[];
  #publish: ((event: AdapterEvent) => void) | null = null;
  #hasStarted = false;
  #userCount = 1;
  #holdCount = 0;
  #cleanupResult: Promise<SyncReport> | null = null;
  #syncedDir: string | null = null;

  constructor(settings: WorkspaceSettings) {
    this.plan = settings.plan;
    this.#previewsToWarnAbout = settings.plan.previews.filter(
      ({ unmatched }) => unmatched.length > 0,
    );
    this.#settings = settings;
    const { keeper } = settings;
    const restore = async (folder: string, originals: string) =>
      keeper.isActive ? await keeper.restore(folder, originals) : null;
    this.#folder = new MountedFolder({ plan: settings.plan }, { restore });
    this.#changes = new WorkspaceChanges(this.#folder, settings.onConflict);
  }

  get tempDir(): string {
    return this.#folder.root;
  }

  get previews(): readonly HostMountPreview[] {
    return this.#folder.previews;
  }

  /** Where the files were synced to; `null` if they were not. */
  get syncedDir(): string | null {
    return this.#syncedDir;
  }

  /** Sets how the workspace publishes events and progress, and logs globs that match nothing, once. */
  bind(
    announce: (event: AdapterEvent) => void,
    logger: Logger,
    findListener: () => ProgressListener | null = () => null,
  ): void {
    this.#publish = announce;
    this.#folder.reportProgressTo(findListener);
    const previews = this.#previewsToWarnAbout.splice(0);
    if (previews.length > 0) warnUnmatchedGlobs(previews, logger);
  }

  /** Copies the mounts once. */
  async ready(): Promise<void> {
    await this.#copyMounts();
  }

  /** Called when an evaluation of another process is continued. Its files are synced even if no request follows. */
  onResumed(): void {
    this.#hasStarted = true;
  }

  /** Returns the files of an earlier process that this one does not have, once, after the first `keep`. */
  takeLost(): readonly SyncFailure[] {
    return this.#settings.keeper.takeLost();
  }

  /**
   * Keeps the files for other processes, if the session is stored or there is a `persistDir`. Returns `null` if
   * nothing has changed.
   */
  async keep(): Promise<WorkspaceManifest | null> {
    const { keeper } = this.#settings;
    if (!this.#hasStarted || !keeper.isActive) return null;
    await this.#folder.ready();
    return await keeper.keep(this.tempDir, { mounted: this.#folder.baseline });
  }

  /** Prevents the cleanup until the returned hold is disposed. */
  hold(): Disposable {
    this.#holdCount += 1;
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#holdCount -= 1;
        isHeld = false;
      },
    };
  }

  checkIdle(): void {
    if (this.#holdCount > 0 && this.#userCount === 1) throw createInUseError();
  }

  /** Compares the files with the mounted versions. */
  async diff(): Promise<WorkspaceDiff> {
    if (this.#cleanupResult) throw createCleanedUpError();
    if (!this.#hasStarted) return new WorkspaceDiff([]);
    await this.#folder.ready();
    return await this.#changes.diff();
  }

  /** Adds a section that uses the workspace. */
  share(): void {
    if (this.#userCount === 0)
      throw new WinkError("The workspace was cleaned up. Create a new one.");
    this.#userCount += 1;
  }

  /** Releases one section. The last one syncs files according to the policy and removes the folder. */
  async cleanup({ isContinued = false }: CleanupOptions = {}): Promise<SyncReport> {
    this.#userCount -= 1;
    if (this.#userCount > 0) return notSynced;
    this.#cleanupResult ??= this.#syncAndRemove(isContinued);
    return await this.#cleanupResult;
  }

  get #syncsBack(): boolean {
    return this.#settings.syncPolicy !== "never";
  }

  async #copyMounts() {
    this.#hasStarted = true;
    return await this.#folder.ready();
  }

  async #syncAndRemove(isContinued: boolean): Promise<SyncReport> {
    try {
      const isSynced = this.#syncsBack && this.#hasStarted && !isContinued;
      return isSynced ? await this.#sync() : notSynced;
    } finally {
      await this.#folder.remove();
      await this.#settings.keeper.close();
    }
  }

  /** Returns the files of an earlier process that this one does not have, if no request has reported them. */
  async #findLost(): Promise<readonly SyncFailure[]> {
    const { keeper } = this.#settings;
    if (!keeper.isActive || keeper.tree) return [];
    await keeper.store(this.tempDir, this.#folder.baseline);
    return keeper.takeLost();
  }

  async #sync(): Promise<SyncReport> {
    // If copying the mounts failed, the error was already reported. Sync nothing.
    if ((await this.#folder.ready().catch(() => null)) === null) return notSynced;
    const { syncDestination } = this.#settings;
    const directory = syncDestination ? resolve(syncDestination) : await createSyncFolder();
    const lost = await this.#findLost();
    const report = await this.#changes.syncTo(directory, { lost, isLast: true });
    this.#syncedDir = directory;
    const { added, changed, deleted, failed, conflicts } = report;
    this.#publish?.({
      type: "WorkspaceSynced",
      ...{ directory, added, changed, deleted, failed, conflicts },
    });
    return report;
  }
}

/** Finds the prompt's section with a workspace; `null` if there is none. */
export function findWorkspace(prompt: Prompt): WorkspaceOwner | null {
  return findWorkspaces(prompt)[0]?.section ?? null;
}

/** Throws if a prompt has several workspaces, because the SDK works in one folder. */
export function checkOneWorkspace(prompt: Prompt): void {
  const all = findWorkspaces(prompt);
  if (all.length < 2) return;
  throw new InvalidOptionError({
    field: "Prompt workspaces",
    value: all.map(({ path }) => path),
    rule: "must be at most one, because the SDK works in one folder",
    remedy: "move all mounts to one section",
  });
}

/** Returns an empty array for an invalid prompt, which `evaluate` rejects later. */
function findWorkspaces(prompt: Prompt) {
  const outline = prompt?.template?.outline ?? [];
  return outline.flatMap(({ path, section }) =>
    isWorkspaceOwner(section) ? [{ path, section }] : [],
  );
}

function isWorkspaceOwner(section: Section): section is WorkspaceOwner {
  return section instanceof MountedSection && section.workspace instanceof HostWorkspace;
}
