import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { SyncFailure } from "../../files/sync/sync-reason.ts";
import type { ContainerContents } from "./container-lifecycle.ts";
import { FlatPlacement } from "./flat-placement.ts";
import type { FillStep, Placement, PlacementParts, Unpack } from "./placement.ts";
import { TreePlacement, UnpackingProblem } from "./tree-placement.ts";
import type { TransferStep } from "./workspace-connection.ts";

/** What the transfers of a workspace are made with. */
export interface TransferOptions extends PlacementParts {
  readonly clock: Clock;
  readonly unpack: Unpack;
  /** The file name of the archive with all files. */
  readonly archive: string;
  /** An archive that every container gets as it is. @default none */
  readonly tarballPath?: string | undefined;
  /** Whether `codeRan` is called when code has run; else files are stale after a second. */
  readonly isTold: boolean;
}

/**
 * All transfers between a workspace's mirror and its container. `ContainerLifecycle` runs one at a
 * time.
 */
export class WorkspaceTransfer implements ContainerContents {
  /** Paths that were changed here and are not yet in the container; folders end in `/`. */
  readonly touched = new Set<string>();
  readonly #parts: PlacementParts;
  readonly #tree: TreePlacement;
  readonly #flat: FlatPlacement;
  readonly #staleness: Staleness;
  #placement: Placement;
  #isToFlatten = false;
  #isFlattened = false;
  #fileCount = 0;
  #hasLostWork = false;
  #failed: readonly SyncFailure[] = [];
  #pulling: Promise<readonly SyncFailure[]> | null = null;

  constructor(options: TransferOptions) {
    const { mirror, connection, unpack, archive, clock, tarballPath, isTold } = options;
    this.#parts = { mirror, connection };
    this.#tree = new TreePlacement(this.#parts, { asks: unpack === "prompt", archive });
    this.#flat = new FlatPlacement(this.#parts, tarballPath);
    this.#placement = unpack === "files" ? this.#flat : this.#tree;
    this.#staleness = new Staleness(clock, { isTold });
  }

  /** How many files the container got when it was new. */
  get fileCount(): number {
    return this.#fileCount;
  }

  /** Whether code had changed files, when the container was filled, that were never downloaded. */
  get hasLostWork(): boolean {
    return this.#hasLostWork;
  }

  /** Whether a write is uploaded at once. */
  get writesThrough(): boolean {
    return this.#placement.writesThrough;
  }

  /** Whether the files could not be unpacked and are uploaded one by one instead. */
  get isFlattened(): boolean {
    return this.#isFlattened;
  }

  /** Uploads everything to a new container. */
  async fill(step: FillStep): Promise<void> {
    await this.#parts.mirror.ready();
    await this.#sending(step, async () => {
      this.#fileCount = await this.#placement.fill(step);
    });
    this.#hasLostWork = this.#staleness.isStale;
    this.#staleness.refreshed();
  }

  /** Uploads what was changed here. */
  async push(step: TransferStep): Promise<void> {
    if (this.#isToFlatten) await this.#flatten(step, "the model did not unpack them");
    await this.#sending(step, (touched) => this.#placement.push(touched, step));
  }

  /** The same before a request: returns the container, and what the model must read. */
  async prepare(step: TransferStep) {
    await this.push(step);
    return { containerId: step.containerId, notes: await this.#placement.notes(step) };
  }

  /** Code has run and has printed this. */
  codeRan(printed: string): void {
    this.#placement.heard(printed);
    this.#isToFlatten = this.#placement === this.#tree && this.#tree.isWaiting;
    this.#staleness.codeRan();
  }

  /** A request has failed in which code may have run. */
  codeMayHaveRun(): void {
    this.#staleness.codeRan();
  }

  /** Downloads what code changed, if it may have changed anything. */
  async pullIfStale(step: TransferStep): Promise<void> {
    if (this.#staleness.isStale && !this.#isToFlatten) await this.pull(step);
  }

  /** Downloads what code changed. Returns what could not be downloaded. */
  async pull(step: TransferStep): Promise<readonly SyncFailure[]> {
    this.#pulling = this.#pull(step);
    return await this.#pulling;
  }

  /** Whether there may be something to download, once the download that is running has ended. */
  async isStale(): Promise<boolean> {
    await this.#pulling?.catch(() => {}); // then there is still something to download
    return this.#staleness.isStale;
  }

  /** The last download, if anything may have changed. A failure is returned, and not thrown. */
  async pullLast(step: TransferStep | null): Promise<readonly SyncFailure[]> {
    if (!this.#staleness.isStale) return this.#failed;
    if (step === null) return [{ path: ".", reason: `${UNFETCHED}: the container is gone` }];
    try {
      return await this.pull(step);
    } catch (error) {
      return [...this.#failed, { path: ".", reason: `${UNFETCHED}: ${messageOf(error)}` }];
    }
  }

  async #pull(step: TransferStep): Promise<readonly SyncFailure[]> {
    this.#staleness.refreshed(); // code that runs from here on may be missed
    try {
      const { failed, isWhole } = await this.#placement.pull(this.touched, step);
      this.#failed = failed;
      if (!isWhole) this.#staleness.codeRan();
      return failed;
    } catch (error) {
      this.#staleness.codeRan();
      throw error;
    }
  }

  /** What is touched again meanwhile stays touched; if the work fails, everything does. */
  async #sending(
    step: TransferStep,
    work: (touched: ReadonlySet<string>) => Promise<void>,
  ): Promise<void> {
    const touched = new Set(this.touched);
    this.touched.clear();
    try {
      await work(touched).catch(async (error) => {
        if (!(error instanceof UnpackingProblem)) throw error;
        await this.#flatten(step, error.message);
      });
    } catch (error) {
      for (const path of touched) this.touched.add(path);
      throw error;
    }
  }

  /** Uploads each file by itself from now on, even if the container dies meanwhile. */
  async #flatten(step: TransferStep, reason: string): Promise<void> {
    const { containerId } = step;
    this.#isToFlatten = false;
    this.#isFlattened = true;
    this.#placement = this.#flat;
    this.#parts.connection.publish({ type: "UnpackingFailed", containerId, reason });
    this.#fileCount = await this.#flat.fill({ ...step, report: () => {} });
  }
}

const UNFETCHED = "what code changed last could not be fetched";

/** Where nobody says when code has run, files are downloaded again after this time. */
const FRESH_MS = 1_000;

/** Whether what is known of a container's files may be out of date. */
export class Staleness {
  readonly #clock: Clock;
  readonly #isTold: boolean;
  #refreshedAt: number;
  #hasCodeRun = false;

  constructor(clock: Clock, { isTold = false } = {}) {
    this.#clock = clock;
    this.#isTold = isTold;
    this.#refreshedAt = clock.now();
  }

  get isStale(): boolean {
    return this.#isTold ? this.#hasCodeRun : this.#clock.now() - this.#refreshedAt > FRESH_MS;
  }

  codeRan(): void {
    this.#hasCodeRun = true;
    this.#refreshedAt = Number.NEGATIVE_INFINITY;
  }

  refreshed(): void {
    this.#hasCodeRun = false;
    this.#refreshedAt = this.#clock.now();
  }
}
