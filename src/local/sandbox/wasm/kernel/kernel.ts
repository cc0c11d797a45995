import type { FileChange, KernelCommand, KernelMessage } from "../kernel-messages.ts";
import type { KernelFiles } from "./kernel-files.ts";

// One message contains at most about this many bytes of files and of paths.
const BATCH_BYTES = 8 * 1024 * 1024;
const BATCH_PATHS = 128 * 1024;
const FLUSH_BYTES = 8 * 1024;
const FLUSH_MS = 20;
const INTERRUPT = 2; // SIGINT
const MAX_IMAGES = 20;
const MAX_IMAGE_BYTES = 12 * 1024 * 1024;
const MAX_ERROR_LENGTH = 100_000;
const MAX_REJECTED_PATHS = 1_000;

/** Sends a message to the parent process. */
export type Post = (message: KernelMessage) => void;
type Run = Extract<KernelCommand, { type: "run" }>;

/** The part of the interpreter that the kernel uses. */
export interface Interpreter {
  /** Runs one cell and returns its error and images as JSON, or `null` if it could not. */
  runCell(code: string): Uint8Array | null;
}

/** One interpreter: handles the parent's messages and reports the results. */
export class Kernel {
  readonly #files: KernelFiles;
  readonly #post: Post;
  readonly #output: OutputSender;
  #deadline: number | null = null;
  #interrupted = false;

  constructor(files: KernelFiles, post: Post) {
    this.#files = files;
    this.#post = post;
    this.#output = new OutputSender(post);
  }

  /** Receives what Python prints. */
  write(stream: "stdout" | "stderr", bytes: Uint8Array): number {
    return this.#output.write(stream, bytes);
  }

  handle(message: KernelCommand, python: Interpreter): void {
    if (message.type === "changes") this.#files.applyChanges(message.changes);
    else this.#run(message, python);
  }

  #run({ code, timeoutMs, maxOutputBytes }: Run, python: Interpreter): void {
    this.#output.start(maxOutputBytes);
    this.#interrupted = false;
    this.#deadline = performance.now() + timeoutMs;
    const answer = python.runCell(code);
    this.#deadline = null;
    const { error, images } = this.#readAnswer(answer);
    this.#output.flush();
    this.#post({ type: "ran", error, images, timedOut: this.#interrupted });
    this.#sendChanges();
  }

  #readAnswer(answer: Uint8Array | null): { error: string | null; images: Uint8Array[] } {
    if (answer !== null) return parseCellAnswer(answer);
    // The interrupt hit the code around the cell. Without an interrupt, Python is broken.
    if (!this.#interrupted) throw new Error("The interpreter did not answer.");
    return { error: "KeyboardInterrupt", images: [] };
  }

  #sendChanges(): void {
    const { changes, rejected } = this.#files.findChanges();
    let batch: FileChange[] = [];
    let bytes = 0;
    let paths = 0;
    for (const change of splitFiles(changes)) {
      batch.push(change);
      bytes += change.change === "file" ? change.bytes.length : 0;
      paths += change.path.length;
      if (bytes < BATCH_BYTES && paths < BATCH_PATHS) continue;
      this.#post({ type: "changes", changes: batch });
      batch = [];
      bytes = 0;
      paths = 0;
    }
    this.#post({ type: "changes", changes: batch });
    const first = rejected.slice(0, MAX_REJECTED_PATHS).map((path) => path.slice(0, 200));
    this.#post({ type: "filesSent", rejected: first });
  }

  /**
   * Creates the buffer that Python checks for a signal every few instructions. Python blocks the only thread, so no
   * other code could write to it; instead, reading it checks the clock. It signals once per run: code that catches
   * the signal runs until the parent kills it.
   */
  createSignalBuffer(): { 0: number } {
    const readSignal = () => this.#readSignal();
    return {
      get 0() {
        return readSignal();
      },
      set 0(_cleared) {},
    };
  }

  #readSignal(): number {
    if (this.#deadline === null || this.#interrupted) return 0;
    if (performance.now() <= this.#deadline) return 0;
    this.#interrupted = true;
    return INTERRUPT;
  }
}

function parseCellAnswer(answer: Uint8Array): { error: string | null; images: Uint8Array[] } {
  const parsed: unknown = JSON.parse(new TextDecoder().decode(answer));
  const { error, images } = Object(parsed);
  const pictures = (Array.isArray(images) ? images : [])
    .slice(0, MAX_IMAGES)
    .map((base64) => Buffer.from(String(base64), "base64"));
  let size = 0;
  return {
    error: typeof error === "string" ? error.slice(0, MAX_ERROR_LENGTH) : null,
    images: pictures.filter((png) => {
      size += png.length;
      return size <= MAX_IMAGE_BYTES;
    }),
  };
}

/** Splits large files, so that no message is larger than a batch. */
function* splitFiles(changes: Iterable<FileChange>): Generator<FileChange> {
  for (const change of changes) {
    if (change.change !== "file" || change.bytes.length <= BATCH_BYTES) {
      yield change;
      continue;
    }
    const { bytes } = change;
    for (let at = 0; at < bytes.length; at += BATCH_BYTES) {
      const piece = bytes.subarray(at, at + BATCH_BYTES);
      yield { ...change, bytes: piece, more: at + BATCH_BYTES < bytes.length };
    }
  }
}

/** Sends output while the code runs, so that a killed run still has some. */
class OutputSender {
  readonly #post: Post;
  /** Parts in the order of printing; adjacent parts of one stream are sent together. */
  #waiting: { readonly stream: "stdout" | "stderr"; readonly parts: Uint8Array[] }[] = [];
  readonly #remaining = { stdout: 0, stderr: 0 };
  #waitingBytes = 0;
  #flushedAt = 0;

  constructor(post: Post) {
    this.#post = post;
  }

  /** Starts a run. Collects one byte more than the limit, so that the parent can detect truncation. */
  start(maxBytes: number): void {
    this.#remaining.stdout = maxBytes + 1;
    this.#remaining.stderr = maxBytes + 1;
    this.#flushedAt = 0;
  }

  write(stream: "stdout" | "stderr", bytes: Uint8Array): number {
    const kept = bytes.slice(0, this.#remaining[stream]);
    this.#remaining[stream] -= kept.length;
    const last = this.#waiting.at(-1);
    if (last?.stream === stream) last.parts.push(kept);
    else if (kept.length > 0) this.#waiting.push({ stream, parts: [kept] });
    this.#waitingBytes += kept.length;
    if (this.#isDue()) this.flush();
    return bytes.length;
  }

  #isDue(): boolean {
    if (this.#waitingBytes === 0) return false;
    if (this.#waitingBytes >= FLUSH_BYTES) return true;
    return performance.now() - this.#flushedAt >= FLUSH_MS;
  }

  flush(): void {
    for (const { stream, parts } of this.#waiting)
      this.#post({ type: "output", stream, bytes: Buffer.concat(parts) });
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#flushedAt = performance.now();
  }
}
