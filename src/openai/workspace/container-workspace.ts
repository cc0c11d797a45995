import { resolve } from "node:path";
import type { AdapterEvent } from "../../adapter/events.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { getErrorMessage, WinkError } from "../../base/errors.ts";
import type { ProgressListener } from "../../base/track-bytes.ts";
import type { TokenUsage } from "../../base/usage.ts";
import { WorkspaceChanges } from "../../files/changes/workspace-changes.ts";
import { WorkspaceDiff } from "../../files/changes/workspace-diff.ts";
import type { HostFilesystem } from "../../files/filesystem/host-filesystem.ts";
import type { HostMountPreview } from "../../files/mounts/host-mount-preview.ts";
import type { MountPlan } from "../../files/mounts/mount-plan.ts";
import { warnUnmatchedGlobs } from "../../files/mounts/warn-unmatched-globs.ts";
import type { ConflictPolicy } from "../../files/sync/sync-conflict.ts";
import type { SyncFailure } from "../../files/sync/sync-failure.ts";
import type { SyncPolicy } from "../../files/sync/sync-policy.ts";
import { notSynced, type SyncReport } from "../../files/sync/sync-report.ts";
import { createSyncFolder } from "../../files/sync/sync-to.ts";
import { reserveFolder } from "../../host/temporary-folder.ts";
import { createCleanedUpError, createInUseError } from "../../prompt/sections/mounted-section.ts";
import type { WorkspaceKeeper } from "../../prompt/sections/workspace-keeper.ts";
import type { WorkspaceManifest } from "../../prompt/sections/workspace-slice.ts";
import type { OpenAIClient } from "../http/client.ts";
import { isContainerGone } from "../http/container-calls.ts";
import type { ContainerSettings } from "./container-config.ts";
import { ContainerLifecycle } from "./container-lifecycle.ts";
import { KeepAlive } from "./keep-alive.ts";
import { Mirror } from "./mirror.ts";
import { createUploadName } from "./python-snippets.ts";
import { resumeContainer } from "./resume-container.ts";
import type { Unpack } from "./transfer-strategy.ts";
import { type WorkspaceBinding, WorkspaceConnection } from "./workspace-connection.ts";
import { flatText, notRestoredNote, replacementNote } from "./workspace-text.ts";
import { WorkspaceTransfer } from "./workspace-transfer.ts";

/** The validated settings of a workspace. */
export interface WorkspaceSettings {
  readonly plan: MountPlan;
  readonly settings: ContainerSettings;
  /** The container's name at the provider. */
  readonly name: string;
  readonly unpack: Unpack;
  readonly syncPolicy: SyncPolicy;
  readonly syncDestination: string | null;
  /** What happens to a file that was changed on both sides. @default "keep" */
  readonly onConflict?: ConflictPolicy | undefined;
  readonly deleteOnCleanup: boolean;
  /** Where the files are kept for other processes. @default nowhere */
  readonly keeper?: WorkspaceKeeper | undefined;
  /** The client to use until an adapter evaluates the prompt. */
  readonly client: OpenAIClient | null;
  /** The file name of the archive with all files, which the prompt may mention. @default a new name */
  readonly archive?: string | undefined;
  /** Set for a workspace without a prompt, where code runs are not reported. @default none */
  readonly standalone?: StandaloneFiles | undefined;
}

/** The files for a workspace without a prompt. */
export interface StandaloneFiles {
  /** The path of an archive that is uploaded to every container as is. */
  readonly tarballPath?: string | undefined;
  /** A local folder with the archive's contents. @default a temporary folder that it is unpacked into */
  readonly root?: string | undefined;
}

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
  readonly #keepAlive: KeepAlive;
  readonly #keeper: WorkspaceKeeper | null;
  #firstKept: Promise<unknown> | null = null;
  #resuming: Promise<void> | null = null;
  #touchCount = 0;
  /** The values on which the files depend, from the time they were last kept. */
  #keptVersion: string | null = null;
  #binding: BindingOptions | null = null;
  /** The container of another process whose request may have changed its files. */
  #uncertainId: string | null = null;
  /** Files of an earlier process that no replacement reports, until the model was notified. */
  #unrestored: readonly SyncFailure[] = [];
  #isUsed = false;
  #isTransient = false;
  /** Mounts with globs that match nothing, until a warning is logged. */
  readonly #previewsToWarnAbout: HostMountPreview[];
  #userCount = 1;
  #cleanupResult: Promise<SyncReport> | null = null;
  #syncedDir: string | null = null;
  /** Whether the container has changes that could not be downloaded on cleanup. */
  #hasUnsavedChanges = false;

  constructor(options: WorkspaceSettings, clock: Clock = systemClock) {
    const {
      plan,
      unpack,
      settings,
      name,
      client,
      archive = createArchiveName(),
      standalone,
    } = options;
    this.plan = plan;
    this.#previewsToWarnAbout = plan.previews.filter(({ unmatched }) => unmatched.length > 0);
    this.#settings = options;
    this.#connection = new WorkspaceConnection(client, clock);
    const { root, tarballPath } = standalone ?? {};
    const source = root === undefined ? { plan } : { root };
    const keeper = options.keeper?.isActive ? options.keeper : null;
    this.#keeper = keeper;
    const restore = keeper
      ? (folder: string, originals: string) => keeper.restore(folder, originals)
      : undefined;
    this.#mirror = new Mirror(reserveFolder(), source, { tarball: tarballPath, restore });
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
    this.#unrestored = [...this.#unrestored, ...(this.#keeper?.takeLost() ?? [])];
    const unrestored = this.#createUnrestoredNotes();
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
  async resumeEarlier({
    signal = new AbortController().signal,
    isSubmitted = false,
  }: Partial<Parameters<typeof resumeContainer>[1]> = {}): Promise<void> {
    const keeper = this.#keeper;
    if (!keeper) return;
    await this.ready();
    const parts = { keeper, mirror: this.#mirror, transfer: this.#transfer };
    this.#resuming ??= resumeContainer(
      { ...parts, container: this.container },
      { signal, isSubmitted },
    ).finally(() => {
      this.#resuming = null;
    });
    await this.#resuming;
  }

  /** Called after a successful request. The model has read its notes, and code may have run. */
  async afterTurn(turn: WorkspaceTurn, signal: AbortSignal): Promise<void> {
    const isNotified = this.#createReplacementNotes().some((note) => turn.notes.includes(note));
    if (isNotified) this.container.clearPendingReplacement();
    if (this.#createUnrestoredNotes().some((note) => turn.notes.includes(note)))
      this.#unrestored = [];
    this.#uncertainId = null;
    if (this.isAuto && turn.containerId !== null) this.container.adopt(turn.containerId);
    if (!turn.hasCodeRun) return;
    this.#transfer.onCodeRun(turn.printed);
    const isFetched = this.#settings.syncPolicy === "eachTurn" || this.#keeper?.keepsFiles;
    if (isFetched) await this.#pullAfterTurn(signal);
  }

  /** Called before the evaluation's answer is returned. Downloads what `cleanup` would have to download. */
  async beforeAnswer(signal: AbortSignal): Promise<void> {
    if (this.#settings.syncPolicy === "cleanup") await this.#pullAfterTurn(signal);
  }

  /**
   * Keeps the files for other processes. Returns what the session must record, or `null` if nothing has changed
   * since the last time.
   */
  async keep(): Promise<WorkspaceManifest | null> {
    const keeper = this.#keeper;
    if (!keeper || !this.#isUsed) return null;
    const hasUnfetchedChanges = await this.#transfer.isStale();
    return await this.container.transferIfPresent(async (containerId) => {
      const { pullCount } = this.#transfer;
      const version = JSON.stringify([
        this.#touchCount,
        pullCount,
        containerId,
        hasUnfetchedChanges,
      ]);
      if (version === this.#keptVersion && keeper.isRecorded) return null;
      const { root, baseline: mounted } = this.#mirror;
      const kept = await keeper.keep(root, { mounted, containerId, hasUnfetchedChanges });
      this.#keptVersion = version;
      return kept;
    });
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

  /** Registers another section that uses the workspace. */
  share(): this {
    if (this.#userCount === 0)
      throw new WinkError("The workspace was cleaned up. Create a new one.");
    this.#userCount += 1;
    return this;
  }

  /** Called when a path was changed locally and must be sent to the container. Folders end in `/`. */
  touch(path: string): void {
    this.#touchCount += 1;
    this.#transfer.touched.add(path);
  }

  /** Returns the mirror's file system once the mounts are copied. */
  async getHostFilesystem(): Promise<HostFilesystem> {
    this.#isUsed = true;
    const host = await this.#mirror.ready();
    const keeper = this.#keeper;
    if (!keeper?.keepsFiles) return host;
    // At once, because later the mounted files may have changed.
    this.#firstKept ??= keeper.store(this.#mirror.root, this.#mirror.baseline).catch((error) => {
      this.#firstKept = null;
      throw error;
    });
    await this.#firstKept;
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
      : await this.#pullLast();
    const all = [...this.#mirror.skippedEntries, ...lost];
    return await this.#changes.syncTo(resolve(directory), { lost: all, onConflict });
  }

  /** Downloads the changes that code made, and compares the files with the mounted versions. */
  async diff(): Promise<WorkspaceDiff> {
    if (this.#cleanupResult) throw createCleanedUpError();
    if (!this.#isUsed) return new WorkspaceDiff([]);
    await this.#mirror.ready();
    await this.#pullPresent();
    return await this.#changes.diff();
  }

  /** Throws if an evaluation uses the files and the next cleanup would remove them. */
  checkIdle(): void {
    if (this.#keepAlive.isHeld && this.#userCount === 1) throw createInUseError();
  }

  /** Syncs the files if configured, and removes everything temporary. */
  async cleanup(): Promise<SyncReport> {
    this.#userCount -= 1;
    if (this.#userCount > 0) return notSynced;
    this.#cleanupResult ??= this.#runCleanup();
    return await this.#cleanupResult;
  }

  async #runCleanup(): Promise<SyncReport> {
    try {
      const isSynced = this.#settings.syncPolicy !== "never" && this.#isUsed;
      return isSynced ? await this.#sync() : notSynced;
    } finally {
      try {
        // Changes that were not downloaded exist only there. With zero data retention they must go too.
        const isDeletable = this.#settings.deleteOnCleanup && !this.#hasUnsavedChanges;
        await this.#release(isDeletable || this.#isTransient);
      } finally {
        await this.#transfer.removeStored();
        await this.#mirror.remove();
        await this.#keeper?.close();
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
    const lost = [...(await this.#resumeLast()), ...(await this.#pullLast())];
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

  /** Downloads changes if the container still exists. The changes in a lost container are lost too. */
  async #pullPresent(): Promise<void> {
    const { containerId } = this;
    if (containerId === null || !(await this.#transfer.isStale())) return;
    const { signal } = new AbortController();
    try {
      await this.container.transferIfPresent((now) =>
        this.#transfer.pullIfStale({ containerId: now ?? containerId, signal }),
      );
    } catch (error) {
      if (!isContainerGone(error)) throw error;
      this.container.lose(containerId, error);
    }
  }

  /** Downloads changes for the last time. A lost container is not created again for it. */
  async #pullLast(): Promise<readonly SyncFailure[]> {
    const isStale = await this.#transfer.isStale();
    const { containerId } = this;
    // A container that is still being filled has no changes to wait for.
    if (containerId === null || !isStale) return await this.#transfer.pullLast(null);
    const { signal } = new AbortController();
    return await this.container.transferIfPresent((now) =>
      this.#transfer.pullLast({ containerId: now ?? containerId, signal }),
    );
  }

  /** Downloads changes after a turn. A failure is logged and retried later, so the answer is not lost. */
  async #pullAfterTurn(signal: AbortSignal): Promise<void> {
    const { containerId } = this;
    if (containerId === null) return;
    try {
      await this.container.transferIfPresent((now) =>
        this.#transfer.pullIfStale({ containerId: now ?? containerId, signal }),
      );
    } catch (error) {
      signal.throwIfAborted();
      if (isContainerGone(error)) this.container.lose(containerId, error);
      const problem = getErrorMessage(error);
      this.#connection.logger.warn("could not download the changes that code made", { problem });
    }
  }

  #createUnrestoredNotes(): readonly string[] {
    return this.#unrestored.length > 0 ? [notRestoredNote(this.#unrestored)] : [];
  }

  #createReplacementNotes(): readonly string[] {
    const replacement = this.container.pendingReplacement;
    return replacement ? [replacementNote(replacement)] : [];
  }
}

/** The options of `ContainerWorkspace.bind`. */
export interface BindingOptions {
  publish(event: AdapterEvent): void;
  /** Whether to delete the container on cleanup, because the provider must retain nothing. */
  readonly isTransient: boolean;
  /** Called when a container was created, before it is filled. @default nothing */
  readonly onCreated?: ((id: string) => Promise<void>) | undefined;
  /** Called when a container was deleted. @default nothing */
  readonly onDeleted?: ((id: string) => void) | undefined;
  /** Called on cleanup, when the container was released. @default nothing */
  readonly onReleased?: (() => Promise<void>) | undefined;
  /** Returns the listener for a transfer that starts now, or `null`. @default no progress is reported */
  readonly findListener?: (() => ProgressListener | null) | undefined;
}

const NO_LISTENER = () => null;

/** The container and notes for the next request. */
export interface PreparedWorkspace {
  readonly containerId: string | null;
  /** Notes that the model must read. */
  readonly notes: readonly string[];
  /** Notes that apply to every conversation. Each conversation sends them once. */
  readonly standingNotes: readonly string[];
}

/** The result of a request, as far as it concerns the workspace. */
export interface WorkspaceTurn {
  readonly notes: readonly string[];
  readonly hasCodeRun: boolean;
  readonly printed: string;
  /** The container that code ran in, or `null` if none ran. */
  readonly containerId: string | null;
}

/** Creates a unique file name for a workspace's archive. */
export function createArchiveName(): string {
  return createUploadName("tar");
}
