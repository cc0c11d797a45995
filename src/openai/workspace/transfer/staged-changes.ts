import { copyFile, link, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PLAIN_MODE } from "../../../files/archive/tar/write-tar.ts";
import { listAncestors } from "../../../files/path.ts";
import { hashFile, type Mirror } from "../mirror.ts";
import { REMOVED_FILE } from "../python-snippets.ts";

/** The local changes that are staged for an upload. */
export interface StagedChanges {
  /** The folder with the changes. */
  readonly stage: string;
  /** The digest of every file once the changes are in the container. */
  readonly digestsAfter: ReadonlyMap<string, string>;
  /** The digests of the staged files. */
  readonly sent: ReadonlyMap<string, string>;
}

/** The paths that may differ, and the state of the files in the container. */
export interface StagingOptions {
  /** Paths that were changed locally. Folders end in `/`. */
  readonly touched: ReadonlySet<string>;
  /** The digest of each file in the container, once all uploaded archives are unpacked. */
  readonly digestsAfter: ReadonlyMap<string, string>;
  /** The mode of each of these files that is not 644. */
  readonly modesAfter: ReadonlyMap<string, number>;
}

/**
 * Stages the touched files that differ from those in the container, and runs `work` with them. The staged copies are
 * removed afterwards. Returns `null` if no file differs.
 */
export async function withStagedChanges<Result>(
  mirror: Mirror,
  options: StagingOptions,
  work: (staged: StagedChanges) => Promise<Result>,
): Promise<Result | null> {
  const stage = await mirror.createStage();
  try {
    const staged = await stageChanges(mirror, options, stage);
    return staged && (await work(staged));
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

async function stageChanges(
  mirror: Mirror,
  { touched, digestsAfter: known, modesAfter: modes }: StagingOptions,
  stage: string,
): Promise<StagedChanges | null> {
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
    const digest = await stageFile(join(mirror.root, path), found, join(stage, path));
    digestsAfter.delete(path);
    if (digest !== null && digest !== "folder") {
      digestsAfter.set(path, digest);
      sent.set(path, digest);
    }
    // Deleted, or replaced: a file by a folder, or an empty folder by a file.
    if (digest === null || (digest === "folder") === known.has(path)) removed.push(path);
    if (digest === null) removed.push(...(await findRemovedFolders(mirror, path)));
  }
  // The contents of a folder come before the folder.
  removed.sort().reverse();
  if (removed.length === 0 && (await readdir(stage)).length === 0) return null;
  await writeFile(join(stage, REMOVED_FILE), JSON.stringify(removed), { mode: 0o644 });
  return { stage, digestsAfter, sent };
}

/** Stages a file and returns the digest of the staged copy, which later local writes do not affect. */
async function stageFile(
  from: string,
  found: string | "folder" | null,
  to: string,
): Promise<string | "folder" | null> {
  if (found === "folder") await mkdir(to, { recursive: true });
  if (found === null || found === "folder") return found;
  await linkOrCopy(from, to);
  return await hashFile(to);
}

/** Finds parent folders that were removed too. A rollback removes the folders that a write created. */
async function findRemovedFolders(mirror: Mirror, path: string): Promise<readonly string[]> {
  const gone: string[] = [];
  for (const folder of listAncestors(path)) {
    if ((await mirror.computeDigest(folder)) === null) gone.push(folder);
  }
  return gone;
}

/** Hard-links a file, or copies it. A link is safe, because the mirror never changes files in place. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await link(from, to).catch(() => copyFile(from, to));
}
