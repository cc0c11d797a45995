import { guardImports } from "./guard-imports.ts";
import type { PythonExports } from "./python-function.ts";

/** Pyodide's WebAssembly module after it was instantiated. */
export interface PythonInstance {
  readonly exports: PythonExports;
  /** Closes every way from WebAssembly to JavaScript; see {@link guardImports}. */
  lock(): void;
}

/**
 * Replaces `WebAssembly.instantiate` until the returned function is called, which returns Pyodide's module. Its
 * imports are guarded; `deny` is called in place of a closed import.
 */
export function interceptInstance(
  wasm: { instantiate: typeof WebAssembly.instantiate },
  deny: (name: string) => never,
): () => PythonInstance {
  const { instantiate } = wasm;
  let found: PythonInstance | undefined;
  const instantiateGuarded = async (source: BufferSource, imports?: WebAssembly.Imports) => {
    const environment = imports?.["env"];
    const guard = environment && guardImports(environment, deny);
    const result = await instantiate(source, imports);
    if (guard) found = { ...guard, exports: toPythonExports(result.instance.exports) };
    return result;
  };
  Reflect.set(wasm, "instantiate", instantiateGuarded);
  return () => {
    Reflect.set(wasm, "instantiate", instantiate);
    if (!found) throw new Error("Pyodide did not instantiate its WebAssembly module.");
    return found;
  };
}

function toPythonExports(exports: object): PythonExports {
  return exports as PythonExports;
}
