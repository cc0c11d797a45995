import { messageOf } from "../../base/errors.ts";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { hostCode, hostError } from "../../host/host-error.ts";
import { SyncRefusal } from "../sync/sync-reason.ts";
import { Stopped } from "./stop-flag.ts";

/** Why no checkpoint was taken of the folder that `path` is in. */
export function takeError(error: unknown, path: string): unknown {
  if (error instanceof FilesystemError || error instanceof Stopped) return error;
  const { problem, toTake } = wordsOf(error);
  const { code } = hostError(path, error);
  return new FilesystemError(code, path, `${problem}: ${toTake}`, error);
}

/** Why something in a folder is not as it was. */
export function restoreReason(error: unknown): string {
  if (error instanceof SyncRefusal) return error.message;
  const { problem, toRestore } = wordsOf(error);
  return `it ${problem}: ${toRestore}`;
}

/** Each reads on after the name of a file. */
interface Words {
  readonly problem: string;
  readonly toTake: string;
  readonly toRestore: string;
}

function wordsOf(error: unknown): Words {
  const known = WORDS.get(hostCode(error));
  if (known) return known;
  const [said] = messageOf(error).split(", "); // the rest names a place that is none of the user's
  return { problem: `was refused by this machine: ${said}`, ...SEE_TO_IT };
}

const SEE_TO_IT = {
  toTake: "see to it, then take the checkpoint again",
  toRestore: "see to it, then restore again",
} as const;

const CLOSED: Words = {
  problem: "is not open to this user",
  toTake:
    "a checkpoint has a copy of everything, so let this user read it, or move it out of the folder",
  toRestore: "change its permissions, or its folder's, then restore again",
};
const FULL: Words = {
  problem: "finds no room left on the disk",
  toTake: "free some, or set TMPDIR to a folder with more room",
  toRestore: "free some, then restore again",
};
const MISSING: Words = {
  problem: "does not exist",
  toTake: "a checkpoint is taken of a folder that is there",
  toRestore: "make the folder that it is in, then restore again",
};
const NO_FOLDER: Words = {
  problem: "is not a folder",
  toTake: "a checkpoint is taken of a folder, so give one",
  toRestore: "somebody else changes it meanwhile: wait for them, then restore again",
};

const WORDS = new Map<string | undefined, Words>([
  ["EACCES", CLOSED],
  ["EPERM", CLOSED],
  ["ENOSPC", FULL],
  ["EDQUOT", FULL],
  ["ENOENT", MISSING],
  ["ENOTDIR", NO_FOLDER],
]);
