import { createHash } from "node:crypto";
import { WinkError } from "../base/errors.ts";
import { runInThread } from "./thread-task.ts";

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
  return await runInThread("file-digests-worker", directory, { endedEarly, signal });
}

/**
 * One SHA-256 for a whole tree, in hexadecimal: of the lines that `sha256sum` would print, sorted by
 * the UTF-8 bytes of their paths. Python sorts text the same way, JavaScript does not.
 */
export function treeDigest(digests: ReadonlyMap<string, string>): string {
  const lines = [...digests].map(([path, sha256]) => ({ path: Buffer.from(path), sha256 }));
  lines.sort((one, other) => Buffer.compare(one.path, other.path));
  const hash = createHash("sha256");
  for (const { path, sha256 } of lines) hash.update(`${sha256}  `).update(path).update("\n");
  return hash.digest("hex");
}

function endedEarly(cause: unknown): WinkError {
  const problem = "The thread that digests the folder ended before it was done: digest it again";
  return new WinkError(problem, { cause });
}
