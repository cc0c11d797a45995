import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { getErrorMessage, WinkError } from "../../../base/errors.ts";
import { isPlainObject } from "../../../base/freeze.ts";
import { parseJson, readNumber, readRecord, readString, readStrings } from "../../../base/json.ts";
import { PLAIN_MODE } from "../../../files/archive/tar/write-tar.ts";
import { unpackArchive } from "../../../files/archive/unpack-archive.ts";
import { digestTree } from "../../../files/digests/digest-files.ts";
import { normalizePath } from "../../../files/path.ts";
import type { SyncFailure } from "../../../files/sync/sync-failure.ts";
import type { ContainerCalls } from "../../http/container-calls.ts";
import type { FoundChanges } from "../mirror.ts";
import {
  changesSnippet,
  createUploadName,
  findDigest,
  isMemoryMissing,
  REPORT_FILE,
} from "../python-snippets.ts";
import { trackDownloads } from "../track-upload.ts";
import type { StrategyParts, TransferStep } from "../workspace-connection.ts";

/** The changes found in a container, with the new bytes in local files. */
export interface ContainerChanges extends FoundChanges {
  /** The digest of every file in the container, which its interpreter has stored too. */
  readonly now: ReadonlyMap<string, string>;
  /** The mode of every file in the container that is not 644. */
  readonly modesNow: ReadonlyMap<string, number>;
  /** The modes that code changed. */
  readonly modes: ReadonlyMap<string, number>;
  readonly failed: readonly SyncFailure[];
  /** The local folder with the downloaded bytes. The caller removes it. */
  readonly stage: string;
}

/** The mirror, connection and stored state that the search uses. */
export interface ChangeSearchParts extends StrategyParts {
  /** The tree digest of the known files if the container's interpreter has stored them, else `null`. */
  readonly rememberedDigest: string | null;
  /** The mode of each known file that is not 644. */
  readonly knownModes: ReadonlyMap<string, number>;
}

/** Thrown when the changes did not match their digest, even on the second attempt. */
export class InconsistentChanges extends WinkError {
  override readonly name = "InconsistentChanges";
}

/** Limits of one download, because code may write any amount. */
const LIMITS = { maxFileBytes: 512 * 2 ** 20, maxTotalBytes: 2 * 2 ** 30 };
const MAX_ENTRIES = 200_000;
const MAX_ATTEMPTS = 2;

/**
 * Runs Python in the container that compares every file with its known digest and packs the changes,
 * then downloads them as one archive. Unlike the provider's file list, this reliably finds changes that
 * keep a file's size, and files in folders.
 */
export async function findContainerChanges(
  known: ReadonlyMap<string, string>,
  parts: ChangeSearchParts,
  step: TransferStep,
): Promise<ContainerChanges> {
  for (let attempt = 1; ; attempt++) {
    // The stored digests may be the cause, so the second attempt does not use them.
    const rememberedDigest = attempt === 1 ? parts.rememberedDigest : null;
    const found = await findChangesOnce(known, { ...parts, rememberedDigest }, step);
    if (found) return found;
    // A file changed during the comparison, or the model modified the snippet.
    if (attempt === MAX_ATTEMPTS)
      throw new InconsistentChanges("the downloaded changes did not match their digest");
  }
}

async function findChangesOnce(
  known: ReadonlyMap<string, string>,
  parts: ChangeSearchParts,
  step: TransferStep,
): Promise<ContainerChanges | null> {
  const { connection, mirror } = parts;
  const { containerId, signal } = step;
  const archive = createUploadName("tar");
  const digest = findDigest(await runComparison(known, archive, parts, step));
  const made =
    digest && (await connection.send((calls) => findNewestFile(archive, calls, step), signal));
  if (!made) return null;
  const stage = await mirror.createStage();
  try {
    const path = join(stage, archive);
    const options = { signal, maxBytes: LIMITS.maxTotalBytes * 2 };
    await trackDownloads(mirror.progress, made.bytes, (startCount) =>
      connection.send((calls) => {
        const counted = { ...options, onBytes: startCount?.(made.id) };
        return calls.downloadTo(containerId, made.id, path, counted);
      }, signal),
    );
    await deleteQuietly(made.id, parts, step);
    const { knownModes } = parts;
    const found = await unpackChanges(path, stage, { known, knownModes, signal });
    await rm(path);
    if (digestTree(found.now) === digest) return { ...found, stage };
  } catch (error) {
    await rm(stage, { recursive: true, force: true });
    throw error;
  }
  await rm(stage, { recursive: true, force: true });
  return null;
}

/** Runs the comparison and returns its output. Uploads the known digests unless they are stored. */
async function runComparison(
  known: ReadonlyMap<string, string>,
  archive: string,
  parts: ChangeSearchParts,
  step: TransferStep,
): Promise<string> {
  const { connection, rememberedDigest } = parts;
  const { containerId, signal } = step;
  const run = (code: string) => connection.runPython(code, step);
  if (rememberedDigest !== null) {
    const output = await run(changesSnippet({ digest: rememberedDigest }, archive, LIMITS));
    if (!isMemoryMissing(output)) return output;
  }
  const list = new File([JSON.stringify(Object.fromEntries(known))], createUploadName("json"));
  const uploaded = await connection.send(
    (calls) => calls.upload(containerId, list, { signal }),
    signal,
  );
  const output = await run(changesSnippet(list.name, archive, LIMITS));
  await deleteQuietly(uploaded.id, parts, step);
  return output;
}

/** Deletes an upload. A failure is ignored, because a leftover upload does no harm. */
async function deleteQuietly(
  id: string,
  { connection }: ChangeSearchParts,
  { containerId, signal }: TransferStep,
): Promise<void> {
  await connection
    .send((calls) => calls.removeFile(containerId, id, { signal }), signal)
    .catch(() => signal.throwIfAborted());
}

/** Returns a file at the root that was just created, or `null`. */
async function findNewestFile(name: string, calls: ContainerCalls, step: TransferStep) {
  const { containerId, signal } = step;
  for await (const file of calls.list(containerId, { order: "desc", signal })) {
    if (file.path === `/mnt/data/${name}`) return file;
  }
  return null;
}

async function unpackChanges(
  path: string,
  stage: string,
  { known, knownModes, signal }: UnpackingParts,
): Promise<Omit<ContainerChanges, "stage">> {
  const into = join(stage, "files");
  await mkdir(into);
  const limits = { maxBytes: LIMITS.maxTotalBytes, maxEntries: MAX_ENTRIES };
  const unpacked = await unpackArchive(path, { into, limits, note: REPORT_FILE, signal });
  const files = new Map<string, string>();
  const now = new Map(known);
  const report = parseReport(unpacked.note);
  const renamed = readRecord(report, "renamed");
  for (const { path: name, digest, hostPath } of unpacked.files) {
    const given = readString(renamed, name);
    const path = known.has(given) ? given : name; // only known files may have odd names
    now.set(path, digest);
    files.set(path, hostPath);
  }
  const deleted = readStrings(report, "deleted").filter((gone) => now.delete(gone));
  const folders = readStrings(report, "folders").filter(isValidPath);
  const modes = compareModes(report, { now, known, knownModes });
  return { files, now, deleted, failed: parseSkipped(report), folders, ...modes };
}

/** The known state that the unpacked changes are compared with. */
interface UnpackingParts {
  readonly known: ReadonlyMap<string, string>;
  readonly knownModes: ReadonlyMap<string, number>;
  readonly signal: AbortSignal;
}

/** Finds the modes that code changed. Files without a reported mode have the mode of new files. */
function compareModes(
  report: Readonly<Record<string, unknown>>,
  { now, known, knownModes }: Omit<UnpackingParts, "signal"> & Pick<ContainerChanges, "now">,
): Pick<ContainerChanges, "modes" | "modesNow"> {
  const reported = readRecord(report, "modes");
  const newFileMode = readNumber(report, "defaultMode");
  const modes = new Map<string, number>();
  const modesNow = new Map<string, number>();
  for (const path of new Set([...Object.keys(reported), ...knownModes.keys()])) {
    if (!now.has(path)) continue;
    const before = known.has(path) ? (knownModes.get(path) ?? PLAIN_MODE) : PLAIN_MODE;
    const isReported = Object.hasOwn(reported, path);
    const given = isReported ? readNumber(reported, path) : newFileMode;
    const mode = given === null ? null : toHostMode(given & 0o777, newFileMode ?? PLAIN_MODE);
    if (mode !== null && mode !== before) modes.set(path, mode);
    if ((mode ?? before) !== PLAIN_MODE) modesNow.set(path, mode ?? before);
  }
  return { modes, modesNow };
}

/**
 * Returns the mode that a file should have on the host, or `null` if its mode has no meaning. New files usually
 * have mode 644. Where they have another one, such as 666, no one chose it.
 */
function toHostMode(mode: number, newFileMode: number): number | null {
  if (newFileMode === PLAIN_MODE) return mode;
  if (mode === newFileMode) return null;
  const newProgramMode = newFileMode | ((newFileMode & 0o444) >> 2);
  return mode === newProgramMode ? 0o755 : mode;
}

function parseReport(note: Uint8Array | null): Readonly<Record<string, unknown>> {
  if (note === null) return {};
  const parsed = parseJson(Buffer.from(note).toString());
  if (parsed.ok) return isPlainObject(parsed.value) ? parsed.value : {};
  throw new WinkError(
    `The report of a container's files is not valid JSON: ${getErrorMessage(parsed.problem)}`,
  );
}

function parseSkipped({ skipped }: Readonly<Record<string, unknown>>): readonly SyncFailure[] {
  const all = Array.isArray(skipped) ? skipped : [];
  return all.map((one) => ({ path: String(one?.[0]), reason: String(one?.[1]) }));
}

function isValidPath(path: string): boolean {
  try {
    return normalizePath(path) === path;
  } catch {
    return false;
  }
}
