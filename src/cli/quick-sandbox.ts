import {
  type ChosenSandbox,
  chooseSandbox,
  knownSandboxes,
} from "../local/sandbox/choose-sandbox.ts";
import type { Sandbox } from "../local/sandbox/sandbox.ts";
import { isPyodideInstalled } from "../local/sandbox/wasm-child.ts";

/** What a sandbox is called on a command line. */
export type SandboxName = "auto" | "bubblewrap" | "wasm";

/**
 * The sandbox for a command that must answer soon. A trial run in WebAssembly takes seconds, so that one is
 * chosen if it is installed; should it not work, the first code to run says so.
 */
export async function quickSandbox(which: SandboxName): Promise<ChosenSandbox> {
  const candidates = (await knownSandboxes()).map((sandbox) =>
    sandbox.name === "wasm" ? untried(sandbox) : sandbox,
  );
  const { sandbox, reason } = await chooseSandbox(which, candidates);
  // The provider need not try again what was tried just now.
  return { sandbox: { ...sandbox, probe: async () => ({ usable: true, reason }) }, reason };
}

/** Without Pyodide the real probe is quick, and says what to install. */
function untried(sandbox: Sandbox): Sandbox {
  if (!isPyodideInstalled()) return sandbox;
  const reason = "it is installed, and is tried when code first runs";
  return { ...sandbox, probe: async () => ({ usable: true, reason }) };
}
