import { InvalidOptionError } from "../../base/errors.ts";
import type { Sandbox } from "./sandbox.ts";
import { wasmSandbox } from "./wasm/wasm.ts";

/** By name, one of one's own, or the first that a trial run shows to work here. */
export type SandboxChoice = "auto" | "bubblewrap" | "wasm" | Sandbox;

/** The sandbox that was chosen, and why that one, for people. */
export interface ChosenSandbox {
  readonly sandbox: Sandbox;
  readonly reason: string;
}

/** The sandboxes there are, the strongest first. */
export async function knownSandboxes(): Promise<readonly Sandbox[]> {
  const { bubblewrapSandbox } = await import("./bubblewrap/bubblewrap.ts");
  return [bubblewrapSandbox(), wasmSandbox()];
}

/**
 * The sandbox that `which` stands for; a trial run has succeeded in it.
 *
 * @throws {InvalidOptionError} If it does not work here, or none does.
 */
export async function chooseSandbox(
  which: SandboxChoice,
  candidates?: readonly Sandbox[],
): Promise<ChosenSandbox> {
  if (which === "auto") return firstUsable(candidates ?? (await knownSandboxes()));
  if (typeof which === "object") return tried(which);
  const known = candidates ?? (await knownSandboxes());
  const named = known.find(({ name }) => name === which);
  if (named) return tried(named);
  throw new InvalidOptionError({
    field: "sandbox",
    value: which,
    rule: "must be a sandbox or the name of one",
    remedy: `write ${["auto", ...known.map(({ name }) => name)].map((name) => `"${name}"`).join(", ")}, or give a Sandbox`,
  });
}

async function firstUsable(candidates: readonly Sandbox[]): Promise<ChosenSandbox> {
  const passedOver: string[] = [];
  for (const sandbox of candidates) {
    const { usable, reason } = await sandbox.probe();
    if (usable)
      return { sandbox, reason: [...passedOver, `${sandbox.name}: ${reason}`].join("; ") };
    passedOver.push(`${sandbox.name}: ${reason}`);
  }
  throw new InvalidOptionError({
    field: "sandbox",
    value: "auto",
    rule: "must be one that works here",
    remedy: passedOver.join("; ") || "give a Sandbox of your own",
  });
}

async function tried(sandbox: Sandbox): Promise<ChosenSandbox> {
  const { usable, reason } = await sandbox.probe();
  if (usable) return { sandbox, reason: `${sandbox.name}: ${reason}` };
  throw new InvalidOptionError({
    field: "sandbox",
    value: sandbox.name,
    rule: "must be one that works here",
    remedy: reason,
  });
}
