import { InvalidOptionError } from "../base/errors.ts";
import { LazySandbox } from "../local/sandbox/lazy-sandbox.ts";
import type { Sandbox } from "../local/sandbox/sandbox.ts";

/** The name of a sandbox on the command line. */
export type SandboxName = "auto" | "bubblewrap" | "wasm";

/** The sandbox that runs code that a model writes. */
export interface FoundSandbox {
  /** `null` if none works on this machine. */
  readonly name: string | null;
  /** Why this one, or why each of the others does not work and how to install it. */
  readonly reason: string;
}

/**
 * Finds the sandbox that code will run in. One that takes seconds to start is not tried yet. Throws
 * `InvalidOptionError` if a sandbox was named that does not work here; `"auto"` may find none. `candidates`
 * defaults to the sandboxes that this library has.
 */
export async function findSandbox(
  which: SandboxName,
  candidates?: readonly Sandbox[],
): Promise<FoundSandbox> {
  await using lazy = new LazySandbox(which, candidates);
  try {
    const { sandbox, reason } = await lazy.chosen();
    return { name: sandbox.name, reason };
  } catch (error) {
    if (which !== "auto" || !(error instanceof InvalidOptionError)) throw error;
    return { name: null, reason: error.remedy };
  }
}
