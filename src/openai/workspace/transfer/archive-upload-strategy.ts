import { rm } from "node:fs/promises";
import { WinkError } from "../../../base/errors.ts";
import { digestTree } from "../../../files/digests/digest-files.ts";
import type { SyncFailure } from "../../../files/sync/sync-failure.ts";
import { createUploadName, findDigest, unpackSnippet } from "../python-snippets.ts";
import { trackUnpacking } from "../track-upload.ts";
import type { FillStep, TransferStrategy } from "../transfer-strategy.ts";
import type { StrategyParts, TransferStep } from "../workspace-connection.ts";
import { BaseArchive, type PendingArchive } from "./base-archive.ts";
import { findContainerChanges, InconsistentChanges } from "./container-changes.ts";
import { incompleteListing, ListedFiles, type PathMapping } from "./listed-files.ts";
import type { PullResult } from "./pull-result.ts";
import { sendFolder } from "./send-folder.ts";
import { type StagedChanges, withStagedChanges } from "./staged-changes.ts";

/** Thrown when the unpacked files did not match their digest, even on the second attempt. */
export class UnpackingFailure extends WinkError {
  override readonly name = "UnpackingFailure";
}

const MAX_ATTEMPTS = 2;

/**
 * Uploads the files as one archive, which Python unpacks as a tree below /mnt/data. The code prints a
 * digest of the files that it wrote, and the upload counts only once that digest is right.
 */
export class ArchiveUploadStrategy implements TransferStrategy {
  readonly writesThrough = false;
  readonly #parts: StrategyParts;
  /** Whether the model is instructed to run the Python. Otherwise a short extra request runs it. */
  readonly #modelUnpacks: boolean;
  readonly #base: BaseArchive;
  #fillCount = 0;
  /** The digest of each file in the container. */
  #knownDigests: ReadonlyMap<string, string> = new Map();
  /** The mode of each file in the container that is not 644. */
  #knownModes: ReadonlyMap<string, number> = new Map();
  /** The digests that the container's interpreter should have stored, or `null`. */
  #rememberedDigests: ReadonlyMap<string, string> | null = null;
  #pendingArchives: PendingArchive[] = [];
  #listing: ListedFiles | null = null;

  /** `modelUnpacks`: the model is instructed to unpack. `archive`: the name of the archive of all files. */
  constructor(
    parts: StrategyParts,
    { modelUnpacks, archive }: { readonly modelUnpacks: boolean; readonly archive: string },
  ) {
    this.#parts = parts;
    this.#modelUnpacks = modelUnpacks;
    this.#base = new BaseArchive(parts, archive);
  }

  /** The id of the archive that is stored at the provider for later containers, or `null`. */
  get storedFileId(): string | null {
    return this.#base.fileId;
  }

  /** Deletes the archive that is stored at the provider. */
  async removeStored(): Promise<void> {
    await this.#base.remove();
  }

  get usesFileList(): boolean {
    return !this.#runsPython;
  }

  async fill(step: FillStep): Promise<number> {
    this.#knownDigests = new Map();
    this.#knownModes = new Map();
    this.#rememberedDigests = null;
    this.#listing = null;
    this.#fillCount += 1;
    step.report("uploading");
    await this.#uploadAll(step);
    const { digestsAfter } = this.#latest;
    if (this.#runsPython) {
      step.report("unpacking");
      await this.#unpackAll(step);
    }
    return digestsAfter.size;
  }

  /**
   * Continues with a container that an earlier process filled. Returns its number of files, or `null` if their
   * digest is not the expected one. `modes` has the mirror's files that are not 644. The `touched` paths were
   * changed locally since.
   */
  async adopt(
    expected: string | null,
    { modes, touched }: AdoptedFiles,
    step: TransferStep,
  ): Promise<number | null> {
    if (!this.#runsPython) return null;
    this.#knownDigests = await this.#parts.mirror.digests(step.signal);
    this.#knownModes = modes;
    this.#fillCount += 1;
    try {
      if (expected !== null) await this.#pullChanges(touched, step, expected);
      return this.#knownDigests.size;
    } catch (error) {
      if (error instanceof InconsistentChanges) return null;
      throw error;
    }
  }

  async push(touched: ReadonlySet<string>, step: TransferStep): Promise<void> {
    if (this.#runsPython) await this.#unpackAll(step);
    await this.#withStagedChanges(touched, (staged) => this.#uploadChanges(staged, step));
  }

  async pull(touched: ReadonlySet<string>, step: TransferStep): Promise<PullResult> {
    // Files that are not unpacked yet are not listed, but they are not deleted either.
    const mapping = this.#pendingArchives.length > 0 ? incompleteListing : undefined;
    if (!this.#runsPython) return await this.#pullListed(touched, step, mapping);
    try {
      return await this.#pullChanges(touched, step);
    } catch (error) {
      if (!(error instanceof InconsistentChanges)) throw error;
      const { logger } = this.#parts.connection;
      logger.warn("could not compare the container's files, using the provider's file list", {
        problem: error.message,
      });
      const pulled = await this.#pullListed(touched, step, incompleteListing);
      const reason = `deletions could not be determined: ${error.message}`;
      return { ...pulled, failed: [...pulled.failed, { path: ".", reason }] };
    }
  }

  async collectNotes(): Promise<readonly string[]> {
    // The section's text already covers the first archive.
    const unrequested = this.#pendingArchives.filter(
      ({ isFull }) => !isFull || this.#fillCount > 1,
    );
    return this.#modelUnpacks ? unrequested.map(createUnpackRequest) : [];
  }

  /** Checks in the output of code whether the model has unpacked the archives. */
  onCodeOutput(printed: string): void {
    if (!this.#modelUnpacks) return;
    const before = this.#pendingArchives;
    this.#pendingArchives = before.filter(({ digest }) => !printed.includes(digest));
    const unpacked = before.filter((archive) => !this.#pendingArchives.includes(archive)).at(-1);
    if (unpacked) this.#base.onUnpacked();
    this.#knownDigests = unpacked?.digestsAfter ?? this.#knownDigests;
    this.#knownModes = unpacked?.modesAfter ?? this.#knownModes;
  }

  /** Whether the model was instructed to unpack an archive and has not done so. */
  get hasPendingArchives(): boolean {
    return this.#pendingArchives.length > 0;
  }

  get #runsPython(): boolean {
    return !this.#modelUnpacks && this.#parts.connection.isBound;
  }

  /** Throws `InconsistentChanges`, before anything is changed, unless the files have the `expected` digest. */
  async #pullChanges(
    touched: ReadonlySet<string>,
    step: TransferStep,
    expected: string | null = null,
  ): Promise<PullResult> {
    const { mirror } = this.#parts;
    const rememberedDigest =
      this.#rememberedDigests === this.#knownDigests ? digestTree(this.#knownDigests) : null;
    this.#rememberedDigests = null;
    const found = await findContainerChanges(
      this.#knownDigests,
      { ...this.#parts, rememberedDigest, knownModes: this.#knownModes },
      step,
    );
    this.#rememberedDigests = found.now;
    try {
      if (expected !== null && digestTree(found.now) !== expected)
        throw new InconsistentChanges("the container has other files than the last ones kept");
      const files = new Map([...found.files].filter(([path]) => !touched.has(path)));
      const deleted = found.deleted.filter((path) => !touched.has(path));
      const modes = new Map([...found.modes].filter(([path]) => !touched.has(path)));
      const isTouched = (folder: string) => touched.has(`${folder}/`);
      const failed = await mirror.applyChanges({ ...found, files, deleted, modes, isTouched });
      this.#knownDigests = revertFailed(found.now, failed, this.#knownDigests);
      this.#knownModes = revertFailed(found.modesNow, failed, this.#knownModes);
      return { failed: [...found.failed, ...failed], isComplete: true };
    } finally {
      await rm(found.stage, { recursive: true, force: true });
    }
  }

  async #pullListed(
    touched: ReadonlySet<string>,
    step: TransferStep,
    mapping?: PathMapping,
  ): Promise<PullResult> {
    this.#listing ??= new ListedFiles(this.#parts);
    const pulled = await this.#listing.pull(this.#knownDigests, touched, step, mapping);
    this.#knownDigests = pulled.now;
    return pulled;
  }

  /** Uploads all files: the stored archive and the differences, or a new archive. */
  async #uploadAll(step: TransferStep): Promise<readonly PendingArchive[]> {
    const different = await this.#base.findDifferences(step.signal);
    const base = different && (await this.#base.attach(step));
    this.#pendingArchives = base ? [base] : [];
    if (base) {
      const changes = await this.#withStagedChanges(different, (staged) =>
        this.#uploadStaged(staged, step),
      );
      if (changes) this.#pendingArchives.push(changes);
    } else {
      this.#pendingArchives = [await this.#base.upload(step)];
    }
    return this.#pendingArchives;
  }

  async #unpackAll(step: TransferStep): Promise<void> {
    if (this.#pendingArchives.length === 0) return;
    await this.#unpack(this.#pendingArchives, step, async () => {
      await this.#base.onMismatch();
      return await this.#uploadAll(step);
    });
    this.#base.onUnpacked();
    const { digestsAfter, modesAfter } = this.#latest; // it may be a second upload
    this.#knownDigests = digestsAfter;
    this.#knownModes = modesAfter;
    this.#rememberedDigests = this.#knownDigests;
    this.#pendingArchives = [];
  }

  /** Unpacks archives, in at most two attempts. An attempt deletes them, so they are uploaded again. */
  async #unpack(
    first: readonly PendingArchive[],
    step: TransferStep,
    uploadAgain: () => Promise<readonly PendingArchive[]>,
  ): Promise<void> {
    let pending = first;
    let lastOutput = "";
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const { isFull = true } = pending[0] ?? {};
      const names = pending.map(({ archive }) => archive);
      const bytes = pending.reduce((sum, one) => sum + one.bytes, 0);
      const code = unpackSnippet(names, isFull ? "all" : "also");
      const output = await trackUnpacking(this.#parts.mirror.progress, bytes, () =>
        this.#parts.connection.runPython(code, step),
      );
      if (findDigest(output) === computeDigest(pending)) return;
      lastOutput = output.trim().slice(-300);
      if (attempt < MAX_ATTEMPTS) pending = await uploadAgain();
    }
    const problem = `the digest of the unpacked files was wrong ${MAX_ATTEMPTS} times`;
    throw new UnpackingFailure(
      lastOutput === "" ? problem : `${problem}; the last output was: ${lastOutput}`,
    );
  }

  /** The digests and modes of the files in the container once all uploaded archives are unpacked. */
  get #latest(): Pick<PendingArchive, "digestsAfter" | "modesAfter"> {
    const known = { digestsAfter: this.#knownDigests, modesAfter: this.#knownModes };
    return this.#pendingArchives.at(-1) ?? known;
  }

  /** Stages the files that differ from those in the container, and runs `work` if there are any. */
  async #withStagedChanges<Result>(
    touched: ReadonlySet<string>,
    work: (staged: StagedChanges) => Promise<Result>,
  ): Promise<Result | null> {
    return await withStagedChanges(this.#parts.mirror, { touched, ...this.#latest }, work);
  }

  async #uploadStaged(staged: StagedChanges, step: TransferStep): Promise<PendingArchive> {
    const { stage, digestsAfter, sent } = staged;
    const { connection, mirror } = this.#parts;
    const { modesAfter: before } = this.#latest;
    const archive = createUploadName("tar");
    const { isBound: isReported } = connection;
    const options = { name: archive, mirror, isReported, signal: step.signal };
    const { modes, bytes } = await sendFolder(stage, options, async (file, digest) => {
      await connection.upload({ file, digest, contents: () => sent, mirror }, step);
    });
    const isKept = ([path]: readonly [string, number]) => digestsAfter.has(path) && !sent.has(path);
    const modesAfter = new Map([...[...before].filter(isKept), ...modes]);
    const digest = digestTree(sent);
    return { archive, digest, digestsAfter, modesAfter, isFull: false, bytes };
  }

  async #uploadChanges(staged: StagedChanges, step: TransferStep): Promise<void> {
    const pending = await this.#uploadStaged(staged, step);
    if (!this.#runsPython) {
      this.#pendingArchives.push(pending);
      return;
    }
    const isRemembered = this.#rememberedDigests === this.#knownDigests;
    this.#rememberedDigests = null;
    await this.#unpack([pending], step, async () => [await this.#uploadStaged(staged, step)]);
    this.#knownDigests = staged.digestsAfter;
    this.#knownModes = pending.modesAfter;
    if (isRemembered) this.#rememberedDigests = staged.digestsAfter;
  }
}

/** The mirror's files when a container is adopted. */
interface AdoptedFiles {
  readonly modes: ReadonlyMap<string, number>;
  readonly touched: ReadonlySet<string>;
}

/** The digest that the code prints which unpacks these archives together. */
function computeDigest(pending: readonly PendingArchive[]): string | undefined {
  const last = pending.at(-1);
  return last && pending.length > 1 ? digestTree(last.digestsAfter) : last?.digest;
}

/** Keeps the earlier state of files that could not be applied locally, so that the next pull finds them. */
function revertFailed<State>(
  now: ReadonlyMap<string, State>,
  failed: readonly SyncFailure[],
  before: ReadonlyMap<string, State>,
): ReadonlyMap<string, State> {
  if (failed.length === 0) return now;
  const known = new Map(now);
  for (const { path } of failed) {
    const state = before.get(path);
    if (state === undefined) known.delete(path);
    else known.set(path, state);
  }
  return known;
}

function createUnpackRequest({ archive }: PendingArchive): string {
  return `Files of the workspace were changed. Before you continue, run this Python once, unmodified:\n\n\`\`\`python\n${unpackSnippet(archive)}\n\`\`\``;
}
