import { createHash } from "node:crypto";
import { runInThread } from "../../host/threads/run-in-thread.ts";
import { hashFilesJob } from "./hash-files.ts";

/** Options of {@link digestFiles}. */
export interface DigestOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * Computes the SHA-256 of every file below a folder in a thread. Returns hexadecimal digests by path, separated
 * by `/`, in the order in which the folder is packed.
 *
 * Throws `FilesystemError` if an entry is neither a file nor a folder, cannot be read, or changes while it is
 * read. Throws the signal's reason on abort.
 */
export async function digestFiles(
  directory: string,
  { signal }: DigestOptions = {},
): Promise<ReadonlyMap<string, string>> {
  signal?.throwIfAborted();
  return await runInThread(hashFilesJob, directory, {
    signal,
    job: "hashes the folder",
    remedy: "hash it again",
  });
}

/**
 * Computes one SHA-256 for a whole tree, in hexadecimal: the hash of the lines that `sha256sum` prints, sorted by
 * the UTF-8 bytes of their paths. Python sorts strings in the same order, JavaScript does not.
 */
export function digestTree(digests: ReadonlyMap<string, string>): string {
  const hash = createHash("sha256");
  let lines = "";
  for (const path of sortByBytes([...digests.keys()])) {
    lines += `${digests.get(path)}  ${path}\n`;
    if (lines.length < MAX_BATCH_CHARACTERS) continue;
    hash.update(lines);
    lines = "";
  }
  return hash.update(lines).digest("hex");
}

/** How many characters are hashed at once: single lines are slow, and all lines take much memory. */
const MAX_BATCH_CHARACTERS = 2 ** 16;
const SURROGATE = /[\ud800-\udfff]/;

/** Sorts by UTF-8 bytes. This differs from code unit order only for characters with two code units. */
function sortByBytes(paths: string[]): readonly string[] {
  if (!paths.some((path) => SURROGATE.test(path))) return paths.sort();
  return paths
    .map((path) => ({ path, bytes: Buffer.from(path) }))
    .sort((one, other) => Buffer.compare(one.bytes, other.bytes))
    .map(({ path }) => path);
}
