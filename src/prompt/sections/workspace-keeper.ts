import type { Baseline } from "../../files/digests/baseline.ts";
import { digestTree } from "../../files/digests/digest-files.ts";
import { isSameTree, KeptFolder } from "../../files/kept/kept-folder.ts";
import { parseKeptTree, toKeptFile, toKeptTree } from "../../files/kept/kept-tree.ts";
import type { SyncFailure } from "../../files/sync/sync-failure.ts";
import { isSameState, type TreeState } from "../../files/tree-state.ts";
import { findFilesSource } from "./files-source.ts";
import { findKeptWorkspace, type KeeperOptions } from "./find-kept-mounts.ts";
import { type KeptWorkspace, type WorkspaceManifest, workspaceSlice } from "./workspace-slice.ts";

/** The container of a workspace when it was last kept, by this process or an earlier one. */
export interface EarlierContainer {
  readonly containerId: string;
  /** The digest of its files. */
  readonly digest: string;
  /** Whether code ran in it whose changes were not downloaded. */
  readonly hasUnfetchedChanges: boolean;
}

/** The other content of a manifest, without the files. */
export interface KeepOptions {
  /** The files as they were mounted. They are recorded once. */
  readonly mounted: TreeState;
  /** The container that has the files. @default none */
  readonly containerId?: string | null | undefined;
  /** Whether code ran in the container whose changes were not downloaded. @default false */
  readonly hasUnfetchedChanges?: boolean | undefined;
  /** Whether no file has changed since `keep` or `store` was last called, so that none is read. @default false */
  readonly isUnchanged?: boolean | undefined;
}

/**
 * Keeps the files of a workspace so that another process can continue with them: in `persistDir`, and their digests
 * in a stored session. The session decides which files belong to it: if a process dies between the two, the files
 * are those of the session's last manifest.
 */
export class WorkspaceKeeper {
  readonly #options: KeeperOptions;
  readonly #folder: KeptFolder;
  /** The session's knowledge when this process started with the mounts. It does not count any more. */
  #outdated: KeptWorkspace | null = null;
  /** The last manifest, which the session may not have recorded. */
  #last: WorkspaceManifest | null = null;
  /** The files as they are kept now. */
  #tree: TreeState | null = null;
  #earlier: EarlierContainer | null = null;
  #lost: readonly SyncFailure[] = [];
  /** Whether the files were restored, or came from the mounts. */
  #isRestored = false;

  constructor(options: KeeperOptions) {
    this.#options = options;
    const { session, persistDir } = options;
    const canRemove = (digest: string) => findFilesSource(session)?.isStored(digest) ?? true;
    this.#folder = new KeptFolder(persistDir, { canRemove });
  }

  /** Whether there is anywhere to keep the files. */
  get isActive(): boolean {
    return this.#options.session.isStored || this.#folder.path !== null;
  }

  /** Whether the files themselves are kept, so that an interrupted call can be repeated on them. */
  get keepsFiles(): boolean {
    return this.#folder.path !== null;
  }

  /** The files as they are kept now. */
  get tree(): TreeState | null {
    return this.#tree;
  }

  /** Returns the files that an earlier process had and that could not be restored, once. */
  takeLost(): readonly SyncFailure[] {
    const lost = this.#lost;
    this.#lost = [];
    return lost;
  }

  /** The files as they were mounted in the process that began, if only the session knows them. */
  get mounted(): TreeState | null {
    return parseKeptTree(this.#findKnown()?.mounted);
  }

  /**
   * Fills an empty folder with the kept files. Returns the files as they were mounted, or `null` if nothing is
   * kept. `originals` is a new file for the text of the mounted files.
   */
  async restore(folder: string, originals: string): Promise<Baseline | null> {
    const { session, section } = this.#options;
    if (session.isStored) session.register(workspaceSlice);
    const source = findFilesSource(session);
    source?.useFolder(section, this.#folder.path);
    await this.#folder.open();
    if (this.#folder.path !== null) await source?.fillFolder(section, this.#folder.path);
    const known = this.#findKnown();
    if (known && known.containerId !== null) {
      const { containerId, digest, hasUnfetchedChanges } = known;
      this.#earlier = { containerId, digest, hasUnfetchedChanges };
    }
    const mounted = this.#folder.read("mounted");
    const tree = parseKeptTree(known) ?? this.#folder.read("manifest");
    if (!mounted || !tree) return null; // nothing was kept, or the first time did not finish
    const { baseline, lost } = await this.#folder.restore({ folder, originals, mounted, tree });
    this.#lost = lost;
    this.#isRestored = true;
    return baseline;
  }

  /** The container of an earlier process, until it is used again or given up; `null` if there is none. */
  get earlierContainer(): EarlierContainer | null {
    return this.#earlier;
  }

  /** Called when the container of an earlier process is used again, and the files are its files. */
  continueEarlier(): void {
    this.#earlier = null;
    this.#isRestored = true;
    this.#lost = [];
  }

  /** Called when the container of an earlier process cannot be used. */
  giveUpEarlier(): void {
    this.#earlier = null;
  }

  /**
   * Keeps the files below `folder`. Returns what the session must record, or `null` if nothing has changed. Throws
   * `FilesystemError` if that is impossible; files kept earlier stay.
   */
  async keep(folder: string, options: KeepOptions): Promise<WorkspaceManifest | null> {
    const { mounted, containerId = null, hasUnfetchedChanges = false, isUnchanged } = options;
    const tree = (isUnchanged && this.#tree) || (await this.store(folder, mounted));
    if (!this.#options.session.isStored) return null;
    const known = this.#findKnown();
    const before = known === this.#outdated ? null : parseKeptTree(known);
    const isSameContainer =
      known?.containerId === containerId && known.hasUnfetchedChanges === hasUnfetchedChanges;
    if (before && isSameContainer && isSameTree(before, tree)) return null;
    this.#last = {
      section: this.#options.section,
      ...describeChanges(before, tree, mounted),
      containerId,
      ...(hasUnfetchedChanges && { hasUnfetchedChanges }),
    };
    return this.#last;
  }

  /** Whether the session has recorded the last manifest that `keep` returned. */
  get isRecorded(): boolean {
    if (this.#last === null) return true;
    const { digest, containerId, hasUnfetchedChanges = false } = this.#last;
    const known = this.#findKnown();
    return (
      known?.digest === digest &&
      known.containerId === containerId &&
      known.hasUnfetchedChanges === hasUnfetchedChanges
    );
  }

  /** Keeps the files below `folder`, without a record for the session: the next `keep` returns it. */
  async store(folder: string, mounted: TreeState): Promise<TreeState> {
    const isFirst = this.#tree === null;
    const { tree } = await this.#folder.keep(folder);
    if (isFirst && !this.#isRestored) await this.#startAnew(tree, mounted);
    this.#tree = tree;
    return tree;
  }

  /** Ends the use of `persistDir`. The kept files stay. */
  async close(): Promise<void> {
    await this.#folder.close();
  }

  /** Records the mounts as the beginning. An earlier process's files are compared with them. */
  async #startAnew(tree: TreeState, mounted: TreeState): Promise<void> {
    await this.#folder.keepMounted(mounted);
    this.#outdated = this.#findKnown(); // the next manifest is complete
    const earlier = parseKeptTree(this.#outdated);
    if (!earlier) return;
    const lost = [...earlier.files].filter(
      ([path, state]) => !isSameState(tree.files.get(path), state),
    );
    const reason = "it was changed in the workspace and not kept";
    this.#lost = lost.map(([path]) => ({ path, reason }));
  }

  #findKnown(): KeptWorkspace | null {
    return findKeptWorkspace(this.#options);
  }
}

/** Describes a tree as changes, or completely without an earlier one. */
function describeChanges(
  before: TreeState | null,
  now: TreeState,
  mounted: TreeState,
): Omit<WorkspaceManifest, "section" | "containerId" | "hasUnfetchedChanges"> {
  const digest = digestTree(new Map([...now.files].map(([path, state]) => [path, state.digest])));
  if (!before) {
    const isChanged = !isSameTree(mounted, now);
    const complete = { isComplete: true, ...toKeptTree(now), deleted: [], digest };
    return isChanged ? { ...complete, mounted: toKeptTree(mounted) } : complete;
  }
  const changed = [...now.files].filter(
    ([path, state]) => !isSameState(before.files.get(path), state),
  );
  const files = Object.fromEntries(changed.map(([path, state]) => [path, toKeptFile(state)]));
  const deleted = [...before.files.keys()].filter((path) => !now.files.has(path));
  const hasSameFolders = isSameTree({ ...before, files: NO_FILES }, { ...now, files: NO_FILES });
  const folders = hasSameFolders ? {} : { folders: Object.fromEntries(now.folders) };
  return { isComplete: false, files, deleted, ...folders, digest };
}

const NO_FILES: TreeState["files"] = new Map();
