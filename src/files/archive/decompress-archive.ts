import { createReadStream, createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { getErrorMessage } from "../../base/errors.ts";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { toFilesystemErrorWithRemedy } from "../../host/to-filesystem-error.ts";

/**
 * Decompresses a gzip archive to a new file at `to`, and returns the path of the plain archive: `to`, or
 * `path` if it is not compressed. The caller removes the file at `to`, also after an error.
 *
 * Throws `FilesystemError` if the archive cannot be read, is damaged, or has more than `maxBytes` bytes.
 */
export async function decompressArchive(
  path: string,
  to: string,
  { maxBytes }: { readonly maxBytes: number },
): Promise<string> {
  try {
    if (!(await isGzip(path))) return path;
    const limit = createLimit(path, maxBytes);
    await pipeline(
      createReadStream(path),
      createGunzip(),
      limit,
      createWriteStream(to, { flags: "wx" }),
    );
    return to;
  } catch (error) {
    if (error instanceof FilesystemError) throw error;
    if (error instanceof Error && "code" in error && String(error.code).startsWith("Z_")) {
      const problem = `cannot be decompressed: ${getErrorMessage(error)}. Create the archive again.`;
      throw FilesystemError.invalid(path, problem, error);
    }
    throw toFilesystemErrorWithRemedy(error, path, "make it readable, then try again");
  }
}

async function isGzip(path: string): Promise<boolean> {
  await using file = await open(path, "r");
  const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
  return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
}

/** Stops an archive that unpacks to far more than its own size. */
function createLimit(path: string, maxBytes: number): Transform {
  let total = 0;
  return new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      total += chunk.length;
      if (total <= maxBytes) return done(null, chunk);
      const problem = `unpacks to more than ${maxBytes} bytes. Unpack it yourself.`;
      return done(new FilesystemError("EFBIG", path, problem));
    },
  });
}
