import { BOOTSTRAP } from "./bootstrap.ts";
import { interceptInstance } from "./intercept-instance.ts";
import { type Interpreter, Kernel, type Post } from "./kernel.ts";
import { KernelFiles, type KernelFilesOptions } from "./kernel-files.ts";
import type { PyodideModule } from "./pyodide.ts";
import { PythonFunction } from "./python-function.ts";

/** An interpreter that has run no code yet. */
export interface StartedInterpreter {
  readonly kernel: Kernel;
  readonly python: Interpreter;
  /** Closes every way from Python to JavaScript. */
  lock(): void;
}

/** Starts Pyodide from `folder` and keeps only the function that runs a cell. `deny` is called when closed JavaScript is called. */
export async function startInterpreter(
  { loadPyodide }: PyodideModule,
  folder: string,
  limits: KernelFilesOptions,
  post: Post,
  deny: (name: string) => never,
): Promise<StartedInterpreter> {
  const finish = interceptInstance(WebAssembly, deny);
  const pyodide = await loadPyodide({
    indexURL: `${folder}/`,
    jsglobals: {},
    env: { HOME: "/mnt/data" },
    stdin: () => null,
  });
  const { exports, lock } = finish();
  const kernel = new Kernel(new KernelFiles(pyodide.FS, limits), post);
  pyodide.setStdout({ write: (bytes) => kernel.write("stdout", bytes) });
  pyodide.setStderr({ write: (bytes) => kernel.write("stderr", bytes) });
  pyodide.setInterruptBuffer(kernel.createSignalBuffer());
  pyodide.runPython(BOOTSTRAP, { filename: "<wink>" });
  const start = "id(_wink := _wink_start())";
  const address = Number(pyodide.runPython(start, { filename: "<wink>" }));
  const runCell = new PythonFunction(exports, () => pyodide._module.HEAPU8, address);
  pyodide.runPython("del _wink, _wink_start");
  // The first call takes Pyodide's own modules away, so no code of Pyodide runs after this.
  if (runCell.call("") === null) throw new Error("The interpreter did not answer.");
  return { kernel, python: { runCell: (code) => runCell.call(code) }, lock };
}
