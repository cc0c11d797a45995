import type { FileState, TreeState } from "../tree-state.ts";
import type { ConflictsFolder } from "./conflicts-folder.ts";
import type { ConflictPolicy, SyncConflict } from "./sync-conflict.ts";
import type { Expectation, ExpectedFile, FoundConflict, SyncGuard } from "./sync-guard.ts";

/** What a sync wrote at a path: the workspace's state then, and the host's permission bits. `null` if it was removed. */
export type WrittenFile = { readonly state: FileState; readonly mode: number } | null;

/** A mounted host file. */
export interface HostSource {
  /** The permission bits when it was mounted. */
  readonly mode: number;
  /** Whether it was reached through a symlink. */
  readonly isLink: boolean;
}

/** The guard's record of a workspace and its destination. */
export interface HostGuardOptions {
  /** The workspace's files as they were mounted. */
  readonly mounted: TreeState;
  /** The workspace's files now. */
  readonly now: TreeState;
  /** Returns the mounted host file that is at the same place in the destination, or `null`. */
  findHostSource(path: string): HostSource | null;
  /** What earlier syncs wrote to the destination. The guard adds what this one writes. */
  readonly written: Map<string, WrittenFile>;
  readonly policy: ConflictPolicy;
  readonly folder: ConflictsFolder;
}

/**
 * Protects the host's files. A file may be replaced or removed if it is the version that was mounted, or that an
 * earlier sync wrote.
 */
export class HostGuard implements SyncGuard {
  readonly #options: HostGuardOptions;
  readonly #conflicts = new Map<string, SyncConflict>();

  constructor(options: HostGuardOptions) {
    this.#options = options;
  }

  /** The conflicts so far, one per path, in the order of their paths. */
  get conflicts(): readonly SyncConflict[] {
    return [...this.#conflicts.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
  }

  expect(path: string): Expectation | "anything" {
    const { mounted, written, policy } = this.#options;
    if (policy === "overwrite") return "anything";
    const source = this.#options.findHostSource(path);
    const mayBeLink = source === null || source.isLink;
    const last = written.get(path);
    if (last !== undefined) {
      const file = last && toExpectedFile(last.state, last.mode);
      return { file, mayBeMissing: file === null, mayBeLink };
    }
    const state = mounted.files.get(path);
    const file = state ? toExpectedFile(state, source?.mode ?? null) : null;
    return { file, mayBeMissing: source === null, mayBeLink };
  }

  findState(path: string): FileState | null {
    return this.#options.now.files.get(path) ?? null;
  }

  findMountedMode(path: string): number | null {
    return this.#findLastState(path)?.mode ?? null;
  }

  isModeOnly(path: string): boolean {
    const { written } = this.#options;
    const isKnownThere = written.has(path) || this.#options.findHostSource(path) !== null;
    return isKnownThere && this.#findLastState(path)?.digest === this.findState(path)?.digest;
  }

  async onConflict({ path, problem, file, writeBeside }: FoundConflict): Promise<void> {
    const { policy, folder } = this.#options;
    if (file === null) {
      const reason = `${problem} The host's version stays.`;
      // A file that becomes a folder is removed and created, but it is one conflict.
      if (!this.#conflicts.has(path)) this.#conflicts.set(path, { path, reason });
      return;
    }
    const beside = policy === "both" ? await writeBeside(file) : null;
    if (beside === null) await folder.save(path, file);
    const where = beside === null ? "in conflictsDir" : JSON.stringify(beside);
    const reason = `${problem} The host's version stays, and the workspace's version is ${where}.`;
    this.#conflicts.set(path, { path, reason });
  }

  onSynced(path: string, mode: number | null): void {
    const { written } = this.#options;
    const state = this.findState(path);
    written.set(path, state !== null && mode !== null ? { state, mode } : null);
  }

  /** The workspace's state when the host's file was last known to be the same. */
  #findLastState(path: string): FileState | undefined {
    const { written, mounted } = this.#options;
    return written.get(path)?.state ?? mounted.files.get(path);
  }
}

function toExpectedFile({ digest, bytes }: FileState, mode: number | null): ExpectedFile {
  return { digest, bytes, mode };
}
