import { copyFile, link, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { WinkError } from "../../base/errors.ts";
import { treeDigest } from "../../files/digests/file-digests.ts";
import { ancestorsOf } from "../../files/path.ts";
import type { SyncFailure } from "../../files/sync/sync-reason.ts";
import { ListedFiles, type Places, whatIsListed } from "./listed-files.ts";
import { digestAt } from "./mirror.ts";
import type { FillStep, Placement, PlacementParts, Pulled } from "./placement.ts";
import { digestIn, ownName, REMOVED, unpackSnippet } from "./python-snippets.ts";
import { SurveyProblem, survey } from "./survey.ts";
import type { TransferStep } from "./workspace-connection.ts";

/** A tree that would not be unpacked as it was packed, not even the second time. */
export class UnpackingProblem extends WinkError {
  override readonly name = "UnpackingProblem";
}

/** An archive that is in the container and not yet unpacked there. */
interface Waiting {
  readonly archive: string;
  readonly digest: string;
  /** What the tree holds once it is unpacked. */
  readonly then: ReadonlyMap<string, string>;
  readonly isAll: boolean;
}

const TRIES = 2;

/**
 * The files as a tree below /mnt/data. They go up as one archive and are unpacked there by a piece
 * of Python, which prints a digest of what it wrote: until that is right, nothing counts as done.
 */
export class TreePlacement implements Placement {
  readonly writesThrough = false;
  readonly #parts: PlacementParts;
  /** Whether the model is asked to run the Python; else a short request of ours does. */
  readonly #asks: boolean;
  readonly #archive: string;
  #fills = 0;
  /** What the container's tree holds, by path. */
  #known: ReadonlyMap<string, string> = new Map();
  /** The same as `#known`, if the container's interpreter should remember that. */
  #remembered: ReadonlyMap<string, string> | null = null;
  #waiting: Waiting[] = [];
  #listed: ListedFiles | null = null;

  /** `asks`: the model does the unpacking, when it is told to; `archive`: how all files go up. */
  constructor(
    parts: PlacementParts,
    { asks, archive }: { readonly asks: boolean; readonly archive: string },
  ) {
    this.#parts = parts;
    this.#asks = asks;
    this.#archive = archive;
  }

  async fill(step: FillStep): Promise<number> {
    this.#waiting = [];
    this.#known = new Map();
    this.#remembered = null;
    this.#listed = null;
    this.#fills += 1;
    step.report("uploading");
    const { then } = await this.#uploadAll(step);
    if (this.#runsPython) {
      step.report("unpacking");
      await this.#unpackAll(step);
    }
    return then.size;
  }

  async push(touched: ReadonlySet<string>, step: TransferStep): Promise<void> {
    if (this.#runsPython) await this.#unpackAll(step);
    const stage = await this.#parts.mirror.stage();
    try {
      const then = await this.#stageChanges(touched, stage);
      if (then) await this.#send(stage, then, step);
    } finally {
      await rm(stage, { recursive: true, force: true });
    }
  }

  async pull(touched: ReadonlySet<string>, step: TransferStep): Promise<Pulled> {
    // What was not unpacked is not listed, and not gone for that.
    const places = this.#waiting.length > 0 ? whatIsListed : undefined;
    if (!this.#runsPython) return await this.#pullListed(touched, step, places);
    try {
      return await this.#survey(touched, step);
    } catch (error) {
      if (!(error instanceof SurveyProblem)) throw error;
      const { logger } = this.#parts.connection;
      logger.warn("a survey failed, the list of files is gone by", { problem: error.message });
      const pulled = await this.#pullListed(touched, step, whatIsListed);
      const reason = `what code deleted could not be told: ${error.message}`;
      return { ...pulled, failed: [...pulled.failed, { path: ".", reason }] };
    }
  }

  async notes(): Promise<readonly string[]> {
    // The first archive is what the section's own text speaks of.
    const asked = this.#waiting.filter(({ isAll }) => !isAll || this.#fills > 1);
    return this.#asks ? asked.map(requestTo) : [];
  }

  /** The model was asked to unpack: what it printed says whether it did. */
  heard(printed: string): void {
    if (!this.#asks) return;
    const before = this.#waiting;
    this.#waiting = before.filter(({ digest }) => !printed.includes(digest));
    this.#known = before.filter((one) => !this.#waiting.includes(one)).at(-1)?.then ?? this.#known;
  }

  /** What the model has not unpacked although it was asked to. */
  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  get #runsPython(): boolean {
    return !this.#asks && this.#parts.connection.canRunPython;
  }

  async #survey(touched: ReadonlySet<string>, step: TransferStep): Promise<Pulled> {
    const { mirror } = this.#parts;
    const remembered = this.#remembered === this.#known ? treeDigest(this.#known) : null;
    this.#remembered = null;
    const found = await survey(this.#known, { ...this.#parts, remembered }, step);
    this.#remembered = found.now;
    try {
      const files = new Map([...found.files].filter(([path]) => !touched.has(path)));
      const deleted = found.deleted.filter((path) => !touched.has(path));
      const isTouched = (folder: string) => touched.has(`${folder}/`);
      const failed = await mirror.apply({ ...found, files, deleted, isTouched });
      this.#known = without(found.now, failed, this.#known);
      return { failed: [...found.failed, ...failed], isWhole: true };
    } finally {
      await rm(found.stage, { recursive: true, force: true });
    }
  }

  async #pullListed(
    touched: ReadonlySet<string>,
    step: TransferStep,
    places?: Places,
  ): Promise<Pulled> {
    this.#listed ??= new ListedFiles(this.#parts);
    const pulled = await this.#listed.pull(this.#known, touched, step, places);
    this.#known = pulled.now;
    return pulled;
  }

  async #uploadAll(step: TransferStep): Promise<Waiting> {
    const { mirror, connection } = this.#parts;
    const [then] = await Promise.all([
      mirror.digests(step.signal),
      connection.uploadArchive(mirror.root, this.#archive, mirror, step),
    ]);
    const all = { archive: this.#archive, digest: treeDigest(then), then, isAll: true };
    this.#waiting = [all];
    return all;
  }

  async #unpackAll(step: TransferStep): Promise<void> {
    const [all] = this.#waiting;
    if (!all) return;
    await this.#unpack(all, step, () => this.#uploadAll(step));
    this.#known = this.#waiting[0]?.then ?? all.then;
    this.#remembered = this.#known;
    this.#waiting = [];
  }

  /** Twice at most: the archive is gone once it was tried, so that it goes up again. */
  async #unpack(first: Waiting, step: TransferStep, again: () => Promise<Waiting>): Promise<void> {
    let waiting = first;
    let said = "";
    for (let tries = 1; tries <= TRIES; tries++) {
      const code = unpackSnippet(waiting.archive, waiting.isAll ? "all" : "also");
      const output = await this.#parts.connection.runPython(code, step);
      if (digestIn(output) === waiting.digest) return;
      said = output.trim().slice(-300);
      if (tries < TRIES) waiting = await again();
    }
    const problem = `the digest of what was unpacked was wrong ${TRIES} times`;
    throw new UnpackingProblem(said === "" ? problem : `${problem}; the last output was: ${said}`);
  }

  /** Only what differs from what is there; `null` if nothing does. */
  async #stageChanges(
    touched: ReadonlySet<string>,
    stage: string,
  ): Promise<ReadonlyMap<string, string> | null> {
    const { mirror } = this.#parts;
    const known = this.#waiting.at(-1)?.then ?? this.#known;
    const then = new Map(known);
    const removed: string[] = [];
    for (const touch of touched) {
      const isFolder = touch.endsWith("/");
      const path = isFolder ? touch.slice(0, -1) : touch;
      const found = await mirror.digestOf(path);
      const isSame = found === (known.get(path) ?? null);
      if (isSame && (found !== null || !isFolder)) continue;
      const digest = await this.#staged(path, found, stage);
      if (digest === null || digest === "folder") then.delete(path);
      else then.set(path, digest);
      // Gone, or in the way: a file where a folder is to be, or an empty folder where a file is.
      if (digest === null || (digest === "folder") === known.has(path)) removed.push(path);
      if (digest === null) removed.push(...(await this.#foldersGone(path)));
    }
    // What is in a folder before the folder.
    removed.sort().reverse();
    if (removed.length === 0 && (await readdir(stage)).length === 0) return null;
    await writeFile(join(stage, REMOVED), JSON.stringify(removed));
    return then;
  }

  /** What was found is put where it is packed from; the digest is of that, whatever happens here. */
  async #staged(path: string, found: string | "folder" | null, stage: string) {
    const at = join(stage, path);
    if (found === "folder") await mkdir(at, { recursive: true });
    if (found === null || found === "folder") return found;
    await copied(join(this.#parts.mirror.root, path), at);
    return await digestAt(at);
  }

  /** Folders that went with what was in them: a rollback takes away those that a write made. */
  async #foldersGone(path: string): Promise<readonly string[]> {
    const gone: string[] = [];
    for (const folder of ancestorsOf(path)) {
      if ((await this.#parts.mirror.digestOf(folder)) === null) gone.push(folder);
    }
    return gone;
  }

  async #send(stage: string, then: ReadonlyMap<string, string>, step: TransferStep) {
    const known = this.#waiting.at(-1)?.then ?? this.#known;
    const sent = new Map([...then].filter(([path, digest]) => known.get(path) !== digest));
    const upload = async (): Promise<Waiting> => {
      const archive = ownName("tar");
      const { connection, mirror } = this.#parts;
      await connection.uploadArchive(stage, archive, mirror, step);
      return { archive, digest: treeDigest(sent), then, isAll: false };
    };
    const waiting = await upload();
    if (this.#runsPython) {
      const isRemembered = this.#remembered === this.#known;
      this.#remembered = null;
      await this.#unpack(waiting, step, upload);
      this.#known = then;
      if (isRemembered) this.#remembered = then;
    } else {
      this.#waiting.push(waiting);
    }
  }
}

/** What could not be taken over here counts as not seen: the next survey finds it again. */
function without(
  now: ReadonlyMap<string, string>,
  failed: readonly SyncFailure[],
  before: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  if (failed.length === 0) return now;
  const known = new Map(now);
  for (const { path } of failed) {
    const digest = before.get(path);
    if (digest === undefined) known.delete(path);
    else known.set(path, digest);
  }
  return known;
}

/** A second name for the bytes is enough: the mirror's files are never changed in place. */
async function copied(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await link(from, to).catch(() => copyFile(from, to));
}

function requestTo({ archive }: Waiting): string {
  return `Files of the workspace were changed. Before you go on, run this Python once, exactly as it is:\n\n\`\`\`python\n${unpackSnippet(archive)}\n\`\`\``;
}
