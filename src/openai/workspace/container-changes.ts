import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { getErrorMessage, WinkError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { parseJson } from "../../base/json.ts";
import { readStrings } from "../../base/loose-fields.ts";
import { unpackArchive } from "../../files/archive/unpack-archive.ts";
import { digestTree } from "../../files/digests/digest-files.ts";
import { normalizePath } from "../../files/path.ts";
import type { SyncFailure } from "../../files/sync/sync-failure.ts";
import type { ContainerCalls } from "../http/container-calls.ts";
import type { FoundChanges } from "./mirror.ts";
import {
  changesSnippet,
  createUploadName,
  findDigest,
  isMemoryMissing,
  REPORT_FILE,
} from "./python-snippets.ts";
import type { StrategyParts } from "./transfer-strategy.ts";
import type { TransferStep } from "./workspace-connection.ts";

/** The changes found in a container, with the new bytes in local files. */
export interface ContainerChanges extends FoundChanges {
  /** The digest of every file in the container, which its interpreter has stored too. */
  readonly now: ReadonlyMap<string, string>;
  readonly failed: readonly SyncFailure[];
  /** The local folder with the downloaded bytes. The caller removes it. */
  readonly stage: string;
}

/** The mirror, connection and stored state that the search uses. */
export interface ChangeSearchParts extends StrategyParts {
  /** The tree digest of the known files if the container's interpreter has stored them, else `null`. */
  readonly rememberedDigest: string | null;
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
    await connection.send((calls) => calls.downloadTo(containerId, made, path, options), signal);
    await deleteQuietly(made, parts, step);
    const found = await unpackChanges(path, stage, { known, signal });
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

/** Returns the id of a file at the root that was just created, or `null`. */
async function findNewestFile(name: string, calls: ContainerCalls, step: TransferStep) {
  const { containerId, signal } = step;
  for await (const { id, path } of calls.list(containerId, { order: "desc", signal })) {
    if (path === `/mnt/data/${name}`) return id;
  }
  return null;
}

async function unpackChanges(
  path: string,
  stage: string,
  { known, signal }: { readonly known: ReadonlyMap<string, string>; readonly signal: AbortSignal },
): Promise<Omit<ContainerChanges, "stage">> {
  const into = join(stage, "files");
  await mkdir(into);
  const limits = { maxBytes: LIMITS.maxTotalBytes, maxEntries: MAX_ENTRIES };
  const unpacked = await unpackArchive(path, { into, limits, note: REPORT_FILE, signal });
  const files = new Map<string, string>();
  const now = new Map(known);
  for (const { path, digest, hostPath } of unpacked.files) {
    now.set(path, digest);
    files.set(path, hostPath);
  }
  const report = parseReport(unpacked.note);
  const deleted = readStrings(report, "deleted").filter((gone) => now.delete(gone));
  const folders = readStrings(report, "folders").filter(isValidPath);
  return { files, now, deleted, failed: parseSkipped(report), folders };
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
