/** A file of a workspace that was added, changed or deleted. */
export interface FileChange {
  readonly path: string;
  readonly change: "added" | "changed" | "deleted";
  /** Digest before the change; `null` if the file is new, or its digest is not known. */
  readonly before: string | null;
  /** Digest after the change; `null` if the file was deleted, or its digest is not known. */
  readonly after: string | null;
  readonly bytesBefore: number | null;
  readonly bytesAfter: number | null;
}
