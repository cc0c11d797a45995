import type { SandboxImage } from "../sandbox.ts";
import type { KernelFiles } from "./kernel-files.ts";
import type { FromKernel, ToKernel } from "./messages.ts";
import type { Pyodide } from "./pyodide.ts";
import { BOOTSTRAP } from "./python.ts";

// One message holds at most about so many bytes of files.
const BATCH_BYTES = 8 * 1024 * 1024;
const FLUSH_BYTES = 8 * 1024;
const FLUSH_MS = 20;
const INTERRUPT = 2; // SIGINT
const MAX_IMAGE_BYTES = 16 * 1024 * 1024;

export type Post = (message: FromKernel) => Promise<void>;
type Run = Extract<ToKernel, { type: "run" }>;

/** One interpreter, which does what it is told and tells what came of it. */
export class Kernel {
  readonly #files: KernelFiles;
  readonly #post: Post;
  readonly #runCell: (code: string) => CellResult;
  readonly #output: Output;
  #deadline: number | null = null;
  #interrupted = false;

  constructor(pyodide: Pyodide, files: KernelFiles, post: Post) {
    this.#files = files;
    this.#post = post;
    this.#output = new Output(post);
    pyodide.setStdout({ write: (bytes) => this.#output.write("stdout", bytes) });
    pyodide.setStderr({ write: (bytes) => this.#output.write("stderr", bytes) });
    pyodide.runPython(BOOTSTRAP, { filename: "<wink>" });
    const start = "(_wink_start(), globals().pop('_wink_start'))[0]";
    this.#runCell = callable(pyodide.runPython(start, { filename: "<wink>" }));
    pyodide.setInterruptBuffer(this.#signals());
  }

  async do(message: ToKernel): Promise<void> {
    if (message.type === "changes") this.#files.take(message.changes);
    else await this.#run(message);
  }

  async #run({ code, timeoutMs, maxOutputBytes }: Run): Promise<void> {
    this.#output.begin(maxOutputBytes);
    const { error, images } = this.#call(code, timeoutMs);
    await this.#output.flush();
    await this.#post({ type: "ran", error, images, timedOut: this.#interrupted });
    await this.#tellChanges();
  }

  #call(code: string, timeoutMs: number): { error: string | null; images: SandboxImage[] } {
    this.#interrupted = false;
    this.#deadline = performance.now() + timeoutMs;
    try {
      const result = this.#runCell(code);
      const [error, list] = result.toJs();
      result.destroy();
      return { error: error ?? null, images: imagesOf(list) };
    } catch (raised) {
      // The interrupt met our own lines and not the code's. Anything else means that Python is gone.
      if (!this.#interrupted || !String(raised).includes("KeyboardInterrupt")) throw raised;
      return { error: "KeyboardInterrupt", images: [] };
    } finally {
      this.#deadline = null;
    }
  }

  async #tellChanges(): Promise<void> {
    const { changes, left } = this.#files.look();
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
    await this.#post({ type: "kept", left });
  }

  /**
   * Where Python looks for a signal every few instructions. Nobody else could write to it while Python has the only
   * thread, so it looks at the clock, and gives the signal once: code that catches it has until the parent kills.
   * Between runs nothing may run, so whatever was left behind for later is stopped each time.
   */
  #signals(): { 0: number } {
    const signal = () => this.#signal();
    return {
      get 0() {
        return signal();
      },
      set 0(_cleared) {},
    };
  }

  #signal(): number {
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

function callable(value: unknown): (code: string) => CellResult {
  if (typeof value !== "function") throw new Error("The interpreter did not start as it should");
  return (code) => value(code);
}

function imagesOf(list: readonly string[]): SandboxImage[] {
  return list
    .filter((base64) => base64.length <= MAX_IMAGE_BYTES)
    .map((base64) => ({ mediaType: "image/png", base64 }));
}

/** What is printed, sent on while it is: a run that must be killed has then said something. */
class Output {
  readonly #post: Post;
  readonly #waiting: { stdout: Uint8Array[]; stderr: Uint8Array[] } = { stdout: [], stderr: [] };
  readonly #room = { stdout: 0, stderr: 0 };
  #waitingBytes = 0;
  #flushedAt = 0;

  constructor(post: Post) {
    this.#post = post;
  }

  /** One byte more than is asked for tells the parent that there was more. */
  begin(maxBytes: number): void {
    this.#room.stdout = maxBytes + 1;
    this.#room.stderr = maxBytes + 1;
    this.#flushedAt = 0;
  }

  write(stream: "stdout" | "stderr", bytes: Uint8Array): number {
    const kept = bytes.slice(0, this.#room[stream]);
    this.#room[stream] -= kept.length;
    if (kept.length > 0) this.#waiting[stream].push(kept);
    this.#waitingBytes += kept.length;
    if (this.#isDue()) this.flush().catch(() => {}); // the parent is gone, and this goes with it
    return bytes.length;
  }

  #isDue(): boolean {
    if (this.#waitingBytes === 0) return false;
    if (this.#waitingBytes >= FLUSH_BYTES) return true;
    return performance.now() - this.#flushedAt >= FLUSH_MS;
  }

  async flush(): Promise<void> {
    const sent = [];
    for (const stream of ["stdout", "stderr"] as const) {
      const parts = this.#waiting[stream].splice(0);
      if (parts.length > 0) sent.push(this.#post({ type: "output", stream, bytes: joined(parts) }));
    }
    this.#waitingBytes = 0;
    this.#flushedAt = performance.now();
    await Promise.all(sent);
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
