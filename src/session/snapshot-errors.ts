import { WinkError } from "../base/wink-error.ts";

/** Thrown when a snapshot or a serialized session does not match the slices it is restored into. */
export class SnapshotRestoreError extends WinkError {
  override readonly name = "SnapshotRestoreError";
}

/** Thrown when a session's state cannot be serialized. */
export class SnapshotError extends WinkError {
  override readonly name = "SnapshotError";
}
