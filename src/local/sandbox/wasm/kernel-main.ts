import constants from "node:constants";
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { Kernel } from "./kernel.ts";
import { KernelFiles } from "./kernel-files.ts";
import type { KernelCommand, KernelMessage } from "./kernel-messages.ts";
import { lockDown } from "./lock-down.ts";
import type { PyodideModule } from "./pyodide.ts";

// Entry point of the child process. Reads the needed parts of `process` first, because lockDown() closes it.
const here = process;
const send = here.send?.bind(here);
const exit = here.exit.bind(here);
const builtin = here.getBuiltinModule.bind(here);
here.on("disconnect", () => exit(0));
// Code scheduled for later has failed, or was stopped because its run has ended. No caller waits for it.
here.on("uncaughtException", () => {});
here.on("unhandledRejection", () => {});

try {
  const kernel = await startKernel();
  let last = Promise.resolve();
  here.on("message", (message: KernelCommand) => {
    last = last.then(() => kernel.handle(message)).catch(fail);
  });
  await post({ type: "ready" });
} catch (error) {
  await fail(error);
}

async function startKernel(): Promise<Kernel> {
  const [, , folder = "", diskBytes, maxFiles] = here.argv;
  // Pyodide reads these constants, and Node's permission model blocks them although they are only numbers.
  Reflect.set(here, "binding", () => ({ fs: constants }));
  const entry = pathToFileURL(`${folder}/pyodide.mjs`).href;
  const { loadPyodide }: PyodideModule = await import(entry);
  here.argv.fill("python3"); // hides this file's path on the host from Python
  const env = { HOME: "/mnt/data" };
  const pyodide = await loadPyodide({
    indexURL: `${folder}/`,
    jsglobals: {},
    env,
    stdin: () => null,
  });
  const limits = { diskBytes: Number(diskBytes), maxFiles: Number(maxFiles) };
  const kernel = new Kernel(pyodide, new KernelFiles(pyodide.FS, limits), post);
  lockDown({ globals: globalThis, process: here, module: builtin, hook: registerHooks });
  return kernel;
}

function post(message: KernelMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    send?.(message, undefined, undefined, (error) => (error ? reject(error) : resolve()));
  });
}

/** Reports an error and exits. A broken interpreter cannot be reused: the parent starts another. */
async function fail(error: unknown): Promise<void> {
  await post({ type: "failed", problem: String(error) });
  exit(1);
}
