import type { PythonRun, RunLimits, SandboxProcess, ShellRun } from "../sandbox.ts";
import { type Barrier, findBarrier } from "./barrier.ts";
import { WasmChild, type WasmChildOptions } from "./child.ts";
import type { WasmFolder } from "./folder.ts";
import type { FileChange } from "./kernel-messages.ts";
import { WasmRun } from "./run.ts";

const BATCH_BYTES = 8 * 1024 * 1024;

const NO_SHELL = [
  "There is no shell in the wasm sandbox: it only runs Python.",
  "Commands need the bubblewrap sandbox (on Debian: apt install bubblewrap), Podman or Docker.\n",
].join("\n");

/** A container's interpreter. It starts on the first run, and again after it died. */
export class WasmProcess implements SandboxProcess {
  readonly #options: WasmChildOptions;
  readonly #folder: WasmFolder;
  readonly #findBarrier: () => Promise<Barrier>;
  #child: WasmChild | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #disposed = false;

  constructor(
    options: WasmChildOptions,
    folder: WasmFolder,
    findBarrierHere: () => Promise<Barrier> = findBarrier,
  ) {
    this.#options = options;
    this.#folder = folder;
    this.#findBarrier = findBarrierHere;
  }

  /** Starts the interpreter before the first run. */
  async start(): Promise<void> {
    await this.#ensureChild();
  }

  python(code: string, limits: RunLimits): Promise<PythonRun> {
    const run = this.#queue.then(() => this.#runPython(code, limits));
    this.#queue = run.catch(() => {}); // the caller gets the error
    return run;
  }

  async shell(_command: string, { maxOutputBytes, signal }: RunLimits): Promise<ShellRun> {
    signal?.throwIfAborted();
    const stderr = NO_SHELL.slice(0, maxOutputBytes);
    const truncated = stderr.length < NO_SHELL.length;
    return { stdout: "", stderr, exitCode: 127, timedOut: false, truncated };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    this.#child?.kill("its container was closed");
    await this.#child?.exited;
    await this.#queue;
  }

  async #runPython(code: string, limits: RunLimits): Promise<PythonRun> {
    limits.signal?.throwIfAborted();
    const child = await this.#ensureChild();
    child.resume();
    await this.#sendChanges(child);
    const run = new WasmRun(child, this.#folder, limits);
    const result = await run.execute(code);
    child.pause();
    if (result.died) this.#child = undefined;
    limits.signal?.throwIfAborted();
    return result;
  }

  async #ensureChild(): Promise<WasmChild> {
    if (this.#disposed) throw createDisposedError();
    if (this.#child && !this.#child.hasExited) return this.#child;
    this.#folder.reset();
    const barrier = await this.#findBarrier();
    if (this.#disposed) throw createDisposedError();
    const child = new WasmChild(this.#options, barrier);
    this.#child = child;
    await child.waitUntilReady();
    return child;
  }

  /** Sends the changes made on the host to the interpreter. */
  async #sendChanges(child: WasmChild): Promise<void> {
    let changes: FileChange[] = [];
    let bytes = 0;
    for await (const change of this.#folder.findChanges()) {
      changes.push(change);
      bytes += change.path.length + (change.change === "file" ? change.bytes.length : 0);
      if (bytes < BATCH_BYTES) continue;
      await child.send({ type: "changes", changes });
      changes = [];
      bytes = 0;
    }
    if (changes.length > 0) await child.send({ type: "changes", changes });
  }
}

function createDisposedError(): Error {
  return new Error("The sandbox process was disposed of. Open another one.");
}
