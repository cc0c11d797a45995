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

// Functions that Node itself still calls on `process`.
const ALLOWED = new Set([
  "_tickCallback",
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
  const handles = findHandleClasses(module);
  for (const name of CLOSED_MODULES) disableFunctions(module(name), new Set());
  for (const handle of handles) disableFunctions(handle, new Set());
  syncBuiltinESMExports();
  hook({ resolve: deny, load: deny });
  disableFunctions(process, ALLOWED);
  for (const name of GLOBALS) Reflect.deleteProperty(globals, name);
  // Pyodide stores an exit code there when Python exits.
  Object.defineProperty(globals, "process", { value: { exitCode: 0 } });
}

/** Finds the classes behind Node's sockets (TCP, Pipe, UDP), which no module exports: through an object of each. */
export function findHandleClasses(module: LockdownTargets["module"]): readonly object[] {
  const wait = { lookup: () => {} }; // no address is ever found
  return [
    () => call(module("net"), "connect", { port: 1, host: "closed.invalid", ...wait }),
    () => call(module("net"), "connect", { path: "/closed" }),
    () => call(module("dgram"), "createSocket", { type: "udp4", ...wait }),
  ].flatMap((create) => {
    try {
      const socket = create();
      if (typeof socket !== "object" || socket === null) return [];
      call(socket, "on", "error", () => {});
      const classes = listValues(socket).flatMap(listHandleClass);
      call(socket, "destroyed" in socket ? "destroy" : "close");
      return classes;
    } catch {
      return []; // Node's permission model has no network for this process
    }
  });
}

/** A handle has methods of C++, among them `bind` or `open`. Its own class and the ones it extends are returned. */
function listHandleClass(value: unknown): readonly object[] {
  if (typeof value !== "object" || value === null || !("getAsyncId" in value)) return [];
  const classes: object[] = [];
  for (
    let at: unknown = Object.getPrototypeOf(value);
    typeof at === "object" && at !== null && at !== Object.prototype;
    at = Object.getPrototypeOf(at)
  )
    classes.push(at);
  return classes;
}

/** Lists the values of an object, and those one level below, where a UDP socket has its handle. */
function listValues(object: object): readonly unknown[] {
  const values = Reflect.ownKeys(object).map((key) => Reflect.get(object, key));
  return values.flatMap((value) =>
    typeof value === "object" && value !== null
      ? [value, ...Reflect.ownKeys(value).map((key) => Reflect.get(value, key))]
      : [],
  );
}

function call(target: object | undefined, name: string, ...args: readonly unknown[]): unknown {
  const method: unknown = target && Reflect.get(target, name);
  return typeof method === "function" ? Reflect.apply(method, target, args) : undefined;
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
