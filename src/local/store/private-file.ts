import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  openSync,
  readSync,
  writeSync,
} from "node:fs";

/**
 * Opens a file that only its owner may use, and creates it if needed. Returns its descriptor. Throws for a symlink, for
 * a file with several names, and for an entry that is not a regular file; does not wait for the other end of a pipe.
 */
export function openPrivateFile(path: string): number {
  const descriptor = openSync(path, FLAGS, PRIVATE);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || stats.nlink > 1) {
      throw new Error(`${path} is not a regular file with a single name`);
    }
    if ((stats.mode & FOR_OTHERS) !== 0) fchmodSync(descriptor, PRIVATE);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** Returns the key in a private file of exactly its length. An empty file is filled with `createKey()` first. */
export function readPrivateKey(path: string, createKey: () => Uint8Array): Uint8Array {
  const descriptor = openPrivateFile(path);
  try {
    if (fstatSync(descriptor).size === 0) writeSync(descriptor, createKey(), 0, null, 0);
    const bytes = Buffer.alloc(MAX_KEY_BYTES);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, MAX_KEY_BYTES, 0));
  } finally {
    closeSync(descriptor);
  }
}

const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const PRIVATE = 0o600;
const FOR_OTHERS = 0o077;
const MAX_KEY_BYTES = 64;
