import { closeSync, readSync } from "node:fs";
import { openNoFollow } from "../../../host/open-no-follow.ts";
import { toFilesystemErrorWithRemedy } from "../../../host/to-filesystem-error.ts";
import type { PlannedFile } from "../planned-file.ts";
import { findPrivateKey, KEY_HEAD_BYTES } from "./find-private-key.ts";
import type { WithheldFile } from "./withheld-file.ts";

/** Returns the planned files that will be withheld when they are copied. Reads the start of every file. */
export function findKeyFiles(files: readonly PlannedFile[]): readonly WithheldFile[] {
  const buffer = Buffer.allocUnsafe(KEY_HEAD_BYTES);
  return files.flatMap((file) => {
    const key = file.mayContainKey ? null : findPrivateKey(readHead(file, buffer));
    return key === null ? [] : [{ path: file.mountPath, reason: `contains ${key}` }];
  });
}

function readHead({ hostPath }: PlannedFile, buffer: Buffer): Buffer {
  try {
    const descriptor = openNoFollow(hostPath);
    try {
      return buffer.subarray(0, readSync(descriptor, buffer));
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw toFilesystemErrorWithRemedy(
      error,
      hostPath,
      "make it readable, or add it to excludeGlob",
    );
  }
}
