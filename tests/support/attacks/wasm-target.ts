import { readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PythonRun, RunLimits } from "../../../src/local/sandbox/sandbox.ts";
import type { Barrier } from "../../../src/local/sandbox/wasm/barrier.ts";
import { findPyodide, WasmChild } from "../../../src/local/sandbox/wasm/child.ts";
import { WasmFolder } from "../../../src/local/sandbox/wasm/folder.ts";
import { WasmProcess } from "../../../src/local/sandbox/wasm/process.ts";
import { temporaryTree } from "../temporary-tree.ts";

const MEBIBYTE = 2 ** 20;

/** A container of the wasm sandbox under attack, behind a chosen barrier. */
export interface WasmTarget extends AsyncDisposable {
  /** The folder on the host that code sees as `/mnt/data`. Its parent folder is empty otherwise. */
  readonly root: string;
  python(code: string, limits?: Partial<RunLimits>): Promise<PythonRun>;
  /** Returns the processor time of the interpreter's process so far, in hundredths of a second. Linux only. */
  readProcessorTime(): number;
}

export async function openWasmTarget(
  barrier: Barrier,
  pyodide: string = findPyodide() ?? "",
): Promise<WasmTarget> {
  const parent = await mkdtemp(join(tmpdir(), "wink-wasm-attack-"));
  const root = join(parent, "data");
  await mkdir(root);
  const limits = { diskBytes: 32 * MEBIBYTE, maxFiles: 2_000 };
  const options = { pyodide, memoryBytes: 128 * MEBIBYTE, ...limits };
  const container = new WasmProcess(options, new WasmFolder(root, limits), async () => barrier);
  return {
    root,
    python: (code, own) =>
      container.python(code, { timeoutMs: 20_000, maxOutputBytes: 20_000, ...own }),
    readProcessorTime: () => readProcessorTime(findInterpreter()),
    async [Symbol.asyncDispose]() {
      await container[Symbol.asyncDispose]();
      await rm(parent, { recursive: true, force: true });
    },
  };
}

/** Creates a package in place of Pyodide that runs `program`, JavaScript of the attacker. */
export async function createHostilePyodide(program: string): Promise<string> {
  const folder = temporaryTree();
  await chmod(folder, 0o755); // the child may run as another user
  await writeFile(
    join(folder, "pyodide.mjs"),
    `export async function loadPyodide() { ${program} }`,
  );
  return folder;
}

/**
 * Starts a child process whose interpreter is `program`: JavaScript of the attacker, as if he had already taken over
 * the process. It runs before the process closes anything itself, so only the barrier holds it.
 */
export async function startHostileChild(barrier: Barrier, program: string): Promise<WasmChild> {
  const pyodide = await createHostilePyodide(program);
  const limits = { memoryBytes: 64 * MEBIBYTE, diskBytes: MEBIBYTE, maxFiles: 10 };
  return new WasmChild({ pyodide, ...limits, startMs: 20_000 }, barrier);
}

/** Finds the interpreter that this process started without a barrier. */
function findInterpreter(): string {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8")
    .trim()
    .split(" ");
  const found = children.find((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("kernel-main"),
  );
  if (found === undefined) throw new Error("There is no interpreter.");
  return found;
}

function readProcessorTime(pid: string): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return Number(fields[11]) + Number(fields[12]);
}
