import { createHash } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import type { PinnedFolder } from "../../host/pinned-folder.ts";
import { getErrorCode } from "../../host/to-filesystem-error.ts";

/** The host's entry at a path. */
export type HostEntry =
  | { readonly kind: "missing" | "folder" | "link" | "other" }
  | { readonly kind: "file"; readonly stats: BigIntStats; readonly digest: string | null };

/** Looks at an entry without following symlinks. Reads a file only if its digest is needed. */
export async function inspectEntry(
  folder: PinnedFolder,
  name: string,
  { needsDigest }: { readonly needsDigest: boolean },
): Promise<HostEntry> {
  for (let attempt = 1; ; attempt++) {
    const stats = folder.lstat(name);
    if (!stats?.isFile()) return { kind: toKind(stats) };
    if (!needsDigest) return { kind: "file", stats, digest: null };
    const read = await digestIfResting(folder.toPath(name));
    if (read) return { kind: "file", ...read };
    // A file that keeps changing has no digest that anyone can expect.
    if (attempt === MAX_ATTEMPTS) return { kind: "file", stats, digest: "" };
  }
}

/** Whether an entry is still as it was inspected. */
export function isStill(folder: PinnedFolder, name: string, entry: HostEntry): boolean {
  const now = folder.lstat(name);
  if (entry.kind !== "file") return !now?.isFile() && toKind(now) === entry.kind;
  return now !== null && isSameFile(now, entry.stats);
}

const MAX_ATTEMPTS = 3;

function toKind(stats: BigIntStats | null): "missing" | "folder" | "link" | "other" {
  if (stats === null) return "missing";
  if (stats.isDirectory()) return "folder";
  return stats.isSymbolicLink() ? "link" : "other";
}

/** Computes the digest of a file. Returns `null` if it was replaced or changed in the meantime. */
async function digestIfResting(path: Buffer) {
  const file = await openIfFile(path);
  if (file === null) return null;
  try {
    const before = await file.stat({ bigint: true });
    if (!before.isFile()) return null;
    const hash = createHash("sha256");
    // Stop at the original size: a file may grow as fast as it is read.
    const end = Number(before.size) - 1;
    if (end >= 0) await pipeline(file.createReadStream({ start: 0, end, autoClose: false }), hash);
    const stats = await file.stat({ bigint: true });
    return isSameFile(before, stats) ? { stats, digest: hash.digest("hex") } : null;
  } finally {
    await file.close();
  }
}

async function openIfFile(path: Buffer): Promise<FileHandle | null> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (REPLACED_CODES.has(getErrorCode(error))) return null;
    throw error;
  }
}

const REPLACED_CODES = new Set<string | undefined>(["ENOENT", "ELOOP", "ENXIO"]);

function isSameFile(one: BigIntStats, other: BigIntStats): boolean {
  return (
    one.ino === other.ino &&
    one.dev === other.dev &&
    one.size === other.size &&
    one.mtimeNs === other.mtimeNs &&
    one.ctimeNs === other.ctimeNs
  );
}
