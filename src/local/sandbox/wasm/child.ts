import { type ChildProcess, spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { type KernelCommand, type KernelMessage, parseKernelMessage } from "./kernel-messages.ts";
import { readResidentBytes } from "./read-resident-bytes.ts";

const MiB = 1024 * 1024;
const PAGE = 64 * 1024;
// Memory of Node and Pyodide before any code runs, plus some margin.
const BASE_BYTES = 320 * MiB;
const MIN_MEMORY_BYTES = 64 * MiB;
const MEMORY_CHECK_MS = 50;
const START_TIMEOUT_MS = 60_000;

/** Options of {@link WasmChild}. */
export interface WasmChildOptions {
  /** Pyodide's package folder. */
  readonly pyodide: string;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly maxFiles: number;
  /** Milliseconds that starting may take. @default 60000 */
  readonly startMs?: number | undefined;
}

/** A Node process with one interpreter. It can read nothing except Pyodide, and dies with this process. */
export class WasmChild {
  readonly #child: ChildProcess;
  readonly #guard: ChildProcess | undefined;
  readonly #memoryBytes: number;
  readonly #startMs: number;
  #listener: ((message: KernelMessage) => void) | undefined;
  #warnings = "";
  /** Why the process was killed, or its error message when it failed. */
  exitReason: string | undefined;
  hasExited = false;
  /** Resolves when the process has ended. */
  readonly exited: Promise<void>;

  constructor(options: WasmChildOptions) {
    const { memoryBytes, diskBytes, maxFiles, startMs = START_TIMEOUT_MS } = options;
    this.#startMs = startMs;
    this.#memoryBytes = Math.max(memoryBytes, MIN_MEMORY_BYTES);
    const pyodide = realpathSync(options.pyodide);
    const entry = resolveKernelFile();
    const flags = [
      "--permission",
      ...[`${pyodide}/`, `${dirname(entry)}/`, ...listPackageFiles(entry)].map(
        (path) => `--allow-fs-read=${path}`,
      ),
      "--disallow-code-generation-from-strings",
      `--wasm-max-mem-pages=${Math.floor(this.#memoryBytes / PAGE)}`,
      "--max-old-space-size=256",
      "--no-warnings",
    ];
    this.#child = spawn(
      process.execPath,
      [...flags, entry, pyodide, String(diskBytes), String(maxFiles)],
      { env: {}, stdio: ["ignore", "ignore", "pipe", "ipc"], serialization: "advanced" },
    );
    this.#guard = this.#child.pid === undefined ? undefined : startGuard(this.#child.pid);
    this.exited = new Promise((resolve) => {
      const onExit = () => {
        this.hasExited = true;
        this.#guard?.kill("SIGKILL");
        resolve();
      };
      this.#child.once("error", onExit).once("exit", onExit);
    });
    this.#child.stderr?.on("data", (text) => {
      if (this.#warnings.length < 4_096) this.#warnings += text;
    });
    this.#child.on("message", (message) => this.#handleMessage(message));
  }

  /** Waits until the interpreter is ready. Rejects if it does not start. */
  async waitUntilReady(): Promise<void> {
    const timer = setTimeout(() => this.kill("it did not start in time"), this.#startMs);
    const ready = new Promise<true>((resolve) => {
      this.setListener(({ type }) => type === "ready" && resolve(true));
    });
    const isReady = await Promise.race([ready, this.exited]);
    clearTimeout(timer);
    this.setListener(undefined);
    if (isReady) return;
    throw new Error(`Pyodide did not start: ${this.exitReason ?? this.#warnings.trim()}`);
  }

  /** Sets the listener for messages. It replaces the previous one. */
  setListener(listener: ((message: KernelMessage) => void) | undefined): void {
    this.#listener = listener;
  }

  /** Resolves when the message was sent. Does nothing if the process has ended. */
  send(message: KernelCommand): Promise<void> {
    return new Promise((resolve) => {
      if (this.#child.connected) this.#child.send(message, () => resolve());
      else resolve();
    });
  }

  kill(cause: string): void {
    this.exitReason ??= cause;
    this.#child.kill("SIGKILL");
  }

  /** Kills the process when it exceeds its memory limit. Dispose of the result to stop watching. */
  watchMemory(): Disposable {
    const { pid } = this.#child;
    const most = this.#memoryBytes + BASE_BYTES;
    const timer = setInterval(async () => {
      if (pid === undefined || (await readResidentBytes(pid)) <= most) return;
      this.kill(`it used more than its ${Math.round(this.#memoryBytes / MiB)} MiB of memory`);
    }, MEMORY_CHECK_MS);
    return { [Symbol.dispose]: () => clearInterval(timer) };
  }

  #handleMessage(message: unknown): void {
    if (this.exitReason !== undefined) return; // in transit when the process was killed
    const read = parseKernelMessage(message);
    // Python's error may be long, and only its first line is useful.
    if (read?.type === "failed") this.exitReason ??= read.problem.split("\n", 1)[0]?.slice(0, 200);
    if (read) this.#listener?.(read);
    else this.kill("it sent a message that the interpreter never sends");
  }
}

/** Finds the folder of Pyodide, an optional package; `undefined` if it is not installed. */
export function findPyodide(): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve("pyodide/package.json"));
  } catch {
    return undefined; // it cannot be resolved
  }
}

/** Whether Pyodide is installed. Only a trial run shows whether it works. */
export function isPyodideInstalled(): boolean {
  return findPyodide() !== undefined;
}

function resolveKernelFile(): string {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return realpathSync(fileURLToPath(new URL(`./kernel-main.${extension}`, import.meta.url)));
}

/** Lists every package.json above `entry`. Node reads them to determine the module type. */
function listPackageFiles(entry: string): string[] {
  const folders = [];
  for (let at = dirname(entry); at !== dirname(at); at = dirname(at)) folders.push(at);
  return folders.map((folder) => `${folder}/package.json`);
}

/**
 * Starts a shell that waits for this process to end in any way and then kills the child. Python inside a
 * long instruction would not notice the end. Without a shell, only an idle child notices it.
 */
function startGuard(pid: number): ChildProcess | undefined {
  if (process.platform === "win32") return undefined;
  const guard = spawn("/bin/sh", ["-c", 'read -r _; kill -9 "$0"', String(pid)], {
    env: {},
    stdio: ["pipe", "ignore", "ignore"],
  });
  guard.on("error", () => {}); // no shell on this host
  guard.unref();
  return guard;
}
