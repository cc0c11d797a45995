import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { chmod, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { messageOf, WinkError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { parseJson } from "../../base/json.ts";
import { textsAt } from "../../base/reading.ts";
import { treeDigest } from "../../files/file-digests.ts";
import { checkedPath } from "../../files/path.ts";
import { readTar, type TarFile } from "../../files/tar-reader.ts";
import { ownName } from "./archive-upload.ts";
import type { FailedFile, FoundChanges } from "./mirror.ts";
import { patiently } from "./patience.ts";
import type { PlacementParts, PlacementStep } from "./placement.ts";
import { digestIn, REPORT, surveySnippet } from "./snippets.ts";

/** What a survey of a container found, with the bytes of what is new on this machine. */
export interface Survey extends FoundChanges {
  /** All that the container's tree holds now. */
  readonly now: ReadonlyMap<string, string>;
  readonly failed: readonly FailedFile[];
  /** Where the bytes wait; whoever asked removes it. */
  readonly stage: string;
}

/** Runs Python in the container. */
export interface SurveyParts extends PlacementParts {
  run(code: string): Promise<string>;
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
  step: PlacementStep,
): Promise<Survey> {
  for (let tries = 1; ; tries++) {
    const found = await once(known, parts, step);
    if (found) return found;
    // Something changed while it was looked at, or the snippet did not run as it is.
    if (tries === TRIES) throw new SurveyProblem("what code made was not found as it was told");
  }
}

async function once(
  known: ReadonlyMap<string, string>,
  parts: SurveyParts,
  step: PlacementStep,
): Promise<Survey | null> {
  const { calls, patience, mirror } = parts;
  const { containerId, signal } = step;
  const [list, archive] = [ownName("json"), ownName("tar")];
  const patient = <Result>(request: () => Promise<Result>) =>
    patiently(request, patience(), signal);
  const discard = (id: string) =>
    patient(() => calls().removeFile(containerId, id, { signal })).catch(() => {
      signal.throwIfAborted(); // what stays there is in nobody's way
    });
  const text = JSON.stringify(Object.fromEntries(known));
  const uploaded = await patient(() =>
    calls().upload(containerId, new File([text], list), { signal }),
  );
  const digest = digestIn(await parts.run(surveySnippet(list, archive, LIMITS)));
  await discard(uploaded.id);
  const made = digest && (await patient(() => newest(archive, parts, step)));
  if (!made) return null;
  const stage = await mirror.stage();
  try {
    const path = join(stage, archive);
    const options = { signal, maxBytes: LIMITS.maxTotalBytes * 2 };
    await patient(() => calls().downloadTo(containerId, made, path, options));
    await discard(made);
    const found = await opened(path, stage, known);
    await rm(path);
    if (treeDigest(found.now) === digest) return { ...found, stage };
  } catch (error) {
    await rm(stage, { recursive: true, force: true });
    throw error;
  }
  await rm(stage, { recursive: true, force: true });
  return null;
}

/** The id of a file at the root that was made just now. */
async function newest(name: string, { calls }: SurveyParts, step: PlacementStep) {
  const { containerId, signal } = step;
  for await (const { id, path } of calls().list(containerId, { order: "desc", signal })) {
    if (path === `/mnt/data/${name}`) return id;
  }
  return null;
}

async function opened(
  path: string,
  stage: string,
  known: ReadonlyMap<string, string>,
): Promise<Omit<Survey, "stage">> {
  const folder = join(stage, "files");
  await mkdir(folder);
  const files = new Map<string, string>();
  const now = new Map(known);
  const failed: FailedFile[] = [];
  let report: unknown = null;
  const limits = { maxBytes: LIMITS.maxTotalBytes, maxEntries: MOST_ENTRIES };
  for await (const entry of readTar(path, limits)) {
    if (entry.path === REPORT) {
      report = await jsonOf(entry);
      continue;
    }
    const at = join(folder, String(files.size));
    now.set(entry.path, await written(entry, at));
    files.set(entry.path, at);
  }
  const said = isPlainObject(report) ? report : {};
  const deleted = textsAt(said, "deleted").filter((gone) => now.delete(gone));
  failed.push(...skippedIn(said));
  return { files, now, deleted, failed, folders: textsAt(said, "folders").filter(isFit) };
}

function skippedIn({ skipped }: Readonly<Record<string, unknown>>): readonly FailedFile[] {
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

async function written(entry: TarFile, at: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(
    async function* () {
      for await (const part of entry.read()) {
        hash.update(part);
        yield part;
      }
    },
    createWriteStream(at, { flags: "wx" }),
  );
  if ((entry.mode & 0o100) !== 0) await chmod(at, 0o755);
  return hash.digest("hex");
}

async function jsonOf(entry: TarFile): Promise<unknown> {
  const parts: Uint8Array[] = [];
  for await (const part of entry.read()) parts.push(part);
  const parsed = parseJson(Buffer.concat(parts).toString());
  if (parsed.ok) return parsed.value;
  throw new WinkError(`The report of a container's files is no JSON: ${messageOf(parsed.problem)}`);
}
