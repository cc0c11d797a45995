import { resolve } from "node:path";
import { type Clock, systemClock } from "../../base/clock.ts";
import { getErrorMessage } from "../../base/errors.ts";
import type { TokenUsage } from "../../base/usage.ts";
import { WorkspaceChanges } from "../../files/changes/workspace-changes.ts";
import { WorkspaceDiff } from "../../files/changes/workspace-diff.ts";
import type { HostFilesystem } from "../../files/filesystem/host-filesystem.ts";
import type { HostMountPreview } from "../../files/mounts/host-mount-preview.ts";
import type { MountPlan } from "../../files/mounts/mount-plan.ts";
import { warnUnmatchedGlobs } from "../../files/mounts/warn-unmatched-globs.ts";
import type { ConflictPolicy } from "../../files/sync/sync-conflict.ts";
import type { SyncFailure } from "../../files/sync/sync-failure.ts";
import { notSynced, type SyncReport } from "../../files/sync/sync-report.ts";
import { createSyncFolder } from "../../files/sync/sync-to.ts";
import { reserveFolder } from "../../host/temporary-folder.ts";
import type { KeeperOptions } from "../../prompt/sections/find-kept-mounts.ts";
import {
  type CleanupOptions,
  createCleanedUpError,
} from "../../prompt/sections/mounted-section.ts";
import { WorkspaceKeeper } from "../../prompt/sections/workspace-keeper.ts";
import type { WorkspaceManifest } from "../../prompt/sections/workspace-slice.ts";
import type { ContainerSettings } from "./container-config.ts";
import { ContainerLifecycle } from "./container-lifecycle.ts";
import {
  type DownloadParts,
  downloadAfterTurn,
  downloadChanges,
  downloadLast,
} from "./download-changes.ts";
import { KeepAlive } from "./keep-alive.ts";
import { KeptFiles, type ResumeOptions } from "./kept-files.ts";
import { Mirror } from "./mirror.ts";
import { type WorkspaceBinding, WorkspaceConnection } from "./workspace-connection.ts";
import type {
  BindingOptions,
  PreparedWorkspace,
  WorkspaceSettings,
  WorkspaceTurn,
} from "./workspace-settings.ts";
import { flatText, replacementNote } from "./workspace-text.ts";
import { WorkspaceTransfer } from "./workspace-transfer.ts";

/**
 * Host files in a container at the provider, and a local mirror of them that survives the loss of the
 * container. One evaluation calls `bind`, then `prepare` and `afterTurn` for each turn, and finally
 * `cleanup`.
 */
export class ContainerWorkspace {
  readonly plan: MountPlan;
  readonly container: ContainerLifecycle;
  readonly #settings: WorkspaceSettings;
  readonly #connection: WorkspaceConnection;
  readonly #mirror: Mirror;
  readonly #changes: WorkspaceChanges;
  readonly #transfer: WorkspaceTransfer;
  readonly #downloads: DownloadParts;
  readonly #keepAlive: KeepAlive;
  /** Keeps the files for other processes; `null` if there is nowhere to keep them. */
  readonly #keptFiles: KeptFiles | null;
  #binding: BindingOptions | null = null;
  /** The container of another process whose request may have changed its files. */
  #uncertainId: string | null = null;
  #isUsed = false;
  #isTransient = false;
  /** Mounts with globs that match nothing, until a warning is logged. */
  readonly #previewsToWarnAbout: HostMountPreview[];
  #cleanupResult: Promise<SyncReport> | null = null;
  #syncedDir: string | null = null;
  /** Whether the container has changes that could not be downloaded on cleanup. */
  #hasUnsavedChanges = false;

  constructor(options: WorkspaceSettings, clock: Clock = systemClock) {
    const { plan, unpack, settings, name, client, archive, standalone } = options;
    this.plan = plan;
    this.#previewsToWarnAbout = plan.previews.filter(({ unmatched }) => unmatched.length > 0);
    this.#settings = options;
    this.#connection = new WorkspaceConnection(client, clock);
    const { root, tarballPath } = standalone ?? {};
    const source = root === undefined ? { plan } : { root };
    const keeper = openKeeper(options.kept);
    const restore = keeper
      ? (folder: string, originals: string) => keeper.restore(folder, originals)
      : undefined;
    this.#mirror = new Mirror(reserveFolder(options.home), source, {
      tarball: tarballPath,
      restore,
    });
    this.#changes = new WorkspaceChanges(this.#mirror, options.onConflict);
    const parts = { connection: this.#connection, mirror: this.#mirror };
    const tracksCodeRuns = standalone === undefined;
    const contents = new WorkspaceTransfer({
      ...parts,
      clock,
      unpack,
      archive,
      tarballPath,
      tracksCodeRuns,
    });
    this.#transfer = contents;
    this.container = new ContainerLifecycle({
      ...{ ...parts, settings, name, contents },
      onCreated: async (id) => await this.#binding?.onCreated?.(id),
      onDeleted: (id) => this.#binding?.onDeleted?.(id),
    });
    const { container } = this;
    this.#downloads = { container, transfer: contents, connection: this.#connection };
    const keptParts = { mirror: this.#mirror, transfer: contents, container };
    this.#keptFiles = keeper && new KeptFiles({ ...keptParts, keeper });
    this.#keepAlive = new KeepAlive(this.container, this.#connection, settings.expiresAfterMinutes);
  }

  /** The local folder of the mirror. */
  get tempDir(): string {
    return this.#mirror.root;
  }

  get previews(): readonly HostMountPreview[] {
    return this.#mirror.previews;
  }

  get containerId(): string | null {
    return this.container.containerId;
  }

  /** The folder that `cleanup` copied the files to. */
  get syncedDir(): string | null {
    return this.#syncedDir;
  }

  /** Whether the provider creates the container when code first runs. */
  get isAuto(): boolean {
    return this.containerSettings.mode === "auto";
  }

  get containerSettings(): ContainerSettings {
    return this.#settings.settings;
  }

  /** Switches to an adapter's client, retries and events. */
  bind(adapter: WorkspaceBinding, options: BindingOptions): void {
    this.#connection.bind(adapter, options.publish, options);
    this.#binding = options;
    this.#mirror.reportProgressTo(options.findListener ?? NO_LISTENER);
    this.#isTransient ||= options.isTransient;
    const previews = this.#previewsToWarnAbout.splice(0);
    if (previews.length > 0) warnUnmatchedGlobs(previews, adapter.logger);
  }

  /** Runs `work`, in which no throttled request waits longer than this for its next attempt. */
  async limitWaits<Result>(
    milliseconds: number | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    return await this.#connection.limitWaits(milliseconds, work);
  }

  /** Prevents the container from expiring until the returned hold is disposed. */
  hold(clock: Clock): Disposable {
    return this.#keepAlive.hold(clock);
  }

  /** Copies the mounts to the mirror, once. */
  async ready(): Promise<void> {
    await this.getHostFilesystem();
  }

  /** Whether code of a request that another process has sent may have changed the files in the container. */
  get isUncertain(): boolean {
    return this.#uncertainId !== null && this.#uncertainId === this.containerId;
  }

  /**
   * Prepares the container for the next request. Returns the notes that the model must read. `isSubmitted`: another
   * process has sent the request, so that code may be running in its container.
   */
  async prepare(signal: AbortSignal, { isSubmitted = false } = {}): Promise<PreparedWorkspace> {
    await this.ready();
    await this.resumeEarlier({ signal, isSubmitted });
    if (isSubmitted) this.#uncertainId = this.containerId;
    const unrestored = this.#keptFiles?.collectNotes() ?? [];
    const isCreatedByProvider = this.isAuto && this.container.state === "absent";
    if (isCreatedByProvider) return { containerId: null, notes: unrestored, standingNotes: [] };
    const { containerId, notes } = await this.container.transfer(
      (step) => this.#transfer.prepare(step),
      signal,
    );
    const replaced = this.#createReplacementNotes();
    const standingNotes = this.#transfer.isFlattened ? [flatText()] : [];
    return { containerId, notes: [...replaced, ...unrestored, ...notes], standingNotes };
  }

  /** Uses the container of an earlier process again if possible, once. */
  async resumeEarlier(options: Partial<ResumeOptions> = {}): Promise<void> {
    if (!this.#keptFiles) return;
    await this.ready();
    await this.#keptFiles.resumeEarlier(options);
  }

  /** Called after a successful request. The model has read its notes, and code may have run. */
  async afterTurn(turn: WorkspaceTurn, signal: AbortSignal): Promise<void> {
    const isNotified = this.#createReplacementNotes().some((note) => turn.notes.includes(note));
    if (isNotified) this.container.clearPendingReplacement();
    this.#keptFiles?.onNotesRead(turn.notes);
    this.#uncertainId = null;
    if (this.isAuto && turn.containerId !== null) this.container.adopt(turn.containerId);
    if (!turn.hasCodeRun) return;
    this.#transfer.onCodeRun(turn.printed);
    const isFetched = this.#settings.syncPolicy === "eachTurn" || this.#keptFiles?.hasContents;
    if (isFetched) await downloadAfterTurn(this.#downloads, signal);
  }

  /** Called before the evaluation's answer is returned. Downloads what `cleanup` would have to download. */
  async beforeAnswer(signal: AbortSignal): Promise<void> {
    if (this.#settings.syncPolicy === "cleanup") await downloadAfterTurn(this.#downloads, signal);
  }

  /**
   * Keeps the files for other processes. Returns what the session must record, or `null` if nothing has changed
   * since the last time.
   */
  async keep(): Promise<WorkspaceManifest | null> {
    return this.#isUsed ? ((await this.#keptFiles?.keep()) ?? null) : null;
  }

  /** Called if another process ran code in a container whose files were not kept. The next container replaces it. */
  loseEarlier(containerId: string): void {
    this.#transfer.onEarlierLost([], true);
    this.container.loseEarlier(containerId, "its files were not kept for this process");
  }

  /** Called when an evaluation of another process is continued. Its files are synced even if no request follows. */
  onResumed(): void {
    this.#isUsed = true;
  }

  /** Called when a request fails; code may have run before it did. */
  onRequestFailed(): void {
    this.#transfer.onPossibleCodeRun();
  }

  /** Returns the token usage of the workspace's own requests since the last call. */
  takeUsage(): TokenUsage {
    return this.#connection.takeUsage();
  }

  /** Called when a path was changed locally and must be sent to the container. Folders end in `/`. */
  touch(path: string): void {
    this.#keptFiles?.onTouched();
    this.#transfer.touched.add(path);
  }

  /** Returns the mirror's file system once the mounts are copied. */
  async getHostFilesystem(): Promise<HostFilesystem> {
    this.#isUsed = true;
    const host = await this.#mirror.ready();
    await this.#keptFiles?.keepMounted();
    return host;
  }

  /** Downloads the changes that code made, if it may have made any. */
  async refresh(): Promise<void> {
    await this.container.transfer((step) => this.#transfer.pullIfStale(step));
  }

  /** Uploads local changes now, if the strategy does not wait for the next request. */
  async push(): Promise<void> {
    if (!this.#transfer.writesThrough) return;
    await this.container.transfer(async (step) => {
      // Without a prompt, no later request would upload the paths file.
      await (this.#settings.standalone ? this.#transfer.prepare(step) : this.#transfer.push(step));
    });
  }

  /** Copies every file to a local folder. */
  async downloadAll(directory: string, onConflict?: ConflictPolicy): Promise<SyncReport> {
    await this.#mirror.ready();
    const lost = this.#settings.standalone
      ? await this.container.transfer((step) => this.#transfer.pull(step))
      : await downloadLast(this.#downloads);
    const all = [...this.#mirror.skippedEntries, ...lost];
    return await this.#changes.syncTo(resolve(directory), { lost: all, onConflict });
  }

  /** Downloads the changes that code made, and compares the files with the mounted versions. */
  async diff(): Promise<WorkspaceDiff> {
    if (this.#cleanupResult) throw createCleanedUpError();
    if (!this.#isUsed) return new WorkspaceDiff([]);
    await this.#mirror.ready();
    await downloadChanges(this.#downloads);
    return await this.#changes.diff();
  }

  /** Syncs the files if configured, and removes everything temporary. */
  async cleanup({ isContinued = false }: CleanupOptions = {}): Promise<SyncReport> {
    this.#cleanupResult ??= this.#runCleanup(isContinued);
    return await this.#cleanupResult;
  }

  async #runCleanup(isContinued: boolean): Promise<SyncReport> {
    const { syncPolicy, deleteOnCleanup } = this.#settings;
    try {
      const isSynced = syncPolicy !== "never" && this.#isUsed && !isContinued;
      return isSynced ? await this.#sync() : notSynced;
    } finally {
      try {
        // Changes that were not downloaded exist only there. With zero data retention they must go too.
        const isDeletable = deleteOnCleanup && !this.#hasUnsavedChanges && !isContinued;
        await this.#release(isDeletable || this.#isTransient);
      } finally {
        await this.#transfer.removeStored();
        await this.#mirror.remove();
        await this.#keptFiles?.close();
      }
    }
  }

  /** Releases the containers. If one cannot be deleted, that is logged, so that the report is not lost. */
  async #release(remove: boolean): Promise<void> {
    const releaseOwn = () => this.container.release({ remove });
    for (const release of [releaseOwn, () => this.#binding?.onReleased?.()]) {
      try {
        await release();
      } catch (error) {
        const problem = getErrorMessage(error);
        this.#connection.logger.warn("could not delete a container", { problem });
      }
    }
  }

  async #sync(): Promise<SyncReport> {
    // If copying the mounts failed, an earlier call reported why. Then no files exist to sync.
    if ((await this.#mirror.ready().catch(() => null)) === null) return notSynced;
    const lost = [...(await this.#resumeLast()), ...(await downloadLast(this.#downloads))];
    this.#hasUnsavedChanges = await this.#transfer.isStale();
    await this.#keepLast();
    const destination = this.#settings.syncDestination;
    const directory = destination ? resolve(destination) : await createSyncFolder();
    const report = await this.#changes.syncTo(directory, { lost, isLast: true });
    this.#syncedDir = directory;
    const { added, changed, deleted, failed, conflicts } = report;
    const event = { directory, added, changed, deleted, failed, conflicts };
    this.#connection.publish({ type: "WorkspaceSynced", ...event });
    return report;
  }

  /** Downloads what only the container of an earlier process has, if no request did. A failure is returned. */
  async #resumeLast(): Promise<readonly SyncFailure[]> {
    try {
      await this.resumeEarlier();
      return [];
    } catch (error) {
      const problem = getErrorMessage(error);
      const reason = `the changes that an earlier process made could not be downloaded: ${problem}`;
      return [{ path: ".", reason }];
    }
  }

  /** Keeps the files that were downloaded last. A failure is only logged: the files are synced too. */
  async #keepLast(): Promise<void> {
    try {
      const manifest = await this.keep();
      if (manifest) this.#connection.publish({ type: "WorkspaceKept", manifest });
    } catch (error) {
      const problem = getErrorMessage(error);
      this.#connection.logger.warn("could not keep the files of the workspace", { problem });
    }
  }

  #createReplacementNotes(): readonly string[] {
    const replacement = this.container.pendingReplacement;
    return replacement ? [replacementNote(replacement)] : [];
  }
}

/** Returns `null` if there is nowhere to keep the files. */
function openKeeper(kept: KeeperOptions | undefined): WorkspaceKeeper | null {
  const keeper = kept ? new WorkspaceKeeper(kept) : null;
  return keeper?.isActive ? keeper : null;
}

const NO_LISTENER = () => null;
