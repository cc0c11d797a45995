import { type RegisterHooksOptions, syncBuiltinESMExports } from "node:module";

// Modules by which a process reaches files, other processes, threads or the network.
const REACHING = [
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

// What Node itself still calls on `process` while messages come and go.
const KEPT = new Set([
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

/** The part of a Node process that is closed. */
export interface Reach {
  readonly globals: object;
  readonly process: object;
  /** By name, so that what is closed is what everybody else holds. */
  readonly module: (name: string) => object | undefined;
  /** `registerHooks` of `node:module`. */
  readonly hook: (hooks: RegisterHooksOptions) => void;
}

/**
 * Closes what this process could reach, for good. It comes on top of Node's permissions, which leave the network and
 * signals open: from here on no module loads, and the ones loaded already refuse every call.
 */
export function lockDown({ globals, process, module, hook }: Reach): void {
  for (const name of REACHING) close(module(name), new Set());
  syncBuiltinESMExports();
  hook({ resolve: deny, load: deny });
  close(process, KEPT);
  for (const name of GLOBALS) Reflect.deleteProperty(globals, name);
  // Pyodide leaves an exit code there when Python ends itself.
  Object.defineProperty(globals, "process", { value: { exitCode: 0 } });
}

/** Every function of it refuses from now on, and so does every method of its classes. */
export function close(target: object | undefined, kept: ReadonlySet<string>): void {
  if (!target) return;
  for (const [name, { value, writable, configurable }] of Object.entries(
    Object.getOwnPropertyDescriptors(target),
  )) {
    if (typeof value !== "function" || name === "constructor" || kept.has(name)) continue;
    if (isClass(value)) close(value.prototype, kept);
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
  throw new Error("denied: there is nothing outside of the sandbox");
}
