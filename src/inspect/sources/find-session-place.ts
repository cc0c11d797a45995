import { existsSync, type Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { openRegularFile } from "./record-file.ts";

/** What a path or a URL of the command line names. Paths are absolute. */
export type SessionPlace =
  | { readonly kind: "postgres"; readonly url: string }
  /** A fleet's folder, which has a database. */
  | { readonly kind: "fleet"; readonly path: string }
  /** A folder with a file per session. */
  | { readonly kind: "folder"; readonly path: string }
  | { readonly kind: "sqlite"; readonly path: string }
  /** Any other file, with its first 64 KiB. */
  | { readonly kind: "file"; readonly path: string; readonly start: string }
  /** Nothing that can be opened, with the system's error. */
  | { readonly kind: "missing"; readonly path: string; readonly cause: unknown };

/** Finds out where sessions are: in a database, a folder or a file. Creates nothing. */
export async function findSessionPlace(place: string): Promise<SessionPlace> {
  if (/^postgres(?:ql)?:/i.test(place)) return { kind: "postgres", url: place };
  const path = resolve(place);
  let stats: Stats;
  try {
    stats = await stat(path);
  } catch (cause) {
    return { kind: "missing", path, cause };
  }
  if (!stats.isDirectory()) return await readFileStart(path);
  const hasDatabase = existsSync(join(path, "database", "data", "PG_VERSION"));
  return { kind: hasDatabase ? "fleet" : "folder", path };
}

/** Reads the first bytes of a file, enough for the first record unless it is very long. */
async function readFileStart(path: string): Promise<SessionPlace> {
  await using file = await openRegularFile(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(START_BYTES), 0, START_BYTES, 0);
  const start = buffer.subarray(0, bytesRead).toString("utf8");
  return start.startsWith("SQLite format 3\0")
    ? { kind: "sqlite", path }
    : { kind: "file", path, start };
}

const START_BYTES = 64 * 1024;
