import { getErrorMessage } from "../../base/errors.ts";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { getErrorCode, toFilesystemError } from "../../host/to-filesystem-error.ts";
import { SyncError } from "../sync/sync-failure.ts";
import { StoppedError } from "./stop-flag.ts";

/** Converts an error at `path` to the error that `FolderCheckpoint.take` throws. */
export function toCheckpointError(error: unknown, path: string): unknown {
  if (error instanceof FilesystemError || error instanceof StoppedError) return error;
  const { problem, captureRemedy } = describeFailure(error);
  const { code } = toFilesystemError(path, error);
  return new FilesystemError(code, path, `${problem}. ${captureRemedy}`, error);
}

/** Returns the reason why an entry was not restored. */
export function toRestoreReason(error: unknown): string {
  if (error instanceof SyncError) return error.message;
  const { problem, restoreRemedy } = describeFailure(error);
  return `It ${problem}. ${restoreRemedy}`;
}

interface FailureText {
  /** The failure, as a predicate that follows the path. */
  readonly problem: string;
  readonly captureRemedy: string;
  readonly restoreRemedy: string;
}

function describeFailure(error: unknown): FailureText {
  const known = FAILURE_TEXTS.get(getErrorCode(error));
  if (known) return known;
  const [message] = getErrorMessage(error).split(", "); // the rest contains an internal path
  return { problem: `failed with ${message}`, ...DEFAULT_REMEDIES };
}

const DEFAULT_REMEDIES = {
  captureRemedy: "Fix the cause, then take the checkpoint again.",
  restoreRemedy: "Fix the cause, then restore again.",
} as const;

const NO_ACCESS: FailureText = {
  problem: "is not accessible to this user",
  captureRemedy:
    "Let this user read it, or move it out of the folder, because a checkpoint copies every file.",
  restoreRemedy: "Change its permissions or its folder's, then restore again.",
};
const DISK_FULL: FailureText = {
  problem: "does not fit on the disk",
  captureRemedy: "Free some space, or set TMPDIR to a folder with more space.",
  restoreRemedy: "Free some space, then restore again.",
};
const MISSING: FailureText = {
  problem: "does not exist",
  captureRemedy: "Create the folder before taking a checkpoint.",
  restoreRemedy: "Create its parent folder, then restore again.",
};
const NOT_A_FOLDER: FailureText = {
  problem: "is not a folder",
  captureRemedy: "Use the path of a folder.",
  restoreRemedy: "Another process is changing it. Wait until it is done, then restore again.",
};

const FAILURE_TEXTS = new Map<string | undefined, FailureText>([
  ["EACCES", NO_ACCESS],
  ["EPERM", NO_ACCESS],
  ["ENOSPC", DISK_FULL],
  ["EDQUOT", DISK_FULL],
  ["ENOENT", MISSING],
  ["ENOTDIR", NOT_A_FOLDER],
]);
