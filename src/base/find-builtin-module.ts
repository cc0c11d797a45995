/**
 * Returns one of the runtime's own modules, such as `node:module`, without importing it.
 * `undefined` on runtimes that have no such module or no way to ask for it.
 */
export function findBuiltinModule(name: string): unknown {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  return process?.getBuiltinModule?.(name);
}
