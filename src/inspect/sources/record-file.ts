import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { getErrorMessage, WinkError } from "../../base/errors.ts";
import { parseLine, RecordLines } from "../../stores/record-lines.ts";
import type { SessionFeed } from "../inspector-source.ts";

/** How often the size of a file is compared, in milliseconds. */
const POLL_MS = 500;

/**
 * The records of a session file with one JSON record per line, of any name and any owner. Knows where each record
 * begins, so that reading on, and reading one record, do not read the file from its start.
 */
export class RecordFile implements SessionFeed {
  readonly #path: string;
  /** Offsets of the records that were read, and of the end of the last one. */
  readonly #offsets: number[] = [0];
  /** Size of the file when it was last read. */
  #size = 0;

  constructor(path: string) {
    this.#path = path;
  }

  async *read(from: number): AsyncGenerator<unknown> {
    const known = Math.min(from, this.#offsets.length - 1);
    await using file = await openRegularFile(this.#path);
    this.#size = (await file.stat()).size;
    const lines = new RecordLines(file, this.#size, this.#offsets[known] ?? 0);
    for await (const line of lines) {
      const n = known + lines.count - 1;
      if (this.#offsets.length === n + 1) this.#offsets.push(lines.end);
      if (n < from) continue;
      const parsed = parseLine(line);
      if (typeof parsed === "string") throw createDamagedError(this.#path, n + 1, parsed);
      yield parsed.record;
    }
  }

  watch(onChange: () => void): Disposable {
    const timer = setInterval(async () => {
      const size = await stat(this.#path).then(
        (stats) => stats.size,
        () => this.#size, // it was deleted; what was read stays
      );
      if (size !== this.#size) onChange();
    }, POLL_MS);
    timer.unref();
    return { [Symbol.dispose]: () => clearInterval(timer) };
  }
}

/** Opens a regular file. Never waits for the other end of a pipe. */
export async function openRegularFile(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new WinkError(`${path} is not a file. Pass the path of a session file.`);
}

function createDamagedError(path: string, line: number, problem: string): WinkError {
  const what = `Line ${line} of ${path} is not a record: ${getErrorMessage(problem)}`;
  return new WinkError(`${what}. The inspector shows the records before it.`);
}
