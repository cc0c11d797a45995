/**
 * Returns a built-in module of the runtime, such as `node:module`, without importing it.
 * Returns `undefined` on runtimes that lack the module or `process.getBuiltinModule`.
 */
export function findBuiltinModule(name: string): unknown {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  return process?.getBuiltinModule?.(name);
}
