import { type RegisterHooksOptions, syncBuiltinESMExports } from "node:module";

// Modules that give access to files, other processes, threads or the network.
const CLOSED_MODULES = [
  "child_process",
  "cluster",
  "dgram",
  "dns",
  "dns/promises",
  "fs",
  "fs/promises",
  "http",
  "http2",
  "https",
  "inspector",
  "net",
  "repl",
  "tls",
  "vm",
  "wasi",
  "worker_threads",
];

const GLOBALS = ["fetch", "WebSocket", "EventSource", "Request", "Response", "BroadcastChannel"];

// Functions that Node itself still calls on `process` to exchange messages.
const ALLOWED = new Set([
  "_disconnect",
  "_handleQueue",
  "_send",
  "_tickCallback",
  "disconnect",
  "emitWarning",
  "hrtime",
  "memoryUsage",
  "nextTick",
  "reallyExit",
]);

/** The parts of a Node process that are locked down. */
export interface LockdownTargets {
  readonly globals: object;
  readonly process: object;
  /** Returns a built-in module by name. It must be the instance that all other code uses. */
  readonly module: (name: string) => object | undefined;
  /** `registerHooks` of `node:module`. */
  readonly hook: (hooks: RegisterHooksOptions) => void;
}

/**
 * Permanently closes this process's access to the outside. Node's permission model leaves the network and signals
 * open. After this call no module can be loaded, and every function of the loaded ones throws.
 */
export function lockDown({ globals, process, module, hook }: LockdownTargets): void {
  for (const name of CLOSED_MODULES) disableFunctions(module(name), new Set());
  syncBuiltinESMExports();
  hook({ resolve: deny, load: deny });
  disableFunctions(process, ALLOWED);
  for (const name of GLOBALS) Reflect.deleteProperty(globals, name);
  // Pyodide stores an exit code there when Python exits.
  Object.defineProperty(globals, "process", { value: { exitCode: 0 } });
}

/** Makes every function of an object throw, and every method of its classes. */
export function disableFunctions(target: object | undefined, kept: ReadonlySet<string>): void {
  if (!target) return;
  for (const [name, { value, writable, configurable }] of Object.entries(
    Object.getOwnPropertyDescriptors(target),
  )) {
    if (typeof value !== "function" || name === "constructor" || kept.has(name)) continue;
    if (isClass(value)) disableFunctions(value.prototype, kept);
    if (configurable) Object.defineProperty(target, name, { value: deny, configurable: false });
    else if (writable) Reflect.set(target, name, deny);
  }
}

function isClass(value: unknown): value is { readonly prototype: object } {
  if (typeof value !== "function") return false;
  const { prototype } = value;
  return typeof prototype === "object" && prototype !== null;
}

function deny(): never {
  throw new Error("denied: code in the sandbox has no access to the outside");
}
