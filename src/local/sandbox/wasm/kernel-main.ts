import constants from "node:constants";
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { Kernel } from "./kernel.ts";
import { KernelFiles } from "./kernel-files.ts";
import { lockDown } from "./lockdown.ts";
import type { FromKernel, ToKernel } from "./messages.ts";
import type { PyodideModule } from "./pyodide.ts";

// The child's entry. What is needed of `process` is taken first, because lockDown() closes it.
const here = process;
const send = here.send?.bind(here);
const exit = here.exit.bind(here);
const builtin = here.getBuiltinModule.bind(here);
here.on("disconnect", () => exit(0));
// Code that was left for later has failed, or was stopped because its run is over: nobody waits for it.
here.on("uncaughtException", () => {});
here.on("unhandledRejection", () => {});

try {
  const kernel = await startKernel();
  let last = Promise.resolve();
  here.on("message", (message: ToKernel) => {
    last = last.then(() => kernel.do(message)).catch(fail);
  });
  await post({ type: "ready" });
} catch (error) {
  await fail(error);
}

async function startKernel(): Promise<Kernel> {
  const [, , folder = "", diskBytes, maxFiles] = here.argv;
  // Pyodide asks for these, and Node's permissions refuse them although they are only numbers.
  Reflect.set(here, "binding", () => ({ fs: constants }));
  const entry = pathToFileURL(`${folder}/pyodide.mjs`).href;
  const { loadPyodide }: PyodideModule = await import(entry);
  here.argv.fill("python3"); // Python would be told where on the host this file is
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

function post(message: FromKernel): Promise<void> {
  return new Promise((resolve, reject) => {
    send?.(message, undefined, undefined, (error) => (error ? reject(error) : resolve()));
  });
}

/** An interpreter that broke is of no further use: the parent starts another. */
async function fail(error: unknown): Promise<void> {
  await post({ type: "failed", problem: String(error) });
  exit(1);
}
