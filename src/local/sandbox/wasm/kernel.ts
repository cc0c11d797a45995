import type { SandboxImage } from "../sandbox.ts";
import { BOOTSTRAP } from "./bootstrap.ts";
import type { KernelFiles } from "./kernel-files.ts";
import type { KernelCommand, KernelMessage } from "./kernel-messages.ts";
import type { Pyodide } from "./pyodide.ts";

// One message contains at most about this many bytes of files.
const BATCH_BYTES = 8 * 1024 * 1024;
const FLUSH_BYTES = 8 * 1024;
const FLUSH_MS = 20;
const INTERRUPT = 2; // SIGINT
const MAX_IMAGE_BYTES = 16 * 1024 * 1024;

/** Sends a message to the parent process. */
export type Post = (message: KernelMessage) => Promise<void>;
type Run = Extract<KernelCommand, { type: "run" }>;

/** One interpreter: handles the parent's messages and reports the results. */
export class Kernel {
  readonly #files: KernelFiles;
  readonly #post: Post;
  readonly #runCell: (code: string) => CellResult;
  readonly #output: OutputSender;
  #deadline: number | null = null;
  #interrupted = false;

  constructor(pyodide: Pyodide, files: KernelFiles, post: Post) {
    this.#files = files;
    this.#post = post;
    this.#output = new OutputSender(post);
    pyodide.setStdout({ write: (bytes) => this.#output.write("stdout", bytes) });
    pyodide.setStderr({ write: (bytes) => this.#output.write("stderr", bytes) });
    pyodide.runPython(BOOTSTRAP, { filename: "<wink>" });
    const start = "(_wink_start(), globals().pop('_wink_start'))[0]";
    this.#runCell = toCellRunner(pyodide.runPython(start, { filename: "<wink>" }));
    pyodide.setInterruptBuffer(this.#createSignalBuffer());
  }

  async handle(message: KernelCommand): Promise<void> {
    if (message.type === "changes") this.#files.applyChanges(message.changes);
    else await this.#run(message);
  }

  async #run({ code, timeoutMs, maxOutputBytes }: Run): Promise<void> {
    this.#output.start(maxOutputBytes);
    const { error, images } = this.#runCode(code, timeoutMs);
    await this.#output.flush();
    await this.#post({ type: "ran", error, images, timedOut: this.#interrupted });
    await this.#sendChanges();
  }

  #runCode(code: string, timeoutMs: number): { error: string | null; images: SandboxImage[] } {
    this.#interrupted = false;
    this.#deadline = performance.now() + timeoutMs;
    try {
      const result = this.#runCell(code);
      const [error, list] = result.toJs();
      result.destroy();
      return { error: error ?? null, images: toCellImages(list) };
    } catch (raised) {
      // The interrupt hit the bootstrap code instead of the model's code. Any other error means that Python crashed.
      if (!this.#interrupted || !String(raised).includes("KeyboardInterrupt")) throw raised;
      return { error: "KeyboardInterrupt", images: [] };
    } finally {
      this.#deadline = null;
    }
  }

  async #sendChanges(): Promise<void> {
    const { changes, rejected } = this.#files.findChanges();
    let batch = [];
    let bytes = 0;
    for (const change of changes) {
      batch.push(change);
      bytes += change.path.length + (change.change === "file" ? change.bytes.length : 0);
      if (bytes < BATCH_BYTES) continue;
      await this.#post({ type: "changes", changes: batch });
      batch = [];
      bytes = 0;
    }
    await this.#post({ type: "changes", changes: batch });
    await this.#post({ type: "filesSent", rejected });
  }

  /**
   * Creates the buffer that Python checks for a signal every few instructions. Python blocks the only thread, so no
   * other code could write to it; instead, reading it checks the clock. It signals once per run: code that catches
   * the signal runs until the parent kills it. Between runs it signals every time, which stops leftover code.
   */
  #createSignalBuffer(): { 0: number } {
    const readSignal = () => this.#readSignal();
    return {
      get 0() {
        return readSignal();
      },
      set 0(_cleared) {},
    };
  }

  #readSignal(): number {
    if (this.#deadline === null) return INTERRUPT;
    if (this.#interrupted || performance.now() <= this.#deadline) return 0;
    this.#interrupted = true;
    return INTERRUPT;
  }
}

interface CellResult {
  toJs(): [error: string | undefined, images: readonly string[]];
  destroy(): void;
}

function toCellRunner(value: unknown): (code: string) => CellResult {
  if (typeof value !== "function") throw new Error("The interpreter did not start correctly.");
  return (code) => value(code);
}

function toCellImages(list: readonly string[]): SandboxImage[] {
  return list
    .filter((base64) => base64.length <= MAX_IMAGE_BYTES)
    .map((base64) => ({ mediaType: "image/png", base64 }));
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
    if (this.#isDue()) this.flush().catch(() => {}); // the parent has ended, so this process will too
    return bytes.length;
  }

  #isDue(): boolean {
    if (this.#waitingBytes === 0) return false;
    if (this.#waitingBytes >= FLUSH_BYTES) return true;
    return performance.now() - this.#flushedAt >= FLUSH_MS;
  }

  async flush(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    const sent = waiting.map(({ stream, parts }) =>
      this.#post({ type: "output", stream, bytes: concatBytes(parts) }),
    );
    this.#waitingBytes = 0;
    this.#flushedAt = performance.now();
    await Promise.all(sent);
  }
}

function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
