import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import type { Sandbox, SandboxOptions } from "./sandbox.ts";
import { isPyodideInstalled } from "./wasm-child.ts";
import { WasmFolder } from "./wasm-folder.ts";
import { WasmProcess } from "./wasm-process.ts";

const MiB = 1024 * 1024;
const MAX_FILES = 20_000;

/** Python in WebAssembly (Pyodide), in a child process that may read nothing of the host. No shell. */
export function wasmSandbox(): Sandbox {
  return { name: "wasm", isolation: ISOLATION, probe, open };
}

const ISOLATION = [
  "Python runs as WebAssembly, in a Node process of its own that has no environment and that Node's permission model",
  "keeps from files, processes and threads; the network and other processes' signals are closed by that process itself",
  "before any code runs, not by the operating system (from Node 25 on Node denies the network too).",
  "A flaw in V8 or Node would run code with your user's rights. Memory, disk, time and output are limited; CPU share is not.",
].join(" ");

async function probe(): Promise<{ readonly usable: boolean; readonly reason: string }> {
  if (!isPyodideInstalled()) {
    return { usable: false, reason: "pyodide is not installed: npm install pyodide" };
  }
  const root = await mkdtemp(join(tmpdir(), "wink-probe-"));
  try {
    await using trial = await open({ root, memoryBytes: 128 * MiB });
    const run = await trial.python("6 * 7", { timeoutMs: 20_000, maxOutputBytes: 100 });
    const usable = run.stdout === "42\n";
    return { usable, reason: usable ? "a trial run succeeded" : odd(run.error ?? run.stderr) };
  } catch (error) {
    return { usable: false, reason: odd(messageOf(error)) };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

function odd(what: string): string {
  return `a trial run failed (${what.trim()}): npm install pyodide@314 on Node 22.19 or later`;
}

async function open({
  root,
  memoryBytes,
  diskBytes = 1024 * MiB,
}: SandboxOptions): Promise<WasmProcess> {
  const limits = { diskBytes, maxFiles: MAX_FILES };
  const process = new WasmProcess({ memoryBytes, ...limits }, new WasmFolder(root, limits));
  await process.start();
  return process;
}
