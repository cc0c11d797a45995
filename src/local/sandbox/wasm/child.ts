import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import { type Barrier, SEARCH_PATH } from "./barrier.ts";
import { encodeFrame, FrameReader } from "./frames.ts";
import { type KernelCommand, type KernelMessage, parseKernelMessage } from "./kernel-messages.ts";
import { readResidentBytes } from "./read-resident-bytes.ts";

const MiB = 1024 * 1024;
const PAGE = 64 * 1024;
// Memory of Node and Pyodide before any code runs, plus some margin.
const BASE_BYTES = 320 * MiB;
const MIN_MEMORY_BYTES = 64 * MiB;
const MEMORY_CHECK_MS = 50;
const START_TIMEOUT_MS = 60_000;
const MESSAGE_LIMITS = { headerBytes: MiB, bodyBytes: 24 * MiB };

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

/** Receives a message. The next one is read after the returned promise. */
export type MessageListener = (message: KernelMessage) => Promise<void> | void;

/** A Node process with one interpreter. It can read nothing except Pyodide, and dies with this process. */
export class WasmChild {
  readonly #child: ChildProcess;
  readonly #commands: Duplex;
  readonly #guard: ChildProcess | undefined;
  readonly #memoryBytes: number;
  readonly #startMs: number;
  readonly #watch: NodeJS.Timeout;
  readonly #isWrapped: boolean;
  /** The process with the interpreter, if the barrier started it. */
  #inner: number | undefined;
  #listener: MessageListener | undefined;
  #warnings = "";
  /** Why the process was killed, or its error message when it failed. */
  exitReason: string | undefined;
  hasExited = false;
  /** Resolves when the process has ended. */
  readonly exited: Promise<void>;

  constructor(options: WasmChildOptions, barrier: Barrier) {
    const { startMs = START_TIMEOUT_MS } = options;
    this.#startMs = startMs;
    this.#memoryBytes = Math.max(options.memoryBytes, MIN_MEMORY_BYTES);
    this.#isWrapped = barrier.kind !== "none";
    const [file = "", ...args] = buildCommand(options, this.#memoryBytes, barrier);
    this.#child = spawn(file, args, {
      env: this.#isWrapped ? SEARCH_PATH : {},
      stdio: ["ignore", "ignore", "pipe", "pipe", "pipe", "pipe"],
    });
    const { pid } = this.#child;
    this.#guard = pid === undefined ? undefined : startGuard(pid);
    this.#watch = setInterval(() => this.#checkMemory(), MEMORY_CHECK_MS).unref();
    this.exited = new Promise((resolve) => {
      const onExit = () => {
        this.hasExited = true;
        clearInterval(this.#watch);
        this.#guard?.kill("SIGKILL");
        resolve();
      };
      this.#child.once("error", onExit).once("exit", onExit);
    });
    const [commands, messages, filter] = this.#child.stdio.slice(3).map(requirePipe);
    this.#commands = requirePipe(commands);
    this.#readMessages(requirePipe(messages));
    requirePipe(filter).end(barrier.filter ?? "");
    this.#child.stderr?.on("data", (text) => {
      if (this.#warnings.length < 4_096) this.#warnings += text;
    });
  }

  /** The process that was started: the interpreter's, or the barrier around it. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Waits until the interpreter is ready. Rejects if it does not start. */
  async waitUntilReady(): Promise<void> {
    const timer = setTimeout(() => this.kill("it did not start in time"), this.#startMs);
    const ready = new Promise<true>((resolve) => {
      this.setListener(({ type }) => {
        if (type === "ready") resolve(true);
      });
    });
    const isReady = await Promise.race([ready, this.exited]);
    clearTimeout(timer);
    this.setListener(undefined);
    if (isReady) this.pause();
    else throw new Error(`Pyodide did not start: ${this.exitReason ?? this.#warnings.trim()}`);
  }

  /** Sets the listener for messages. It replaces the previous one. Without one, a message ends the process. */
  setListener(listener: MessageListener | undefined): void {
    this.#listener = listener;
  }

  /** Resolves when the message was sent. Does nothing if the process has ended. */
  send(message: KernelCommand): Promise<void> {
    return new Promise((resolve) => {
      if (this.hasExited) resolve();
      else this.#commands.write(encodeFrame(message), () => resolve());
    });
  }

  /** Stops the process until {@link resume}: it gets no CPU time. Has no effect on Windows, where it only waits. */
  pause(): void {
    this.#signal("SIGSTOP");
  }

  resume(): void {
    this.#signal("SIGCONT");
  }

  kill(cause: string): void {
    this.exitReason ??= cause;
    this.#signal("SIGKILL");
    this.#child.kill("SIGKILL");
  }

  #signal(name: "SIGSTOP" | "SIGCONT" | "SIGKILL"): void {
    const pid = this.#findProcess();
    if (pid === undefined || this.hasExited || process.platform === "win32") return;
    try {
      process.kill(pid, name);
    } catch {
      // It has just ended.
    }
  }

  /** Returns the process that runs the interpreter, or `undefined` while the barrier is still starting it. */
  #findProcess(): number | undefined {
    const { pid } = this.#child;
    if (pid === undefined || !this.#isWrapped) return pid;
    this.#inner ??= findFirstChild(pid);
    return this.#inner;
  }

  /** Runs for as long as the process lives, also between runs. */
  async #checkMemory(): Promise<void> {
    const pid = this.#findProcess();
    const most = this.#memoryBytes + BASE_BYTES;
    if (pid === undefined || (await readResidentBytes(pid)) <= most) return;
    this.kill(`it used more than its ${Math.round(this.#memoryBytes / MiB)} MiB of memory`);
  }

  #readMessages(messages: Duplex): void {
    const reader = new FrameReader(MESSAGE_LIMITS);
    const readAll = async () => {
      for await (const chunk of messages) {
        for (const message of reader.read(chunk)) await this.#handleMessage(message);
      }
    };
    readAll().catch(() => this.kill("it sent a message that the interpreter never sends"));
  }

  async #handleMessage(message: unknown): Promise<void> {
    if (this.exitReason !== undefined) return; // in transit when the process was killed
    const read = parseKernelMessage(message);
    // Python's error may be long, and only its first line is useful.
    if (read?.type === "failed") this.exitReason ??= read.problem.split("\n", 1)[0]?.slice(0, 200);
    else if (read && this.#listener) await this.#listener(read);
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

function buildCommand(
  { pyodide, diskBytes, maxFiles }: WasmChildOptions,
  memoryBytes: number,
  barrier: Barrier,
): readonly string[] {
  const folder = realpathSync(pyodide);
  const entry = resolveKernelFile();
  const sources = dirname(dirname(entry));
  const files = [folder, sources, ...listPackageFiles(sources)];
  const flags = [
    "--permission",
    ...[`${folder}/`, `${sources}/`, ...files.slice(2)].map((path) => `--allow-fs-read=${path}`),
    "--disallow-code-generation-from-strings",
    `--wasm-max-mem-pages=${Math.floor(memoryBytes / PAGE)}`,
    "--max-old-space-size=256",
    "--no-warnings",
  ];
  const program = [process.execPath, ...flags, entry, folder, String(diskBytes), String(maxFiles)];
  return barrier.wrap(program, [realpathSync(process.execPath), process.execPath, ...files]);
}

function resolveKernelFile(): string {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return realpathSync(fileURLToPath(new URL(`./kernel/kernel-main.${extension}`, import.meta.url)));
}

/** Lists the package.json of every folder from `folder` upwards. Node reads them to determine the module type. */
function listPackageFiles(folder: string): string[] {
  const folders = [];
  for (let at = folder; at !== dirname(at); at = dirname(at)) folders.push(at);
  return folders.map((at) => `${at}/package.json`);
}

function findFirstChild(pid: number): number | undefined {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
    return Number.parseInt(children, 10) || undefined;
  } catch {
    return undefined; // it has just ended
  }
}

function requirePipe(stream: unknown): Duplex {
  if (!(stream instanceof Duplex)) throw new Error("A pipe of the interpreter is missing.");
  // After its end, what is still written is lost; its exit is reported elsewhere.
  return stream.on("error", () => {});
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
