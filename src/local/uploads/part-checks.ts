import { ApiProblem } from "../api-problem.ts";
import type { StoredPart, StoredUpload } from "./upload-store.ts";

/** Limits of uploads. */
export interface UploadLimits {
  /** The maximum number of parts of one upload. */
  readonly parts: number;
  /** The maximum number of pending uploads. */
  readonly pending: number;
  /** The maximum size of the parts of all pending uploads together. */
  readonly pendingBytes: number;
}

/** OpenAI's limit for one part. */
export const MAX_PART_BYTES: number = 64 * 2 ** 20;

/** OpenAI's limit for one upload. */
export const MAX_UPLOAD_BYTES: number = 8 * 2 ** 30;

/** The default limits: pending uploads take at most twice the size of the largest one. */
export const uploadLimits: UploadLimits = {
  parts: 10_000,
  pending: 1000,
  pendingBytes: 2 * MAX_UPLOAD_BYTES,
};

/** A part that a client has sent, and what is stored already. */
export interface ReceivedPart {
  readonly upload: StoredUpload;
  readonly bytes: number;
  /** The size of the parts of all pending uploads. */
  readonly pendingBytes: number;
}

/** Rejects a part that exceeds the size of its upload or a limit. */
export function checkPart(
  { upload, bytes, pendingBytes }: ReceivedPart,
  limits: UploadLimits,
): void {
  const total = upload.partBytes + bytes;
  if (total > upload.bytes) {
    const message = `The parts of upload '${upload.id}' would have ${total} bytes, but it was created with ${upload.bytes} bytes. Create an upload with the size of the whole file.`;
    throw new ApiProblem(400, message, { param: "data", code: "upload_too_large" });
  }
  if (upload.partCount >= limits.parts) {
    const message = `Upload '${upload.id}' has ${upload.partCount} parts, which is the maximum. Send larger parts.`;
    throw new ApiProblem(400, message, { param: "data", code: "too_many_parts" });
  }
  if (pendingBytes + bytes > limits.pendingBytes) {
    const message = `The parts of all pending uploads may have ${limits.pendingBytes} bytes together. Complete or cancel another upload first.`;
    throw new ApiProblem(429, message, { code: "too_many_uploads" });
  }
}

/** Returns the parts with these ids, in this order. Rejects ids that are unknown or repeated, and a wrong total size. */
export function selectParts(
  upload: StoredUpload,
  parts: readonly StoredPart[],
  partIds: readonly string[],
): readonly StoredPart[] {
  const left = new Map(parts.map((part) => [part.id, part]));
  const selected = partIds.map((id, index) => {
    const part = left.get(id);
    if (!part) throw createPartProblem(upload, id, index, partIds);
    left.delete(id);
    return part;
  });
  const bytes = selected.reduce((sum, part) => sum + part.bytes, 0);
  if (bytes === upload.bytes) return selected;
  const message = `The parts have ${bytes} bytes, but upload '${upload.id}' was created with ${upload.bytes} bytes. List all parts in 'part_ids', or add the missing ones.`;
  throw new ApiProblem(400, message, { param: "part_ids", code: "bytes_mismatch" });
}

function createPartProblem(
  { id: uploadId }: StoredUpload,
  id: string,
  index: number,
  partIds: readonly string[],
): ApiProblem {
  const param = `part_ids[${index}]`;
  const isRepeated = partIds.indexOf(id) < index;
  const message = isRepeated
    ? `Invalid '${param}': part '${id}' is listed twice. List each part once.`
    : `Invalid '${param}': upload '${uploadId}' has no part with id '${id}'.`;
  return new ApiProblem(400, message, { param, code: "invalid_value" });
}
