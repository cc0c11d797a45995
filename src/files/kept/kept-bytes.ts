import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { open, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { forEachConcurrently } from "../../base/for-each-concurrently.ts";
import { toFilesystemErrorWithRemedy } from "../../host/to-filesystem-error.ts";
import type { FileState, TreeState } from "../tree-state.ts";
import { TEMPORARY_PREFIX } from "./blob-writer.ts";
import { BLOBS } from "./kept-folder.ts";
import { writeManifest } from "./write-manifest.ts";

/** The content of a file, without its permissions. */
export type FileContent = Pick<FileState, "digest" | "bytes">;

/** The files that a kept folder must have. */
export interface KeptContents {
  /** The files as they were last kept. */
  readonly tree: TreeState;
  /** The files as they were mounted. */
  readonly mounted: TreeState;
}

/** Reads a file's bytes from a kept folder. Returns `null` if they are missing or damaged. */
export async function readKeptBytes(
  folder: string,
  { digest, bytes }: FileContent,
): Promise<Uint8Array | null> {
  try {
    await using file = await open(join(folder, BLOBS, digest), READ_NO_FOLLOW);
    const stats = await file.stat();
    if (!stats.isFile() || stats.size !== bytes) return null;
    const content = await file.readFile();
    return (await digestBytes(content)) === digest ? content : null;
  } catch {
    return null;
  }
}

/**
 * Adds the missing files to a kept folder, and writes both manifests. `getBytes` returns the bytes of a
 * digest, or `null`; they are checked. Returns the digests that are still missing. One process at a time may do it.
 */
export async function fillKeptFolder(
  folder: string,
  { tree, mounted }: KeptContents,
  getBytes: (digest: string) => Promise<Uint8Array | null>,
): Promise<ReadonlySet<string>> {
  const missing = new Set<string>();
  await forEachContent([...mounted.files.values(), ...tree.files.values()], async (content) => {
    if ((await readKeptBytes(folder, content)) !== null) return;
    const bytes = await getBytes(content.digest);
    const isRight = bytes !== null && (await digestBytes(bytes)) === content.digest;
    if (isRight) await writeKeptBytes(folder, content.digest, bytes);
    else missing.add(content.digest);
  });
  await writeManifest(join(folder, "mounted.json"), mounted);
  await writeManifest(join(folder, "manifest.json"), tree);
  return missing;
}

/** Runs `work` once for each content. Several small ones are processed at once, large ones one after the other. */
export async function forEachContent(
  contents: Iterable<FileContent>,
  work: (content: FileContent) => Promise<void>,
): Promise<void> {
  const unique = [...new Map(Array.from(contents, (one) => [one.digest, one])).values()];
  const isSmall = ({ bytes }: FileContent) => bytes <= SMALL_BYTES;
  await forEachConcurrently(unique.filter(isSmall), work, { concurrency: CONCURRENCY });
  for (const large of unique.filter((one) => !isSmall(one))) await work(large);
}

const SMALL_BYTES = 1024 ** 2;
const CONCURRENCY = 8;
const READ_NO_FOLLOW = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Computes the SHA-256 of bytes. Other work continues while a large content is read. */
async function digestBytes(bytes: Uint8Array): Promise<string> {
  const hash = createHash("sha256");
  for (let start = 0; start < bytes.length; start += SLICE_BYTES) {
    if (start > 0) await setImmediate();
    hash.update(bytes.subarray(start, start + SLICE_BYTES));
  }
  return hash.digest("hex");
}

const SLICE_BYTES = 4 * 1024 ** 2;

/** Writes a file's bytes. They need not survive a power cut, because every use checks them. */
async function writeKeptBytes(folder: string, digest: string, bytes: Uint8Array): Promise<void> {
  const path = join(folder, BLOBS, digest);
  const name = `${TEMPORARY_PREFIX}${randomBytes(8).toString("hex")}`;
  const temporary = join(folder, BLOBS, name);
  try {
    await writeFile(temporary, bytes, { flag: "wx", mode: 0o600 });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {}); // only the first failure is reported
    throw toFilesystemErrorWithRemedy(error, path, "free space on the disk, then try again");
  }
}
