import { getErrorMessage, InvalidOptionError } from "../../base/errors.ts";

/** The part of standard input that a {@link PipedInput} reads. Tests pass their own. */
export interface InputStream extends AsyncIterable<Uint8Array | string> {
  /** Whether a person types the input. */
  readonly isTTY?: boolean | undefined;
  destroy(): unknown;
}

/** How long an open pipe may send nothing. */
const FIRST_BYTE_MS = 3_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** Options of a {@link PipedInput}. */
export interface PipedInputOptions {
  /** Whether the user has requested it: then it is read from a terminal too, without a limit of time. */
  readonly isExpected: boolean;
  /** How long an open pipe may send nothing, in milliseconds, unless it is expected. @default 3_000 */
  readonly waitMs?: number | undefined;
}

/**
 * Reads standard input from its construction on, unless it is a terminal. An open pipe may belong to the parent process
 * and never end, so a pipe that sends nothing for a while is not read.
 */
export class PipedInput implements Disposable {
  readonly #stream: InputStream;
  readonly #text: Promise<string>;
  /** Resolves with the first byte or the end, or with `false` after a while without either. */
  readonly #hasStarted: Promise<boolean>;
  readonly #timer: NodeJS.Timeout | undefined;
  #start: (hasStarted: boolean) => void = () => {};

  constructor(stream: InputStream, { isExpected, waitMs = FIRST_BYTE_MS }: PipedInputOptions) {
    this.#stream = stream;
    this.#hasStarted = new Promise((resolve) => {
      this.#start = resolve;
    });
    if (!isExpected) this.#timer = setTimeout(() => this.#start(false), waitMs);
    this.#text = stream.isTTY && !isExpected ? Promise.resolve("") : this.#read();
    const onEnd = () => this.#start(true);
    this.#text.then(onEnd, onEnd);
  }

  /** Returns the whole text, or `null` if the pipe is open and sends nothing. */
  async read(): Promise<string | null> {
    return (await this.#hasStarted) ? await this.#text : null;
  }

  /** Stops reading, so that an open pipe does not keep the process alive. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    if (!this.#stream.isTTY) this.#stream.destroy();
  }

  async #read(): Promise<string> {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    try {
      for await (const chunk of this.#stream) {
        this.#start(true);
        const read = Buffer.from(chunk);
        chunks.push(read);
        bytes += read.length;
        if (bytes > MAX_BYTES) break;
      }
    } catch (cause) {
      throw createReadError(bytes, getErrorMessage(cause), cause);
    }
    if (bytes > MAX_BYTES) throw createReadError(bytes, `at most ${MAX_BYTES} bytes`);
    return Buffer.concat(chunks).toString("utf8");
  }
}

function createReadError(bytes: number, problem: string, cause?: unknown): InvalidOptionError {
  return new InvalidOptionError({
    field: "standard input",
    value: `${bytes} bytes`,
    rule: `must be readable (${problem})`,
    remedy: "pass the params with --param or --params FILE, and add </dev/null",
    cause,
  });
}
