import { randomUUID } from "node:crypto";
import { type FileHandle, link, open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { InvalidOptionError } from "../../base/errors.ts";
import { getErrorCode } from "../../host/to-filesystem-error.ts";
import { endOnSignal, removeAtExit } from "../end-on-signal.ts";

/** The size of a written file. */
export interface WrittenFile {
  /** Number of pieces. */
  readonly count: number;
  readonly bytes: number;
}

/**
 * Writes a file (0600) that is complete or missing: also after a signal, an error or a full disk. Throws
 * `InvalidOptionError` if it exists, unless `force` replaces it.
 */
export async function writeNewFile(
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  { force }: { readonly force: boolean },
): Promise<WrittenFile> {
  const temporary = join(dirname(path), `.wink-${randomUUID()}.tmp`);
  using _signals = endOnSignal(async () => {}, { code: 130 });
  using _removal = removeAtExit(temporary);
  try {
    const written = await fill(temporary, pieces);
    await (force ? rename(temporary, path) : moveToNew(temporary, path));
    return written;
  } catch (error) {
    throw toOutError(error, path);
  }
}

async function fill(path: string, pieces: AsyncIterable<Uint8Array>): Promise<WrittenFile> {
  await using file: FileHandle = await open(path, "wx", 0o600);
  let [count, bytes] = [0, 0];
  for await (const piece of pieces) {
    await file.appendFile(piece);
    count += 1;
    bytes += piece.byteLength;
  }
  await file.sync();
  return { count, bytes };
}

/** Gives a file its name, unless the name is taken. */
async function moveToNew(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!NO_LINKS.has(getErrorCode(error) ?? "")) throw error;
    await (await open(to, "wx", 0o600)).close();
    await rename(from, to);
  }
}

/** Codes of file systems without hard links, such as exFAT. */
const NO_LINKS: ReadonlySet<string> = new Set(["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"]);

function toOutError(error: unknown, path: string): unknown {
  const code = getErrorCode(error);
  if (code === undefined) return error;
  const exists = code === "EEXIST";
  return new InvalidOptionError({
    ...{ field: "--out", value: path, cause: error },
    rule: exists ? "must be a new file" : `must be a file that can be written (${code})`,
    remedy: exists
      ? "pass --force to replace it, or another path"
      : "check the folder, its permissions and the free space",
  });
}
