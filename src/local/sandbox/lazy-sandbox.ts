import {
  type ChosenSandbox,
  type CodeAuthor,
  chooseSandbox,
  listSandboxes,
  type SandboxChoice,
} from "./choose-sandbox.ts";
import type { Sandbox, SandboxOptions, SandboxProcess } from "./sandbox.ts";
import { isPyodideInstalled } from "./wasm/child.ts";

/** A sandbox that is chosen when code first runs. All callers share the choice. */
export class LazySandbox implements Sandbox, AsyncDisposable {
  readonly name: string;
  readonly isolation = "That of the sandbox chosen when code first runs.";
  readonly #which: SandboxChoice;
  readonly #author: CodeAuthor;
  readonly #candidates: Once<readonly Sandbox[]>;
  readonly #choice = new Once(() => this.#choose());
  readonly #testedChoice = new Once(() => this.#testChoice());

  /** `author` decides whether `"auto"` may choose the weakest sandbox. */
  constructor(which: SandboxChoice, candidates?: readonly Sandbox[], author: CodeAuthor = "model") {
    this.#author = author;
    this.name = typeof which === "string" ? which : which.name;
    this.#which = which;
    this.#candidates = new Once(async () => candidates ?? (await listSandboxes()));
  }

  /** Rejects a named sandbox that does not work, before any code runs. */
  async check(): Promise<void> {
    if (typeof this.#which === "string" && this.#which !== "auto") await this.choose();
  }

  /** Returns the chosen sandbox. It passed a trial run, unless starting it takes seconds, as `reason` then explains. */
  choose(): Promise<ChosenSandbox> {
    return this.#choice.get();
  }

  /** Returns the chosen sandbox after a trial run, which may take seconds. */
  chooseTested(): Promise<ChosenSandbox> {
    return this.#testedChoice.get();
  }

  async probe(): ReturnType<Sandbox["probe"]> {
    const { sandbox } = await this.choose();
    return await sandbox.probe();
  }

  async open(options: SandboxOptions): Promise<SandboxProcess> {
    const { sandbox } = await this.choose();
    try {
      return await sandbox.open(options);
    } catch (error) {
      options.signal?.throwIfAborted();
      await this.chooseTested(); // if the trial fails too, its error explains what to do
      throw error;
    }
  }

  /** Waits for a running trial, which owns a folder and a process. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#choice.waitUntilSettled();
    await this.#testedChoice.waitUntilSettled();
  }

  async #choose(): Promise<ChosenSandbox> {
    const candidates = await this.#candidates.get();
    return await chooseSandbox(this.#which, candidates.map(skipWasmTrial), this.#author);
  }

  async #testChoice(): Promise<ChosenSandbox> {
    const chosen = await this.choose();
    const candidates = await this.#candidates.get();
    const isTried = typeof this.#which === "object" || candidates.includes(chosen.sandbox);
    return isTried ? chosen : await chooseSandbox(this.#which, candidates, this.#author);
  }
}

/**
 * Skips the trial run of an installed WebAssembly sandbox. It takes seconds to start, and that start is
 * itself the trial. It is also the last candidate, so no later choice depends on the trial.
 */
function skipWasmTrial(sandbox: Sandbox): Sandbox {
  if (sandbox.name !== "wasm" || !isPyodideInstalled()) return sandbox;
  const reason = "it is installed, and is tested when code first runs";
  return { ...sandbox, probe: async () => ({ usable: true, reason }) };
}

/** Runs an async task on first use and shares the result. After a failure the next caller retries. */
class Once<Result> {
  readonly #work: () => Promise<Result>;
  #result: Promise<Result> | null = null;

  constructor(work: () => Promise<Result>) {
    this.#work = work;
  }

  get(): Promise<Result> {
    this.#result ??= this.#work().catch((error: unknown) => {
      this.#result = null;
      throw error;
    });
    return this.#result;
  }

  async waitUntilSettled(): Promise<void> {
    await this.#result?.catch(() => undefined); // already reported to the caller
  }
}
