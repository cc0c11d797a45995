import { InvalidOptionError } from "../../base/errors.ts";
import type { LimitReport, Sandbox } from "./sandbox.ts";
import { wasmSandbox } from "./wasm/wasm-sandbox.ts";

/**
 * A sandbox: by name, your own implementation, or `"auto"` for the first to pass a trial run on this host. `"auto"`
 * uses `"wasm"` only in front of a `scriptedModel` or the echo, whose code is yours.
 */
export type SandboxChoice = "auto" | "bubblewrap" | "podman" | "docker" | "wasm" | Sandbox;

/** The author of the code that will run: the user of this library, or a model. */
export type CodeAuthor = "user" | "model";

/** The chosen sandbox and the reason for the choice. */
export interface ChosenSandbox {
  /** The sandbox. */
  readonly sandbox: Sandbox;
  /** Why it was chosen, in words for people. */
  readonly reason: string;
  /** How its limits hold on this host. @default every limit is watched */
  readonly limits?: LimitReport | undefined;
}

/** Lists the built-in sandboxes, strongest first. */
export async function listSandboxes(): Promise<readonly Sandbox[]> {
  const { bubblewrapSandbox } = await import("./bubblewrap/bubblewrap-sandbox.ts");
  const { dockerSandbox } = await import("./docker/docker-sandbox.ts");
  return [
    bubblewrapSandbox(),
    dockerSandbox({ engine: "podman" }), // often rootless
    dockerSandbox({ engine: "docker" }),
    wasmSandbox(),
  ];
}

/**
 * Resolves `which` to a sandbox that passed a trial run.
 *
 * @throws {InvalidOptionError} If that sandbox does not work on this host, or none does.
 */
export async function chooseSandbox(
  which: SandboxChoice,
  candidates?: readonly Sandbox[],
  author: CodeAuthor = "model",
): Promise<ChosenSandbox> {
  if (which === "auto") return chooseFirstUsable(candidates ?? (await listSandboxes()), author);
  if (typeof which === "object") return requireUsable(which);
  const known = candidates ?? (await listSandboxes());
  const named = known.find(({ name }) => name === which);
  if (named) return requireUsable(named);
  throw new InvalidOptionError({
    field: "sandbox",
    value: which,
    rule: "must be a Sandbox or a sandbox name",
    remedy: `use ${["auto", ...known.map(({ name }) => name)].map((name) => `"${name}"`).join(", ")}, or pass a Sandbox`,
  });
}

async function chooseFirstUsable(
  candidates: readonly Sandbox[],
  author: CodeAuthor,
): Promise<ChosenSandbox> {
  const rejections: string[] = [];
  for (const sandbox of candidates) {
    if (sandbox.name === "wasm" && author === "model") {
      rejections.push(WASM_IS_EXPLICIT);
      continue;
    }
    const { usable, reason, limits } = await sandbox.probe();
    if (usable)
      return { sandbox, reason: [...rejections, `${sandbox.name}: ${reason}`].join("; "), limits };
    rejections.push(`${sandbox.name}: ${reason}`);
  }
  throw new InvalidOptionError({
    field: "sandbox",
    value: "auto",
    rule: "must be a sandbox that works on this host",
    remedy: rejections.join("; ") || "pass your own Sandbox",
  });
}

const WASM_IS_EXPLICIT =
  'wasm: without one of these it is not a security boundary, so it is not used for code that a model wrote; set the sandbox to "wasm" to use it anyway';

async function requireUsable(sandbox: Sandbox): Promise<ChosenSandbox> {
  const { usable, reason, limits } = await sandbox.probe();
  if (usable) return { sandbox, reason: `${sandbox.name}: ${reason}`, limits };
  throw new InvalidOptionError({
    field: "sandbox",
    value: sandbox.name,
    rule: "must be a sandbox that works on this host",
    remedy: reason,
  });
}
