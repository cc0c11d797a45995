import { createReadStream, createWriteStream } from "node:fs";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { explainStorage } from "../store/storage-problem.ts";

/** Options of {@link joinFiles}. */
export interface JoinOptions {
  /** Called with each piece of the contents, in order. */
  readonly onChunk: (chunk: Uint8Array) => void;
  readonly signal: AbortSignal;
}

/** How many bytes are read at a time. */
const CHUNK_BYTES = 2 ** 20;

/**
 * Writes the contents of files one after the other to a new file, without buffering them. The caller deletes the new
 * file if this throws.
 */
export async function joinFiles(
  paths: readonly string[],
  target: string,
  { onChunk, signal }: JoinOptions,
): Promise<void> {
  async function* readChunks(): AsyncGenerator<Uint8Array> {
    for (const path of paths)
      for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
        onChunk(chunk);
        yield chunk;
      }
  }
  const file = createWriteStream(target, { flags: "wx", mode: 0o600 });
  await explainStorage(dirname(target), () => pipeline(readChunks, file, { signal }));
}
