import type { PythonRun, RunLimits, SandboxProcess, ShellRun } from "../sandbox.ts";
import { WasmChild, type WasmChildOptions } from "./child.ts";
import type { WasmFolder } from "./folder.ts";
import type { FileChange } from "./messages.ts";
import { WasmRun } from "./run.ts";

const BATCH_BYTES = 8 * 1024 * 1024;

const NO_SHELL = [
  "There is no shell in the wasm sandbox: it runs Python and nothing else.",
  "Commands need the bubblewrap sandbox (on Debian: apt install bubblewrap).\n",
].join("\n");

/** A container's interpreter: started with the first run, and again after one that died. */
export class WasmProcess implements SandboxProcess {
  readonly #options: WasmChildOptions;
  readonly #folder: WasmFolder;
  #child: WasmChild | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #disposed = false;

  constructor(options: WasmChildOptions, folder: WasmFolder) {
    this.#options = options;
    this.#folder = folder;
  }

  /** Starts the interpreter before it is needed. */
  async start(): Promise<void> {
    await this.#living();
  }

  python(code: string, limits: RunLimits): Promise<PythonRun> {
    const run = this.#last.then(() => this.#python(code, limits));
    this.#last = run.catch(() => {}); // whoever asked for it is told
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
    await this.#child?.gone;
    await this.#last;
  }

  async #python(code: string, limits: RunLimits): Promise<PythonRun> {
    limits.signal?.throwIfAborted();
    const child = await this.#living();
    using _watch = child.watchMemory();
    await this.#bring(child);
    const run = new WasmRun(child, this.#folder, limits);
    const result = await run.of(code);
    if (result.died) this.#child = undefined;
    limits.signal?.throwIfAborted();
    return result;
  }

  async #living(): Promise<WasmChild> {
    if (this.#disposed) throw new Error("The sandbox's process is disposed: open another");
    if (this.#child && !this.#child.isGone) return this.#child;
    this.#folder.forget();
    const child = new WasmChild(this.#options);
    this.#child = child;
    await child.ready();
    return child;
  }

  /** Gives the interpreter what was changed on the host. */
  async #bring(child: WasmChild): Promise<void> {
    let changes: FileChange[] = [];
    let bytes = 0;
    for await (const change of this.#folder.look()) {
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
