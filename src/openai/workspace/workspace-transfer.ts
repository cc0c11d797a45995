import type { Clock } from "../../base/clock.ts";
import { getErrorMessage } from "../../base/errors.ts";
import type { SyncFailure } from "../../files/sync/sync-failure.ts";
import { isContainerGone } from "../http/container-calls.ts";
import type { ContainerContents } from "./container-lifecycle.ts";
import { ArchiveUploadStrategy, UnpackingFailure } from "./transfer/archive-upload-strategy.ts";
import { SingleFileStrategy } from "./transfer/single-file-strategy.ts";
import type { FillStep, TransferStrategy } from "./transfer-strategy.ts";
import type { Unpack } from "./unpack.ts";
import type { StrategyParts, TransferStep } from "./workspace-connection.ts";

/** The options of a `WorkspaceTransfer`. */
export interface TransferOptions extends StrategyParts {
  readonly clock: Clock;
  readonly unpack: Unpack;
  /** The file name of the archive with all files. */
  readonly archive: string;
  /** The path of an archive that is uploaded to every container as is. @default none */
  readonly tarballPath?: string | undefined;
  /** Whether `onCodeRun` is called after code runs. Otherwise files are stale after one second. */
  readonly tracksCodeRuns: boolean;
}

/**
 * Transfers files between a workspace's mirror and its container. `ContainerLifecycle` runs one
 * transfer at a time.
 */
export class WorkspaceTransfer implements ContainerContents {
  /** Paths that were changed locally and are not yet in the container. Folders end in `/`. */
  readonly touched = new Set<string>();
  /** How often changes were downloaded. */
  pullCount = 0;
  readonly #parts: StrategyParts;
  readonly #archiveStrategy: ArchiveUploadStrategy;
  readonly #singleFileStrategy: SingleFileStrategy;
  readonly #staleness: Staleness;
  #strategy: TransferStrategy;
  #shouldFlatten = false;
  #isFlattened = false;
  #fileCount = 0;
  #hasLostWork = false;
  /** Whether code may have run since the container was filled. */
  #hasCodeRun = false;
  /** The entries of the container that the last download could not copy. */
  #uncopied: readonly string[] = [];
  #lostEntries: readonly string[] = [];
  #hasUnlistedChanges = false;
  #failed: readonly SyncFailure[] = [];
  #pulling: Promise<readonly SyncFailure[]> | null = null;

  constructor(options: TransferOptions) {
    const { mirror, connection, unpack, archive, clock, tarballPath, tracksCodeRuns } = options;
    this.#parts = { mirror, connection };
    this.#archiveStrategy = new ArchiveUploadStrategy(this.#parts, {
      modelUnpacks: unpack === "prompt",
      archive,
    });
    this.#singleFileStrategy = new SingleFileStrategy(this.#parts, tarballPath);
    this.#strategy = unpack === "files" ? this.#singleFileStrategy : this.#archiveStrategy;
    this.#staleness = new Staleness(clock, { tracksCodeRuns });
  }

  /** The number of files that the container was filled with. */
  get fileCount(): number {
    return this.#fileCount;
  }

  /** Whether changes that code made were lost when the container was last filled. */
  get hasLostWork(): boolean {
    return this.#hasLostWork;
  }

  /** The entries of the lost container that could not be copied from it, when another was last filled. */
  get lostEntries(): readonly string[] {
    return this.#lostEntries;
  }

  /** Whether code may have made changes in the lost container that the provider does not list. */
  get hasUnlistedChanges(): boolean {
    return this.#hasUnlistedChanges;
  }

  /** Whether a write is uploaded immediately. */
  get writesThrough(): boolean {
    return this.#strategy.writesThrough;
  }

  /** Whether unpacking failed, so that files are uploaded one by one instead. */
  get isFlattened(): boolean {
    return this.#isFlattened;
  }

  /** The id of the archive that is stored at the provider for later containers, or `null`. */
  get storedFileId(): string | null {
    return this.#archiveStrategy.storedFileId;
  }

  /** Deletes the archive that is stored at the provider. */
  async removeStored(): Promise<void> {
    await this.#archiveStrategy.removeStored();
  }

  /** Copies the mounts to the mirror, once. */
  async ready(): Promise<void> {
    await this.#parts.mirror.ready();
  }

  /** Uploads all files to a new container. */
  async fill(step: FillStep): Promise<void> {
    const { usesFileList } = this.#strategy;
    await this.#sendTouched(step, async () => {
      this.#fileCount = await this.#strategy.fill(step);
    });
    this.#hasUnlistedChanges = usesFileList && this.#hasCodeRun;
    this.#hasCodeRun = false;
    this.#lostEntries = this.#uncopied;
    this.#uncopied = [];
    this.#hasLostWork = this.#staleness.isStale;
    this.#staleness.markFresh();
  }

  /**
   * Continues with a container that an earlier process filled. Its files must have the digest, or any if it is
   * `null`. Downloads those that the mirror does not have. Returns whether the container can be used.
   */
  async adopt(digest: string | null, modes: ReadonlyMap<string, number>, step: TransferStep) {
    if (this.#strategy !== this.#archiveStrategy) return false;
    const { touched } = this; // local calls may have run before the first request
    const count = await this.#archiveStrategy.adopt(digest, { modes, touched }, step);
    this.#fileCount = count ?? 0;
    return count !== null;
  }

  /** Reports files that an earlier process had and this one does not have: on cleanup, and to the next container. */
  onEarlierLost(lost: readonly SyncFailure[], hasLostWork: boolean): void {
    this.#failed = lost;
    this.#uncopied = lost.map(({ path }) => path);
    if (hasLostWork) this.#staleness.markStale();
  }

  /** Uploads local changes. */
  async push(step: TransferStep): Promise<void> {
    if (this.#shouldFlatten) await this.#flatten(step, "the model did not unpack the files");
    await this.#sendTouched(step, (touched) => this.#strategy.push(touched, step));
  }

  /** Uploads local changes before a request. Returns the container and the notes for the model. */
  async prepare(step: TransferStep) {
    await this.push(step);
    return { containerId: step.containerId, notes: await this.#strategy.collectNotes(step) };
  }

  /** Called after code has run, with its printed output. */
  onCodeRun(printed: string): void {
    this.#hasCodeRun = true;
    this.#strategy.onCodeOutput(printed);
    this.#shouldFlatten =
      this.#strategy === this.#archiveStrategy && this.#archiveStrategy.hasPendingArchives;
    this.#staleness.markStale();
  }

  /** Called when a request has failed in which code may have run. */
  onPossibleCodeRun(): void {
    this.#hasCodeRun = true;
    this.#staleness.markStale();
  }

  /** Downloads the changes that code made, if it may have made any. */
  async pullIfStale(step: TransferStep): Promise<void> {
    if (this.#staleness.isStale && !this.#shouldFlatten) await this.pull(step);
  }

  /** Downloads the changes that code made. Returns the files that failed. */
  async pull(step: TransferStep): Promise<readonly SyncFailure[]> {
    this.#pulling = this.#pull(step);
    return await this.#pulling;
  }

  /** Waits for a running download, and returns whether there may be more changes to download. */
  async isStale(): Promise<boolean> {
    await this.#pulling?.catch(() => {}); // a failed download leaves the files stale
    return this.#staleness.isStale;
  }

  /** Downloads changes for the last time, if there may be any. A failure is returned, not thrown. */
  async pullLast(step: TransferStep | null): Promise<readonly SyncFailure[]> {
    if (!this.#staleness.isStale) return this.#failed;
    if (step === null) {
      const reason = `${DOWNLOAD_FAILED}: the container no longer exists`;
      return [...this.#failed, { path: ".", reason }];
    }
    try {
      return await this.pull(step);
    } catch (error) {
      const where = isContainerGone(error) ? "" : ` (container ${step.containerId})`;
      const reason = `${DOWNLOAD_FAILED}: ${getErrorMessage(error)}${where}`;
      return [...this.#failed, { path: ".", reason }];
    }
  }

  async #pull(step: TransferStep): Promise<readonly SyncFailure[]> {
    this.#staleness.markFresh(); // set first: code that runs during the download makes the files stale again
    try {
      this.pullCount += 1;
      const { failed, isComplete, throttled } = await this.#strategy.pull(this.touched, step);
      this.#failed = failed;
      this.#uncopied = failed.map(({ path, reason }) => (path === "." ? reason : path));
      if (!isComplete) this.#staleness.markStale();
      if (throttled) throw throttled;
      return failed;
    } catch (error) {
      this.#staleness.markStale();
      throw error;
    }
  }

  /** Sends the touched paths. Paths touched in the meantime stay touched, and all do if sending fails. */
  async #sendTouched(
    step: TransferStep,
    work: (touched: ReadonlySet<string>) => Promise<void>,
  ): Promise<void> {
    const touched = new Set(this.touched);
    this.touched.clear();
    try {
      await work(touched).catch(async (error) => {
        if (!(error instanceof UnpackingFailure)) throw error;
        await this.#flatten(step, error.message);
      });
    } catch (error) {
      for (const path of touched) this.touched.add(path);
      throw error;
    }
  }

  /** Switches to uploading files one by one, also for replacement containers. */
  async #flatten(step: TransferStep, reason: string): Promise<void> {
    const { containerId } = step;
    this.#shouldFlatten = false;
    this.#isFlattened = true;
    this.#strategy = this.#singleFileStrategy;
    this.#parts.connection.publish({ type: "UnpackingFailed", containerId, reason });
    this.#fileCount = await this.#singleFileStrategy.fill({ ...step, report: () => {} });
  }
}

const DOWNLOAD_FAILED = "the last changes that code made could not be downloaded";

/** If code runs are not reported, files are downloaded again after this time. */
const MAX_AGE_MS = 1_000;

/** Tracks whether the mirror may be out of date. */
export class Staleness {
  readonly #clock: Clock;
  readonly #tracksCodeRuns: boolean;
  #refreshedAt: number;
  #hasCodeRun = false;

  constructor(clock: Clock, { tracksCodeRuns = false } = {}) {
    this.#clock = clock;
    this.#tracksCodeRuns = tracksCodeRuns;
    this.#refreshedAt = clock.now();
  }

  get isStale(): boolean {
    return this.#tracksCodeRuns
      ? this.#hasCodeRun
      : this.#clock.now() - this.#refreshedAt > MAX_AGE_MS;
  }

  markStale(): void {
    this.#hasCodeRun = true;
    this.#refreshedAt = Number.NEGATIVE_INFINITY;
  }

  markFresh(): void {
    this.#hasCodeRun = false;
    this.#refreshedAt = this.#clock.now();
  }
}
