import constants from "node:constants";
import fs from "node:fs";
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { KernelChannel } from "./channel.ts";
import { freezeIntrinsics } from "./freeze-intrinsics.ts";
import { lockDown } from "./lock-down.ts";
import type { PyodideModule } from "./pyodide.ts";
import { type StartedInterpreter, startInterpreter } from "./start-interpreter.ts";

// Entry point of the child process. Keeps the functions of Node that it needs, because lockDown() closes the others.
const { readSync, writeSync } = fs;
const here = process;
const exit = here.exit.bind(here);
const builtin = here.getBuiltinModule.bind(here);
const channel = new KernelChannel({
  read: (descriptor, bytes, offset) => readSync(descriptor, bytes, { offset }),
  write: (descriptor, bytes, offset) => writeSync(descriptor, bytes, offset),
});

try {
  const { kernel, python } = await start();
  channel.send({ type: "ready" });
  // Never returns to the event loop: between runs this process waits for its parent, and nothing in it runs.
  for (let command = channel.receive(); command !== null; command = channel.receive())
    kernel.handle(command, python);
  exit(0);
} catch (error) {
  fail(String(error));
}

async function start(): Promise<StartedInterpreter> {
  const [, , folder = "", diskBytes, maxFiles] = here.argv;
  // Pyodide reads these constants, and Node's permission model blocks them although they are only numbers.
  Reflect.set(here, "binding", () => ({ fs: constants }));
  const pyodide: PyodideModule = await import(pathToFileURL(`${folder}/pyodide.mjs`).href);
  here.argv.fill("python3"); // hides this file's path on the host from Python
  const started = await startInterpreter(
    pyodide,
    folder,
    { diskBytes: Number(diskBytes), maxFiles: Number(maxFiles) },
    (message) => channel.send(message),
    (name) => fail(`it called ${name}, which is closed`),
  );
  started.lock();
  lockDown({ globals: globalThis, process: here, module: builtin, hook: registerHooks });
  freezeIntrinsics(globalThis);
  return started;
}

/** Reports an error and exits. A broken interpreter cannot be reused: the parent starts another. */
function fail(problem: string): never {
  try {
    channel.send({ type: "failed", problem: problem.slice(0, 2_000) });
  } catch {
    // The parent has closed the channel.
  }
  return exit(1);
}
