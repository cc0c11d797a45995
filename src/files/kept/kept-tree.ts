import { isPlainObject } from "../../base/freeze.ts";
import { normalizePath } from "../path.ts";
import { type FileState, PERMISSION_BITS, type TreeState } from "../tree-state.ts";

/** A file's content and permissions, as JSON. */
export interface KeptFile {
  /** The SHA-256 of the bytes, in hexadecimal. */
  readonly sha256: string;
  /** The size of the file. */
  readonly bytes: number;
  /** The permission bits. */
  readonly mode: number;
}

/** Files and folders by path, as JSON. */
export interface KeptTree {
  readonly files: Readonly<Record<string, KeptFile>>;
  /** The permission bits of each folder. */
  readonly folders: Readonly<Record<string, number>>;
}

/** Converts the state of a tree to JSON. */
export function toKeptTree({ files, folders }: TreeState): KeptTree {
  const kept = [...files].map(([path, state]) => [path, toKeptFile(state)] as const);
  return { files: Object.fromEntries(kept), folders: Object.fromEntries(folders) };
}

/** Converts the state of a file to JSON. */
export function toKeptFile({ digest, bytes, mode }: FileState): KeptFile {
  return { sha256: digest, bytes, mode };
}

/**
 * Reads a tree from JSON that another process may have changed. Returns `null` unless every path stays below the
 * root, no file is a parent of another entry, and every digest, size and mode is valid.
 */
export function parseKeptTree(value: unknown): TreeState | null {
  if (!isPlainObject(value)) return null;
  const { files, folders } = value;
  if (!isPlainObject(files) || !isPlainObject(folders)) return null;
  const tree = { files: new Map<string, FileState>(), folders: new Map<string, number>() };
  for (const [path, mode] of Object.entries(folders)) {
    if (!isRelativePath(path) || !isMode(mode)) return null;
    tree.folders.set(path, mode);
  }
  for (const [path, file] of Object.entries(files)) {
    const state = parseFile(file);
    if (!isRelativePath(path) || state === null || tree.folders.has(path)) return null;
    tree.files.set(path, state);
  }
  const paths = [...tree.files.keys(), ...tree.folders.keys()];
  return paths.every((path) => !hasFileAbove(path, tree.files)) ? tree : null;
}

function parseFile(value: unknown): FileState | null {
  if (!isPlainObject(value)) return null;
  const { sha256, bytes, mode } = value;
  if (typeof sha256 !== "string" || !/^[0-9a-f]{64}$/.test(sha256)) return null;
  if (typeof bytes !== "number" || !Number.isSafeInteger(bytes) || bytes < 0) return null;
  return isMode(mode) ? { digest: sha256, bytes, mode } : null;
}

function isMode(mode: unknown): mode is number {
  return typeof mode === "number" && Number.isInteger(mode) && (mode & ~PERMISSION_BITS) === 0;
}

function isRelativePath(path: string): boolean {
  try {
    return path !== "." && normalizePath(path) === path;
  } catch {
    return false;
  }
}

function hasFileAbove(path: string, files: ReadonlyMap<string, FileState>): boolean {
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1))
    if (files.has(path.slice(0, end))) return true;
  return false;
}
