import {
  type ChosenSandbox,
  chooseSandbox,
  knownSandboxes,
  type SandboxChoice,
} from "./choose-sandbox.ts";
import type { Sandbox, SandboxOptions, SandboxProcess } from "./sandbox.ts";
import { isPyodideInstalled } from "./wasm/child.ts";

/** A sandbox that is chosen when code first runs, once for all who run some. */
export class LazySandbox implements Sandbox, AsyncDisposable {
  readonly name: string;
  readonly isolation = "That of the sandbox that is chosen when code first runs.";
  readonly #which: SandboxChoice;
  readonly #candidates: Once<readonly Sandbox[]>;
  readonly #chosen = new Once(() => this.#choose());
  readonly #tried = new Once(() => this.#try());

  constructor(which: SandboxChoice, candidates?: readonly Sandbox[]) {
    this.name = typeof which === "string" ? which : which.name;
    this.#which = which;
    this.#candidates = new Once(async () => candidates ?? (await knownSandboxes()));
  }

  /** Refuses what was named and cannot be, before there is code to run. */
  async check(): Promise<void> {
    if (typeof this.#which === "string" && this.#which !== "auto") await this.chosen();
  }

  /** Which it is. A trial run has succeeded in it, unless its start takes seconds: `reason` then says so. */
  chosen(): Promise<ChosenSandbox> {
    return this.#chosen.result();
  }

  /** The same after a trial run, however long that takes. */
  tried(): Promise<ChosenSandbox> {
    return this.#tried.result();
  }

  async probe(): ReturnType<Sandbox["probe"]> {
    const { sandbox } = await this.chosen();
    return await sandbox.probe();
  }

  async open(options: SandboxOptions): Promise<SandboxProcess> {
    const { sandbox } = await this.chosen();
    try {
      return await sandbox.open(options);
    } catch (error) {
      options.signal?.throwIfAborted();
      await this.tried(); // where its trial fails as well, that says what to do
      throw error;
    }
  }

  /** Waits for a trial that is under way: it has a folder and a process. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#chosen.settled();
    await this.#tried.settled();
  }

  async #choose(): Promise<ChosenSandbox> {
    const candidates = await this.#candidates.result();
    return await chooseSandbox(this.#which, candidates.map(triedByItsStart));
  }

  async #try(): Promise<ChosenSandbox> {
    const chosen = await this.chosen();
    const candidates = await this.#candidates.result();
    const isTried = typeof this.#which === "object" || candidates.includes(chosen.sandbox);
    return isTried ? chosen : await chooseSandbox(this.#which, candidates);
  }
}

/**
 * WebAssembly, where it is installed, takes seconds to start, and that is its trial: to start it once
 * more before would only take as long again. Nothing comes after it, so nothing is chosen by its trial.
 */
function triedByItsStart(sandbox: Sandbox): Sandbox {
  if (sandbox.name !== "wasm" || !isPyodideInstalled()) return sandbox;
  const reason = "it is installed, and is tried when code first runs";
  return { ...sandbox, probe: async () => ({ usable: true, reason }) };
}

/** Done when first asked for, for all who ask. A failure is forgotten, so that the next one tries again. */
class Once<Result> {
  readonly #work: () => Promise<Result>;
  #result: Promise<Result> | null = null;

  constructor(work: () => Promise<Result>) {
    this.#work = work;
  }

  result(): Promise<Result> {
    this.#result ??= this.#work().catch((error: unknown) => {
      this.#result = null;
      throw error;
    });
    return this.#result;
  }

  async settled(): Promise<void> {
    await this.#result?.catch(() => undefined); // whoever asked was told
  }
}
