import type { PythonRun, RunLimits } from "../sandbox.ts";
import type { WasmChild } from "./child.ts";
import type { WasmFolder } from "./folder.ts";
import type { FileChange, KernelMessage } from "./kernel-messages.ts";

// Milliseconds that interrupted code may take to stop, and that its files may take to arrive.
const GRACE_MS = 1_000;
const FILES_MS = 60_000;
const MAX_REJECTED = 100_000;

/** One run, seen from the parent process: enforces its limits and stores its files. */
export class WasmRun {
  readonly #child: WasmChild;
  readonly #folder: WasmFolder;
  readonly #limits: RunLimits;
  readonly #stdout: CapturedOutput;
  readonly #stderr: CapturedOutput;
  /** Bytes of both streams, in the order of printing. */
  readonly #printed: Uint8Array[] = [];
  readonly #rejectedPaths: string[] = [];
  #storing: Promise<void> = Promise.resolve();
  #ran: Extract<KernelMessage, { type: "ran" }> | undefined;
  #timedOut = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(child: WasmChild, folder: WasmFolder, limits: RunLimits) {
    this.#child = child;
    this.#folder = folder;
    this.#limits = limits;
    this.#stdout = new CapturedOutput(limits.maxOutputBytes);
    this.#stderr = new CapturedOutput(limits.maxOutputBytes);
  }

  async execute(code: string): Promise<PythonRun> {
    const { timeoutMs, maxOutputBytes, signal } = this.#limits;
    const abort = () => this.#child.kill("its run was aborted");
    signal?.addEventListener("abort", abort, { once: true });
    this.#killAfter(timeoutMs + GRACE_MS);
    try {
      const kept = new Promise<true>((resolve) => {
        this.#child.setListener((message) => this.#handleMessage(message, () => resolve(true)));
      });
      if (signal?.aborted) abort();
      await this.#child.send({ type: "run", code, timeoutMs, maxOutputBytes });
      const survived = (await Promise.race([kept, this.#child.exited])) === true;
      await this.#storing;
      await this.#folder.removeUnfinished();
      return this.#createResult(survived && this.#child.exitReason === undefined);
    } finally {
      clearTimeout(this.#timer);
      this.#child.setListener(undefined);
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Resolves when the next message may be read. */
  async #handleMessage(message: KernelMessage, done: () => void): Promise<void> {
    switch (message.type) {
      case "output":
        this.#add(message.stream === "stdout" ? this.#stdout : this.#stderr, message.bytes);
        break;
      case "ran":
        this.#ran = message;
        this.#killAfter(FILES_MS);
        break;
      case "changes":
        this.#storing = this.#store(message.changes);
        await this.#storing;
        break;
      case "filesSent":
        this.#rejectedPaths.push(...message.rejected);
        done();
        break;
      default:
        this.#child.kill("it sent a message that does not belong to a run");
    }
  }

  #add(stream: CapturedOutput, bytes: Uint8Array): void {
    this.#printed.push(stream.add(bytes));
  }

  async #store(changes: readonly FileChange[]): Promise<void> {
    try {
      const refused = await this.#folder.applyChanges(changes);
      // Only a few are shown.
      if (this.#rejectedPaths.length < MAX_REJECTED) this.#rejectedPaths.push(...refused);
    } catch (error) {
      this.#child.kill(`its files could not be stored: ${String(error)}`);
    }
  }

  #killAfter(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timedOut = true;
      this.#child.kill("it did not stop after its timeout");
    }, ms);
  }

  #createResult(survived: boolean): PythonRun {
    const ran = this.#ran;
    if (this.#rejectedPaths.length > 0)
      this.#add(this.#stderr, encodeLine(describeRejectedPaths(this.#rejectedPaths)));
    if (!survived) {
      const cause = this.#child.exitReason ?? "its process ended";
      const explanation = `The interpreter ended and lost its variables: ${cause}.`;
      this.#add(this.#stderr, encodeLine(explanation));
    }
    const [stdout, stderr] = [this.#stdout.text, this.#stderr.text];
    return {
      stdout,
      stderr,
      ...(stdout !== "" && stderr !== "" && { output: toText(this.#printed) }),
      error: ran?.error ?? null,
      images: (ran?.images ?? []).map((png) => ({
        mediaType: "image/png",
        base64: Buffer.from(png).toString("base64"),
      })),
      timedOut: this.#timedOut || (ran?.timedOut ?? false),
      truncated: this.#stdout.truncated || this.#stderr.truncated,
      died: !survived,
    };
  }
}

function describeRejectedPaths(paths: readonly string[]): string {
  const first = paths.slice(0, 3).map((path) => JSON.stringify(path.slice(0, 100)));
  const more = paths.length > 3 ? ` and ${paths.length - 3} more` : "";
  return `Not stored in /mnt/data (invalid name, too large, too many files or nested too deeply): ${first.join(", ")}${more}.`;
}

function encodeLine(line: string): Uint8Array {
  return new TextEncoder().encode(`${line}\n`);
}

/** Collects output up to a limit. The child enforces the limit too, but is not trusted to. */
class CapturedOutput {
  readonly #parts: Uint8Array[] = [];
  #remaining: number;
  truncated = false;

  constructor(maxBytes: number) {
    this.#remaining = maxBytes;
  }

  /** Adds bytes and returns the kept part. */
  add(bytes: Uint8Array): Uint8Array {
    const kept = bytes.subarray(0, this.#remaining);
    this.#remaining -= kept.length;
    if (kept.length < bytes.length) this.truncated = true;
    if (kept.length > 0) this.#parts.push(kept);
    return kept;
  }

  get text(): string {
    return toText(this.#parts);
  }
}

function toText(parts: readonly Uint8Array[]): string {
  return Buffer.concat(parts).toString("utf8");
}
