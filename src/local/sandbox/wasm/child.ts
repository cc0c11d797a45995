import { type ChildProcess, spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { residentBytes } from "./memory.ts";
import { type FromKernel, readFromKernel, type ToKernel } from "./messages.ts";

const MiB = 1024 * 1024;
const PAGE = 64 * 1024;
// What Node and Pyodide hold before any code runs, with some air.
const BASE_BYTES = 320 * MiB;
const LEAST_BYTES = 64 * MiB;
const LOOK_MS = 50;
const START_MS = 60_000;

export interface WasmChildOptions {
  /** The folder of Pyodide. */
  readonly pyodide: string;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly maxFiles: number;
  /** How long it may take to start. @default a minute */
  readonly startMs?: number | undefined;
}

/** A Node process that holds one interpreter, may read nothing but Pyodide, and dies with this one. */
export class WasmChild {
  readonly #child: ChildProcess;
  readonly #guard: ChildProcess | undefined;
  readonly #memoryBytes: number;
  readonly #startMs: number;
  #listener: ((message: FromKernel) => void) | undefined;
  #warnings = "";
  /** Why it was killed, or what it said when it broke. */
  causeOfDeath: string | undefined;
  isGone = false;
  /** Resolves when it is gone. */
  readonly gone: Promise<void>;

  constructor(options: WasmChildOptions) {
    const { memoryBytes, diskBytes, maxFiles, startMs = START_MS } = options;
    this.#startMs = startMs;
    this.#memoryBytes = Math.max(memoryBytes, LEAST_BYTES);
    const pyodide = realpathSync(options.pyodide);
    const entry = kernelFile();
    const flags = [
      "--permission",
      ...[`${pyodide}/`, `${dirname(entry)}/`, ...packageFiles(entry)].map(
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
    this.gone = new Promise((resolve) => {
      const end = () => {
        this.isGone = true;
        this.#guard?.kill("SIGKILL");
        resolve();
      };
      this.#child.once("error", end).once("exit", end);
    });
    this.#child.stderr?.on("data", (text) => {
      if (this.#warnings.length < 4_096) this.#warnings += text;
    });
    this.#child.on("message", (message) => this.#hear(message));
  }

  /** Resolves when the interpreter is there, and rejects if it never will be. */
  async ready(): Promise<void> {
    const timer = setTimeout(() => this.kill("it did not start in time"), this.#startMs);
    const ready = new Promise<true>((resolve) => {
      this.listen(({ type }) => type === "ready" && resolve(true));
    });
    const isReady = await Promise.race([ready, this.gone]);
    clearTimeout(timer);
    this.listen(undefined);
    if (isReady) return;
    throw new Error(`Pyodide did not start: ${this.causeOfDeath ?? this.#warnings.trim()}`);
  }

  /** Who is told what it says; one at a time. */
  listen(listener: ((message: FromKernel) => void) | undefined): void {
    this.#listener = listener;
  }

  /** Resolves when it is sent; a child that is gone is noticed elsewhere. */
  send(message: ToKernel): Promise<void> {
    return new Promise((resolve) => {
      if (this.#child.connected) this.#child.send(message, () => resolve());
      else resolve();
    });
  }

  kill(cause: string): void {
    this.causeOfDeath ??= cause;
    this.#child.kill("SIGKILL");
  }

  /** Kills it as soon as it holds more memory than it may, until told to stop. */
  watchMemory(): Disposable {
    const { pid } = this.#child;
    const most = this.#memoryBytes + BASE_BYTES;
    const timer = setInterval(async () => {
      if (pid === undefined || (await residentBytes(pid)) <= most) return;
      this.kill(`it used more memory than the ${Math.round(this.#memoryBytes / MiB)} MiB it may`);
    }, LOOK_MS);
    return { [Symbol.dispose]: () => clearInterval(timer) };
  }

  #hear(message: unknown): void {
    if (this.causeOfDeath !== undefined) return; // what was still on its way when it was killed
    const read = readFromKernel(message);
    // Whatever Python says of its end may be long, and only its beginning is of use.
    if (read?.type === "failed")
      this.causeOfDeath ??= read.problem.split("\n", 1)[0]?.slice(0, 200);
    if (read) this.#listener?.(read);
    else this.kill("it sent a message that is none of the interpreter's");
  }
}

/** The folder of Pyodide, which is optional, or `undefined` if it is not installed. */
export function installedPyodide(): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve("pyodide/package.json"));
  } catch {
    return undefined; // it cannot be resolved
  }
}

/** Whether Pyodide is there at all; whether it works, only a trial run tells. */
export function isPyodideInstalled(): boolean {
  return installedPyodide() !== undefined;
}

function kernelFile(): string {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return realpathSync(fileURLToPath(new URL(`./kernel-main.${extension}`, import.meta.url)));
}

/** Every package.json above: Node reads them to know what kind of module a file is. */
function packageFiles(entry: string): string[] {
  const folders = [];
  for (let at = dirname(entry); at !== dirname(at); at = dirname(at)) folders.push(at);
  return folders.map((folder) => `${folder}/package.json`);
}

/**
 * A shell that waits for this process to end, however it does, and then kills the child: Python that is busy within one
 * instruction would not notice. Where there is no shell, only an idle child notices.
 */
function startGuard(pid: number): ChildProcess | undefined {
  if (process.platform === "win32") return undefined;
  const guard = spawn("/bin/sh", ["-c", 'read -r _; kill -9 "$0"', String(pid)], {
    env: {},
    stdio: ["pipe", "ignore", "ignore"],
  });
  guard.on("error", () => {}); // there is no shell
  guard.unref();
  return guard;
}
