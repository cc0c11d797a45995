import { copyFile, link, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { WinkError } from "../../base/errors.ts";
import { PLAIN_MODE } from "../../files/archive/tar/write-tar.ts";
import { digestTree } from "../../files/digests/digest-files.ts";
import { listAncestors } from "../../files/path.ts";
import type { SyncFailure } from "../../files/sync/sync-failure.ts";
import { findContainerChanges, InconsistentChanges } from "./container-changes.ts";
import { incompleteListing, ListedFiles, type PathMapping } from "./listed-files.ts";
import { hashFile } from "./mirror.ts";
import { createUploadName, findDigest, REMOVED_FILE, unpackSnippet } from "./python-snippets.ts";
import type { FillStep, PullResult, StrategyParts, TransferStrategy } from "./transfer-strategy.ts";
import type { TransferStep } from "./workspace-connection.ts";

/** Thrown when the unpacked files did not match their digest, even on the second attempt. */
export class UnpackingFailure extends WinkError {
  override readonly name = "UnpackingFailure";
}

/** An archive that was uploaded to the container and is not yet unpacked. */
interface PendingArchive {
  readonly archive: string;
  readonly digest: string;
  /** The digest of every file once the archive is unpacked. */
  readonly digestsAfter: ReadonlyMap<string, string>;
  /** The mode of every file that is not 644, once the archive is unpacked. */
  readonly modesAfter: ReadonlyMap<string, number>;
  /** Whether it contains all files, rather than changes. */
  readonly isFull: boolean;
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
  readonly #archive: string;
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
    this.#archive = archive;
  }

  get usesFileList(): boolean {
    return !this.#runsPython;
  }

  async fill(step: FillStep): Promise<number> {
    this.#pendingArchives = [];
    this.#knownDigests = new Map();
    this.#knownModes = new Map();
    this.#rememberedDigests = null;
    this.#listing = null;
    this.#fillCount += 1;
    step.report("uploading");
    const { digestsAfter } = await this.#uploadAll(step);
    if (this.#runsPython) {
      step.report("unpacking");
      await this.#unpackAll(step);
    }
    return digestsAfter.size;
  }

  async push(touched: ReadonlySet<string>, step: TransferStep): Promise<void> {
    if (this.#runsPython) await this.#unpackAll(step);
    const stage = await this.#parts.mirror.createStage();
    try {
      const staged = await this.#stageChanges(touched, stage);
      if (staged) await this.#uploadChanges(stage, staged, step);
    } finally {
      await rm(stage, { recursive: true, force: true });
    }
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
    this.#knownDigests = unpacked?.digestsAfter ?? this.#knownDigests;
    this.#knownModes = unpacked?.modesAfter ?? this.#knownModes;
  }

  /** Whether the model was instructed to unpack an archive and has not done so. */
  get hasPendingArchives(): boolean {
    return this.#pendingArchives.length > 0;
  }

  get #runsPython(): boolean {
    return !this.#modelUnpacks && this.#parts.connection.canRunPython;
  }

  async #pullChanges(touched: ReadonlySet<string>, step: TransferStep): Promise<PullResult> {
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

  async #uploadAll(step: TransferStep): Promise<PendingArchive> {
    const { mirror, connection } = this.#parts;
    const [digestsAfter, modesAfter] = await Promise.all([
      mirror.digests(step.signal),
      connection.uploadArchive(mirror.root, this.#archive, mirror, step),
    ]);
    const digest = digestTree(digestsAfter);
    const all = { archive: this.#archive, digest, digestsAfter, modesAfter, isFull: true };
    this.#pendingArchives = [all];
    return all;
  }

  async #unpackAll(step: TransferStep): Promise<void> {
    const [all] = this.#pendingArchives;
    if (!all) return;
    await this.#unpack(all, step, () => this.#uploadAll(step));
    const { digestsAfter, modesAfter } = this.#pendingArchives[0] ?? all; // it may be a second upload
    this.#knownDigests = digestsAfter;
    this.#knownModes = modesAfter;
    this.#rememberedDigests = this.#knownDigests;
    this.#pendingArchives = [];
  }

  /** Unpacks an archive, in at most two attempts. An attempt deletes the archive, so it is uploaded again. */
  async #unpack(
    first: PendingArchive,
    step: TransferStep,
    uploadAgain: () => Promise<PendingArchive>,
  ): Promise<void> {
    let pending = first;
    let lastOutput = "";
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const code = unpackSnippet(pending.archive, pending.isFull ? "all" : "also");
      const output = await this.#parts.connection.runPython(code, step);
      if (findDigest(output) === pending.digest) return;
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

  /** Stages only the files that differ from those in the container, or returns `null` if none does. */
  async #stageChanges(touched: ReadonlySet<string>, stage: string): Promise<StagedChanges | null> {
    const { mirror } = this.#parts;
    const { digestsAfter: known, modesAfter: modes } = this.#latest;
    const digestsAfter = new Map(known);
    const sent = new Map<string, string>();
    const removed: string[] = [];
    for (const touch of touched) {
      const isFolder = touch.endsWith("/");
      const path = isFolder ? touch.slice(0, -1) : touch;
      const found = await mirror.computeDigest(path);
      const mode = await mirror.readMode(path);
      const hasSameMode = mode === null || mode === (modes.get(path) ?? PLAIN_MODE);
      const isSame = found === (known.get(path) ?? null) && hasSameMode;
      if (isSame && (found !== null || !isFolder)) continue;
      const digest = await this.#stageFile(path, found, stage);
      digestsAfter.delete(path);
      if (digest !== null && digest !== "folder") {
        digestsAfter.set(path, digest);
        sent.set(path, digest);
      }
      // Deleted, or replaced: a file by a folder, or an empty folder by a file.
      if (digest === null || (digest === "folder") === known.has(path)) removed.push(path);
      if (digest === null) removed.push(...(await this.#findRemovedFolders(path)));
    }
    // The contents of a folder come before the folder.
    removed.sort().reverse();
    if (removed.length === 0 && (await readdir(stage)).length === 0) return null;
    await writeFile(join(stage, REMOVED_FILE), JSON.stringify(removed), { mode: 0o644 });
    return { digestsAfter, sent };
  }

  /** Stages a file and returns the digest of the staged copy, which later local writes do not affect. */
  async #stageFile(path: string, found: string | "folder" | null, stage: string) {
    const at = join(stage, path);
    if (found === "folder") await mkdir(at, { recursive: true });
    if (found === null || found === "folder") return found;
    await linkOrCopy(join(this.#parts.mirror.root, path), at);
    return await hashFile(at);
  }

  /** Finds parent folders that were removed too. A rollback removes the folders that a write created. */
  async #findRemovedFolders(path: string): Promise<readonly string[]> {
    const gone: string[] = [];
    for (const folder of listAncestors(path)) {
      if ((await this.#parts.mirror.computeDigest(folder)) === null) gone.push(folder);
    }
    return gone;
  }

  async #uploadChanges(
    stage: string,
    { digestsAfter, sent }: StagedChanges,
    step: TransferStep,
  ): Promise<void> {
    const { modesAfter: modes } = this.#latest;
    const upload = async (): Promise<PendingArchive> => {
      const archive = createUploadName("tar");
      const { connection, mirror } = this.#parts;
      const staged = await connection.uploadArchive(stage, archive, mirror, step);
      const isKept = ([path]: readonly [string, number]) =>
        digestsAfter.has(path) && !sent.has(path);
      const modesAfter = new Map([...[...modes].filter(isKept), ...staged]);
      return { archive, digest: digestTree(sent), digestsAfter, modesAfter, isFull: false };
    };
    const pending = await upload();
    if (this.#runsPython) {
      const isRemembered = this.#rememberedDigests === this.#knownDigests;
      this.#rememberedDigests = null;
      await this.#unpack(pending, step, upload);
      this.#knownDigests = digestsAfter;
      this.#knownModes = pending.modesAfter;
      if (isRemembered) this.#rememberedDigests = digestsAfter;
    } else {
      this.#pendingArchives.push(pending);
    }
  }
}

/** The local changes that are staged for an upload. */
interface StagedChanges {
  /** The digest of every file once the changes are in the container. */
  readonly digestsAfter: ReadonlyMap<string, string>;
  /** The digests of the staged files. */
  readonly sent: ReadonlyMap<string, string>;
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

/** Hard-links a file, or copies it. A link is safe, because the mirror never changes files in place. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await link(from, to).catch(() => copyFile(from, to));
}

function createUnpackRequest({ archive }: PendingArchive): string {
  return `Files of the workspace were changed. Before you continue, run this Python once, unmodified:\n\n\`\`\`python\n${unpackSnippet(archive)}\n\`\`\``;
}
