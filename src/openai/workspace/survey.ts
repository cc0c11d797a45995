import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, WinkError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { parseJson } from "../../base/json.ts";
import { textsAt } from "../../base/reading.ts";
import { unpackArchive } from "../../files/archive/unpack-archive.ts";
import { treeDigest } from "../../files/digests/file-digests.ts";
import { checkedPath } from "../../files/path.ts";
import type { SyncFailure } from "../../files/sync/sync-reason.ts";
import type { ContainerCalls } from "../http/container-calls.ts";
import type { FoundChanges } from "./mirror.ts";
import type { PlacementParts } from "./placement.ts";
import { digestIn, isForgotten, ownName, REPORT, surveySnippet } from "./python-snippets.ts";
import type { TransferStep } from "./workspace-connection.ts";

/** What a survey of a container found, with the bytes of what is new on this machine. */
export interface Survey extends FoundChanges {
  /** All that the container's tree holds now, and its interpreter remembers. */
  readonly now: ReadonlyMap<string, string>;
  readonly failed: readonly SyncFailure[];
  /** Where the bytes wait; whoever asked removes it. */
  readonly stage: string;
}

/** What a survey works with. */
export interface SurveyParts extends PlacementParts {
  /** The digest of what is known, if the container's interpreter remembers all of that. */
  readonly remembered: string | null;
}

/** A survey that did not agree with itself, not even the second time. */
export class SurveyProblem extends WinkError {
  override readonly name = "SurveyProblem";
}

/** More than this does not come back at once: code may write without end. */
const LIMITS = { maxFileBytes: 512 * 2 ** 20, maxTotalBytes: 2 * 2 ** 30 };
const MOST_ENTRIES = 200_000;
const TRIES = 2;

/**
 * Has Python compare every file with what is known, pack what differs, and fetches that as one
 * archive. It tells a change that kept a file's size as well, and files in folders, neither of
 * which the provider's own list can be trusted to.
 */
export async function survey(
  known: ReadonlyMap<string, string>,
  parts: SurveyParts,
  step: TransferStep,
): Promise<Survey> {
  for (let tries = 1; ; tries++) {
    // What is remembered may be what is wrong.
    const remembered = tries === 1 ? parts.remembered : null;
    const found = await once(known, { ...parts, remembered }, step);
    if (found) return found;
    // Something changed while it was looked at, or the snippet did not run as it is.
    if (tries === TRIES) throw new SurveyProblem("what code made was not found as it was told");
  }
}

async function once(
  known: ReadonlyMap<string, string>,
  parts: SurveyParts,
  step: TransferStep,
): Promise<Survey | null> {
  const { connection, mirror } = parts;
  const { containerId, signal } = step;
  const archive = ownName("tar");
  const digest = digestIn(await looked(known, archive, parts, step));
  const made = digest && (await connection.send((calls) => newest(archive, calls, step), signal));
  if (!made) return null;
  const stage = await mirror.stage();
  try {
    const path = join(stage, archive);
    const options = { signal, maxBytes: LIMITS.maxTotalBytes * 2 };
    await connection.send((calls) => calls.downloadTo(containerId, made, path, options), signal);
    await discard(made, parts, step);
    const found = await opened(path, stage, { known, signal });
    await rm(path);
    if (treeDigest(found.now) === digest) return { ...found, stage };
  } catch (error) {
    await rm(stage, { recursive: true, force: true });
    throw error;
  }
  await rm(stage, { recursive: true, force: true });
  return null;
}

/** What Python printed, which is told what is known unless it remembers. */
async function looked(
  known: ReadonlyMap<string, string>,
  archive: string,
  parts: SurveyParts,
  step: TransferStep,
): Promise<string> {
  const { connection, remembered } = parts;
  const { containerId, signal } = step;
  const run = (code: string) => connection.runPython(code, step);
  if (remembered !== null) {
    const output = await run(surveySnippet({ digest: remembered }, archive, LIMITS));
    if (!isForgotten(output)) return output;
  }
  const list = new File([JSON.stringify(Object.fromEntries(known))], ownName("json"));
  const uploaded = await connection.send(
    (calls) => calls.upload(containerId, list, { signal }),
    signal,
  );
  const output = await run(surveySnippet(list.name, archive, LIMITS));
  await discard(uploaded.id, parts, step);
  return output;
}

/** What stays there is in nobody's way. */
async function discard(
  id: string,
  { connection }: SurveyParts,
  { containerId, signal }: TransferStep,
): Promise<void> {
  await connection
    .send((calls) => calls.removeFile(containerId, id, { signal }), signal)
    .catch(() => signal.throwIfAborted());
}

/** The id of a file at the root that was made just now. */
async function newest(name: string, calls: ContainerCalls, step: TransferStep) {
  const { containerId, signal } = step;
  for await (const { id, path } of calls.list(containerId, { order: "desc", signal })) {
    if (path === `/mnt/data/${name}`) return id;
  }
  return null;
}

async function opened(
  path: string,
  stage: string,
  { known, signal }: { readonly known: ReadonlyMap<string, string>; readonly signal: AbortSignal },
): Promise<Omit<Survey, "stage">> {
  const into = join(stage, "files");
  await mkdir(into);
  const limits = { maxBytes: LIMITS.maxTotalBytes, maxEntries: MOST_ENTRIES };
  const unpacked = await unpackArchive(path, { into, limits, note: REPORT, signal });
  const files = new Map<string, string>();
  const now = new Map(known);
  for (const { path, digest, at } of unpacked.files) {
    now.set(path, digest);
    files.set(path, at);
  }
  const said = reportIn(unpacked.note);
  const deleted = textsAt(said, "deleted").filter((gone) => now.delete(gone));
  const folders = textsAt(said, "folders").filter(isFit);
  return { files, now, deleted, failed: skippedIn(said), folders };
}

function reportIn(note: Uint8Array | null): Readonly<Record<string, unknown>> {
  if (note === null) return {};
  const parsed = parseJson(Buffer.from(note).toString());
  if (parsed.ok) return isPlainObject(parsed.value) ? parsed.value : {};
  throw new WinkError(`The report of a container's files is no JSON: ${messageOf(parsed.problem)}`);
}

function skippedIn({ skipped }: Readonly<Record<string, unknown>>): readonly SyncFailure[] {
  const all = Array.isArray(skipped) ? skipped : [];
  return all.map((one) => ({ path: String(one?.[0]), reason: String(one?.[1]) }));
}

function isFit(path: string): boolean {
  try {
    return checkedPath(path) === path;
  } catch {
    return false;
  }
}
