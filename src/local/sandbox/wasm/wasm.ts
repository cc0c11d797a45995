import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../../base/errors.ts";
import type { Sandbox, SandboxOptions } from "../sandbox.ts";
import { installedPyodide } from "./child.ts";
import { WasmFolder } from "./folder.ts";
import { WasmProcess } from "./process.ts";

const MiB = 1024 * 1024;
const MAX_FILES = 20_000;

/** Which Pyodide a wasm sandbox runs. */
export interface WasmSandboxOptions {
  /** The folder of the package. @default where it is installed */
  readonly pyodide?: string | undefined;
}

/** Python in WebAssembly (Pyodide), in a child process that may read nothing of the host. No shell. */
export function wasmSandbox({ pyodide }: WasmSandboxOptions = {}): Sandbox {
  const folder = pyodide ?? installedPyodide() ?? "";
  const isThere = () => existsSync(join(folder, "pyodide.mjs"));
  const open = async (options: SandboxOptions) => {
    if (!isThere()) throw new Error(MISSING);
    return openWith(folder, options);
  };
  const probe = async () => (isThere() ? tryOut(open) : { usable: false, reason: MISSING });
  return { name: "wasm", isolation: ISOLATION, probe, open };
}

const MISSING = "pyodide is not installed: npm install pyodide";

const ISOLATION = [
  "Python runs as WebAssembly, in a Node process of its own that has no environment and that Node's permission model",
  "keeps from files, processes and threads; the network and other processes' signals are closed by that process itself",
  "before any code runs, not by the operating system (Node 26 denies the network as well).",
  "A flaw in V8 or Node would run code with your user's rights. Memory, disk, time and output are limited; CPU share is not.",
].join(" ");

async function openWith(
  pyodide: string,
  { root, memoryBytes, diskBytes = 1024 * MiB, signal }: SandboxOptions,
): Promise<WasmProcess> {
  signal?.throwIfAborted();
  const limits = { diskBytes, maxFiles: MAX_FILES };
  const folder = new WasmFolder(root, limits);
  const process = new WasmProcess({ pyodide, memoryBytes, ...limits }, folder);
  await started(process, signal);
  return process;
}

/** Whoever calls it off is told so when the interpreter is gone, and not that it did not start. */
async function started(process: WasmProcess, signal: AbortSignal | undefined): Promise<void> {
  const end = () => process[Symbol.asyncDispose]();
  signal?.addEventListener("abort", end, { once: true });
  try {
    await process.start();
  } finally {
    signal?.removeEventListener("abort", end);
    if (signal?.aborted) await end();
    signal?.throwIfAborted();
  }
}

async function tryOut(open: Sandbox["open"]): ReturnType<Sandbox["probe"]> {
  const root = await mkdtemp(join(tmpdir(), "wink-probe-"));
  try {
    await using trial = await open({ root, memoryBytes: 128 * MiB });
    const run = await trial.python("6 * 7", { timeoutMs: 20_000, maxOutputBytes: 1_000 });
    if (run.stdout !== "42\n") throw new Error(run.error ?? run.stderr);
    return { usable: true, reason: "a trial run succeeded" };
  } catch (error) {
    const what = messageOf(error).trim();
    const remedy = "npm install pyodide@314 on Node 22.19 or later";
    return { usable: false, reason: `a trial run failed (${what}): ${remedy}` };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}
