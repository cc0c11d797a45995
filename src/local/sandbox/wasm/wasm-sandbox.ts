import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getErrorMessage } from "../../../base/errors.ts";
import type { LimitReport, Sandbox, SandboxOptions } from "../sandbox.ts";
import { findBarrier } from "./barrier.ts";
import { findPyodide } from "./child.ts";
import { WasmFolder } from "./folder.ts";
import { WasmProcess } from "./process.ts";

const MiB = 1024 * 1024;
const MAX_FILES = 20_000;

/** Options of {@link wasmSandbox}. */
export interface WasmSandboxOptions {
  /** Pyodide's package folder. @default the installed package */
  readonly pyodide?: string | undefined;
}

/**
 * Creates a sandbox that runs Python in WebAssembly (Pyodide), in a child process. No shell. Where bubblewrap works, the
 * child also runs inside it. Elsewhere it is not a security boundary: use it for code that you trust. `probe()` reports which.
 */
export function wasmSandbox({ pyodide }: WasmSandboxOptions = {}): Sandbox {
  const folder = pyodide ?? findPyodide() ?? "";
  const isInstalled = () => existsSync(join(folder, "pyodide.mjs"));
  const open = async (options: SandboxOptions) => {
    if (!isInstalled()) throw new Error(MISSING);
    return openProcess(folder, options);
  };
  const probe = async () => (isInstalled() ? runTrial(open) : { usable: false, reason: MISSING });
  return { name: "wasm", isolation: ISOLATION, probe, open };
}

const MISSING = "pyodide is not installed: npm install pyodide";

const ISOLATION = [
  "Python runs as WebAssembly in a separate Node process and has no way to an object of JavaScript. Node's permission model",
  "denies that process files, other processes and threads, and it closes its network itself before any code runs.",
  "Where bubblewrap works, the process is also inside it: no network, no other processes, no files of the host, few system calls.",
  "Without bubblewrap it is not a security boundary: a flaw in V8 or Node would run code with your user's rights.",
  "Memory, disk, time and output are limited; CPU share is not.",
].join(" ");

const LIMITS: LimitReport = {
  memory: "watched",
  processes: "enforced",
  disk: "enforced",
  means:
    "WebAssembly's memory limit, the process's memory measured 20 times a second, no processes or threads, " +
    "and files checked before they are stored",
};

async function openProcess(
  pyodide: string,
  { root, memoryBytes, diskBytes = 1024 * MiB, signal }: SandboxOptions,
): Promise<WasmProcess> {
  signal?.throwIfAborted();
  const limits = { diskBytes, maxFiles: MAX_FILES };
  const folder = new WasmFolder(root, limits);
  const process = new WasmProcess({ pyodide, memoryBytes, ...limits }, folder);
  await startProcess(process, signal);
  return process;
}

/** Starts the interpreter. After an abort, rejects with the signal's reason once the interpreter has ended. */
async function startProcess(process: WasmProcess, signal: AbortSignal | undefined): Promise<void> {
  const dispose = () => process[Symbol.asyncDispose]();
  signal?.addEventListener("abort", dispose, { once: true });
  try {
    await process.start();
  } finally {
    signal?.removeEventListener("abort", dispose);
    if (signal?.aborted) await dispose();
    signal?.throwIfAborted();
  }
}

async function runTrial(open: Sandbox["open"]): ReturnType<Sandbox["probe"]> {
  const root = await mkdtemp(join(tmpdir(), "wink-probe-"));
  try {
    await using trial = await open({ root, memoryBytes: 128 * MiB });
    const run = await trial.python("6 * 7", { timeoutMs: 20_000, maxOutputBytes: 1_000 });
    if (run.stdout !== "42\n") throw new Error(run.error ?? run.stderr);
    const { description } = await findBarrier();
    return { usable: true, reason: `a trial run succeeded, ${description}`, limits: LIMITS };
  } catch (error) {
    const what = getErrorMessage(error).trim();
    const remedy = "npm install pyodide@314 on Node 22.19 or later";
    return { usable: false, reason: `a trial run failed (${what}): ${remedy}` };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}
