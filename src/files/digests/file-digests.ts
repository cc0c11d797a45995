import { createHash } from "node:crypto";
import { runInThread } from "../../host/threads/run-in-thread.ts";
import { hashFilesJob } from "./hash-files.ts";

/** What may end the reading. */
export interface DigestOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * The SHA-256 of every file below a folder, in hexadecimal, by its path with `/` between its names;
 * made by a thread, in the order in which the folder is packed.
 *
 * Throws `FilesystemError` for what is neither file nor folder, cannot be read or changes meanwhile,
 * and the signal's reason.
 */
export async function digestFiles(
  directory: string,
  { signal }: DigestOptions = {},
): Promise<ReadonlyMap<string, string>> {
  signal?.throwIfAborted();
  return await runInThread(hashFilesJob, directory, {
    signal,
    job: "digests the folder",
    remedy: "digest it again",
  });
}

/**
 * One SHA-256 for a whole tree, in hexadecimal: of the lines that `sha256sum` would print, sorted by
 * the UTF-8 bytes of their paths. Python sorts text the same way, JavaScript does not.
 */
export function treeDigest(digests: ReadonlyMap<string, string>): string {
  const hash = createHash("sha256");
  let lines = "";
  for (const path of sortedByBytes([...digests.keys()])) {
    lines += `${digests.get(path)}  ${path}\n`;
    if (lines.length < LINES_AT_ONCE) continue;
    hash.update(lines);
    lines = "";
  }
  return hash.update(lines).digest("hex");
}

/** In characters: lines one by one take a while, and all of them much room. */
const LINES_AT_ONCE = 2 ** 16;
const SURROGATE = /[\ud800-\udfff]/;

/** Only characters that are two code units stand elsewhere among code units than among bytes. */
function sortedByBytes(paths: string[]): readonly string[] {
  if (!paths.some((path) => SURROGATE.test(path))) return paths.sort();
  return paths
    .map((path) => ({ path, bytes: Buffer.from(path) }))
    .sort((one, other) => Buffer.compare(one.bytes, other.bytes))
    .map(({ path }) => path);
}
