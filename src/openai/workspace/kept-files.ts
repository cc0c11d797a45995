import { PLAIN_MODE } from "../../files/archive/tar/write-tar.ts";
import type { SyncFailure } from "../../files/sync/sync-failure.ts";
import type { WorkspaceKeeper } from "../../prompt/sections/workspace-keeper.ts";
import type { WorkspaceManifest } from "../../prompt/sections/workspace-slice.ts";
import { isContainerGone } from "../http/container-calls.ts";
import type { ContainerLifecycle } from "./container-lifecycle.ts";
import type { Mirror } from "./mirror.ts";
import { notRestoredNote } from "./workspace-text.ts";
import type { WorkspaceTransfer } from "./workspace-transfer.ts";

/** The parts of a workspace whose container another process may have used. */
export interface KeptFilesParts {
  readonly keeper: WorkspaceKeeper;
  readonly container: ContainerLifecycle;
  readonly mirror: Mirror;
  readonly transfer: WorkspaceTransfer;
}

/** How {@link KeptFiles.resumeEarlier} treats the container of an earlier process. */
export interface ResumeOptions {
  readonly signal: AbortSignal;
  /** Whether the earlier process has sent a request whose code may have changed the files since. */
  readonly isSubmitted: boolean;
}

/**
 * Keeps the files of a workspace for other processes, and continues with the files and the container of an earlier
 * process.
 */
export class KeptFiles {
  readonly #parts: KeptFilesParts;
  #mountedKept: Promise<unknown> | null = null;
  #resuming: Promise<void> | null = null;
  #touchCount = 0;
  /** The version of the files that were last kept. */
  #keptFilesVersion: string | null = null;
  /** The values on which the last manifest depends. */
  #manifestVersion: string | null = null;
  /** Files of an earlier process that no replacement reports, until the model was notified. */
  #unrestored: readonly SyncFailure[] = [];

  constructor(parts: KeptFilesParts) {
    this.#parts = parts;
  }

  /** Whether the contents of the files are kept, and not only their digests. */
  get hasContents(): boolean {
    return this.#parts.keeper.keepsFiles;
  }

  /** Keeps the contents of the mounted files at once, because later they may have changed. */
  async keepMounted(): Promise<void> {
    if (!this.hasContents) return;
    this.#mountedKept ??= this.#store().catch((error) => {
      this.#mountedKept = null;
      throw error;
    });
    await this.#mountedKept;
  }

  /** Uses the container of an earlier process again if possible, once. The mirror must be ready. */
  async resumeEarlier({
    signal = new AbortController().signal,
    isSubmitted = false,
  }: Partial<ResumeOptions>): Promise<void> {
    this.#resuming ??= this.#resume({ signal, isSubmitted }).finally(() => {
      this.#resuming = null;
    });
    await this.#resuming;
  }

  /** Keeps the files. Returns what the session must record, or `null` if nothing has changed since the last time. */
  async keep(): Promise<WorkspaceManifest | null> {
    const { keeper, container, mirror, transfer } = this.#parts;
    if (!mirror.isFilled) return null; // such as for a stored answer: the files are those that are kept
    const hasUnfetchedChanges = await transfer.isStale();
    return await container.transferIfPresent(async (containerId) => {
      const files = this.#filesVersion;
      const version = JSON.stringify([files, containerId, hasUnfetchedChanges]);
      if (version === this.#manifestVersion && keeper.isRecorded) return null;
      const { root, baseline: mounted } = mirror;
      const isUnchanged = files === this.#keptFilesVersion;
      const options = { mounted, containerId, hasUnfetchedChanges, isUnchanged };
      const kept = await keeper.keep(root, options);
      this.#keptFilesVersion = files;
      this.#manifestVersion = version;
      return kept;
    });
  }

  /** Called when a file was changed locally. */
  onTouched(): void {
    this.#touchCount += 1;
  }

  /** Returns notes for the model about files that could not be restored. */
  collectNotes(): readonly string[] {
    this.#unrestored = [...this.#unrestored, ...this.#parts.keeper.takeLost()];
    return this.#unrestored.length > 0 ? [notRestoredNote(this.#unrestored)] : [];
  }

  /** Called when the model has read these notes. */
  onNotesRead(notes: readonly string[]): void {
    if (this.#unrestored.length === 0) return;
    if (notes.includes(notRestoredNote(this.#unrestored))) this.#unrestored = [];
  }

  /** Ends the use of the folder with the contents. */
  async close(): Promise<void> {
    await this.#parts.keeper.close();
  }

  /** Changes whenever files in the mirror may have changed. */
  get #filesVersion(): string {
    return JSON.stringify([this.#touchCount, this.#parts.transfer.pullCount]);
  }

  async #store(): Promise<void> {
    const { keeper, mirror } = this.#parts;
    const files = this.#filesVersion;
    await keeper.store(mirror.root, mirror.baseline);
    this.#keptFilesVersion = files;
  }

  async #resume(options: ResumeOptions): Promise<void> {
    const before = this.#keptFilesVersion;
    this.#keptFilesVersion = null; // the mirror gets files of the container
    if (!(await resumeContainer(this.#parts, options))) this.#keptFilesVersion = before;
  }
}

/**
 * Uses the container of an earlier process again if it has the files that were last kept. Otherwise the next
 * container is filled from the mirror, and missing files are reported. If `isSubmitted`, the container is used as it
 * is. Returns whether it is used.
 */
async function resumeContainer(
  { keeper, container, mirror, transfer }: KeptFilesParts,
  { signal, isSubmitted }: ResumeOptions,
): Promise<boolean> {
  const earlier = keeper.earlierContainer;
  if (!earlier) {
    // Finds out which files of an earlier process are lost.
    if (!keeper.tree && keeper.mounted) await keeper.store(mirror.root, mirror.baseline);
    return false;
  }
  const { containerId, hasUnfetchedChanges } = earlier;
  const isAlive = container.state === "absent" && (await container.isAlive(containerId, signal));
  const modes = listUnusualModes(keeper.tree?.files ?? mirror.baseline.files);
  const step = { containerId, signal };
  const adopt = () => transfer.adopt(isSubmitted ? null : earlier.digest, modes, step);
  if (isAlive && (await runIfPresent(() => container.transferIfPresent(adopt)))) {
    const { mounted } = keeper;
    if (!keeper.keepsFiles && mounted) mirror.setMounted(mounted);
    keeper.continueEarlier();
    container.adopt(containerId);
    if (isSubmitted) transfer.onPossibleCodeRun();
    return true;
  }
  keeper.giveUpEarlier();
  if (!keeper.keepsFiles) await keeper.store(mirror.root, mirror.baseline);
  // Otherwise this process has already filled a container.
  if (container.state === "absent") {
    transfer.onEarlierLost(keeper.takeLost(), hasUnfetchedChanges);
  }
  const reason = isAlive ? "its files are not those that were last kept" : "it no longer exists";
  container.loseEarlier(containerId, reason);
  return false;
}

/** Returns `false` if the container no longer exists. */
async function runIfPresent(work: () => Promise<boolean>): Promise<boolean> {
  try {
    return await work();
  } catch (error) {
    if (isContainerGone(error)) return false;
    throw error;
  }
}

function listUnusualModes(
  files: ReadonlyMap<string, { readonly mode: number }>,
): ReadonlyMap<string, number> {
  const modes = [...files].map(([path, { mode }]) => [path, mode] as const);
  return new Map(modes.filter(([, mode]) => mode !== PLAIN_MODE));
}
