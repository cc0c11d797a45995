import { InvalidOptionError } from "../base/errors.ts";
import type { CodeAuthor } from "../local/sandbox/choose-sandbox.ts";
import { LazySandbox } from "../local/sandbox/lazy-sandbox.ts";
import type { Sandbox } from "../local/sandbox/sandbox.ts";

/** Names of sandboxes on the command line. */
export type SandboxName = "auto" | "bubblewrap" | "podman" | "docker" | "wasm";

/** The sandbox that runs code written by a model. */
export interface FoundSandbox {
  /** Name of the sandbox, or `null` if none works on this machine. */
  readonly name: string | null;
  /** Why it was selected, or why each sandbox does not work and how to install it. */
  readonly reason: string;
}

/**
 * Finds the sandbox that code will run in. A sandbox that takes seconds to start is not started
 * yet. `author` wrote the code. Throws `InvalidOptionError` if a named sandbox does not work here; `"auto"` may find none.
 * `candidates` defaults to all sandboxes of the library.
 */
export async function findSandbox(
  which: SandboxName | Sandbox,
  candidates?: readonly Sandbox[],
  author: CodeAuthor = "model",
): Promise<FoundSandbox> {
  await using lazy = new LazySandbox(which, candidates, author);
  try {
    const { sandbox, reason } = await lazy.choose();
    return { name: sandbox.name, reason };
  } catch (error) {
    if (which !== "auto" || !(error instanceof InvalidOptionError)) throw error;
    return { name: null, reason: error.remedy };
  }
}
