/**
 * Stores the contents of workspace files, so that a run can continue on another machine. Contents never change: a
 * SHA-256 always names the same bytes, and several runs may store the same content at once.
 *
 * @example
 * ```ts
 * import type { BlobStore } from "weakincentives/fleet";
 *
 * declare const bucket: {
 *   head(key: string): Promise<{ readonly size: number } | null>;
 *   put(key: string, body: Uint8Array): Promise<void>;
 *   get(key: string): Promise<Uint8Array | null>;
 * };
 * const blobs: BlobStore = {
 *   has: async (sha256) => (await bucket.head(`blobs/${sha256}`)) !== null,
 *   put: (sha256, bytes) => bucket.put(`blobs/${sha256}`, bytes),
 *   get: (sha256) => bucket.get(`blobs/${sha256}`),
 * };
 * ```
 */
export interface BlobStore {
  /** Returns whether a content is completely stored. `sha256` is the digest of its bytes, in hexadecimal. */
  has(sha256: string): Promise<boolean>;
  /** Stores a content. Resolves when it would survive a crash. Storing it again has no effect. */
  put(sha256: string, bytes: Uint8Array): Promise<void>;
  /** Returns the bytes of a content, or `null` if it is not stored. They are checked against the digest. */
  get(sha256: string): Promise<Uint8Array | null>;
}
