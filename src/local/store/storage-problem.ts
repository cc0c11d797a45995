import { getErrorMessage, InvalidOptionError } from "../../base/errors.ts";
import { getErrorCode } from "../../host/to-filesystem-error.ts";
import { ApiProblem } from "../api-problem.ts";

/** Why a disk cannot be written to, by the code of the operating system. */
const REASONS: ReadonlyMap<string | undefined, Reason> = new Map([
  ["ENOSPC", "full"],
  ["EDQUOT", "full"],
  ["EROFS", "read-only"],
  ["EACCES", "forbidden"],
  ["EPERM", "forbidden"],
  ["EIO", "broken"],
]);

/** The same, by the primary result code of SQLite. */
const SQLITE_REASONS: ReadonlyMap<number, Reason> = new Map([
  [13, "full"],
  [8, "read-only"],
  [10, "broken"],
]);

type Reason = keyof typeof TEXTS;

const TEXTS = {
  full: ["has no space left", "Free space on its disk"],
  "read-only": ["is on a read-only disk", "Make the disk writable"],
  forbidden: ["may not be written to by this user", "Change its owner or its mode"],
  broken: ["is on a disk that reports errors", "Check the disk"],
} as const;

/**
 * Returns the error for a client if a disk could not be written to, naming the place and the remedy. Returns any other
 * error unchanged.
 */
export function toStorageProblem(error: unknown, place: string): unknown {
  const reason = findReason(error);
  if (reason === undefined) return error;
  const [what, remedy] = TEXTS[reason];
  const message = `The provider's folder ${place} ${what} (${getErrorMessage(error)}). ${remedy}, or start the provider with another dataDir.`;
  return new ApiProblem(reason === "full" ? 507 : 500, message, {
    code: "storage_unavailable",
    headers: { "x-should-retry": "false" },
    cause: error,
  });
}

/** Returns the error for an option if the data folder could not be written to. Returns any other error unchanged. */
export function toDataDirError(error: unknown, dataDir: string): unknown {
  const cause = error instanceof ApiProblem ? error.cause : error;
  const reason = error instanceof InvalidOptionError ? undefined : findReason(cause);
  if (reason === undefined) return error;
  const [what, remedy] = TEXTS[reason];
  return new InvalidOptionError({
    field: "dataDir",
    value: dataDir,
    rule: `must be a folder that can be written to: it ${what} (${getErrorMessage(cause)})`,
    remedy: `${remedy.charAt(0).toLowerCase()}${remedy.slice(1)}, or use another folder`,
    cause,
  });
}

/** Runs `work`. If a disk cannot be written to, throws the error that names the place. */
export async function explainStorage<Result>(
  place: string,
  work: () => Promise<Result> | Result,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw toStorageProblem(error, place);
  }
}

function findReason(error: unknown): Reason | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("errcode" in error && typeof error.errcode === "number")
    return SQLITE_REASONS.get(error.errcode % 256);
  return REASONS.get(getErrorCode(error)) ?? findNamedReason(error.message);
}

/** Programs such as `mke2fs` report these errors only as text. */
function findNamedReason(message: string): Reason | undefined {
  if (message.includes("No space left on device")) return "full";
  return message.includes("Read-only file system") ? "read-only" : undefined;
}
