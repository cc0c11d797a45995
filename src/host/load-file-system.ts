import { WinkError } from "../base/errors.ts";

/**
 * Returns Node's `node:fs`, for access to `path`. Throws `WinkError` on a runtime without it. An import,
 * even a dynamic one, would make bundlers for edge runtimes look for the module.
 */
export function loadFileSystem(path: string): typeof import("node:fs") {
  const { process } = globalThis as { process?: Partial<NodeJS.Process> };
  const module = process?.getBuiltinModule?.("node:fs");
  if (module) return module;
  throw new WinkError(
    `This runtime has no file system, so "${path}" cannot be opened. Pass bytes instead of a path.`,
  );
}
