import type { GrepMatch } from "../filesystem.ts";
import type { Search } from "./check-search.ts";
import { searchFiles } from "./search-files.ts";
import { reportOmissions, searchInThread } from "./search-in-thread.ts";

/**
 * Searches files in memory, sorted by path. An expression that reads each character a bounded number of times is
 * searched here, because starting a thread takes longer. Throws like {@link searchInThread}.
 */
export async function searchInMemory(
  search: Search,
  files: readonly (readonly [path: string, bytes: Uint8Array])[],
): Promise<readonly GrepMatch[]> {
  const source = { type: "files", files } as const;
  if (!isPlain(search.pattern)) return await searchInThread(search, source);
  search.signal?.throwIfAborted();
  const { pattern, glob, maxMatches, onIncomplete } = search;
  const found: GrepMatch[] = [];
  const task = { pattern, glob, maxMatches, source };
  reportOmissions(await searchFiles(task, (matches) => found.push(...matches)), onIncomplete);
  return found;
}

/** Whether an expression has only characters, escapes, dots and anchors: nothing that repeats or has alternatives. */
function isPlain(pattern: string): boolean {
  return /^\^?(?:[^\\^$.*+?()[\]{}|]|\\[^A-Za-z0-9]|\\[bBdDsSwW]|\.)*\$?$/.test(pattern);
}
