import { joinOutput } from "../kernel/join-output.ts";
import { parseAnswer } from "../kernel/parse-answer.ts";
import type { PythonRun, RunLimits, SandboxProcess, ShellRun } from "../sandbox.ts";
import { BubblewrapChild, type ChildSettings } from "./child.ts";
import { Deadline } from "./deadline.ts";
import { explainEnding, explainInterpreterEnd } from "./explain-ending.ts";
import { Ownership } from "./ownership.ts";
import { type RunOutcome, runInSandbox } from "./run-in-sandbox.ts";

/** A container's interpreter, started on first use, and its shell commands. */
export class BubblewrapProcess implements SandboxProcess {
  readonly #settings: ChildSettings;
  readonly #graceMs: number;
  readonly #ownership: Ownership | null;
  /** Shared by Python runs, which are sequential. Each shell command has its own. */
  readonly #deadline: Deadline;
  readonly #children = new Set<BubblewrapChild>();
  readonly #pendingRuns = new Set<Promise<unknown>>();
  #kernel: BubblewrapChild | null = null;
  #queue: Promise<unknown> = Promise.resolve();
  #isFull = false;
  #disposed = false;

  constructor(housing: ChildSettings, graceMs: number) {
    this.#settings = housing;
    this.#graceMs = graceMs;
    const { clock, identity, root } = housing;
    this.#deadline = new Deadline(clock);
    this.#ownership = identity.kind === "own user" ? new Ownership(root, identity.uid) : null;
  }

  async python(code: string, limits: RunLimits): Promise<PythonRun> {
    const turn = this.#queue.then(() => this.#runPython(code, limits));
    this.#queue = settleQuietly(turn);
    return this.#rejectOnAbort(turn, limits.signal);
  }

  async shell(command: string, limits: RunLimits): Promise<ShellRun> {
    return this.#rejectOnAbort(this.#runShell(command, limits), limits.signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    await Promise.all([...this.#children].map((child) => child.kill()));
    await Promise.all([...this.#pendingRuns]);
    // A child may have started since the first pass.
    await Promise.all([...this.#children].map((child) => child.kill()));
    this.#deadline[Symbol.dispose]();
  }

  async #runPython(code: string, limits: RunLimits): Promise<PythonRun> {
    limits.signal?.throwIfAborted();
    if (this.#ownership?.isSettled() === false) await this.#ownership.settle();
    const kernel = this.#findKernel() ?? (await this.#startKernel());
    const { clock } = this.#settings;
    const stopping = { clock, deadline: this.#deadline, graceMs: this.#graceMs };
    const outcome = await runInSandbox(kernel, code, limits, stopping);
    const { ending, stderr, stdout, timedOut } = outcome;
    const answer = ending.kind === "done" ? parseAnswer(ending.payload) : null;
    if (answer === null) await this.#discardKernel(kernel, outcome);
    const output = joinOutput(stdout, stderr, answer?.order ?? []);
    return {
      stdout: stdout.toText(),
      stderr: stderr.toText(),
      ...(output !== undefined && { output }),
      error:
        answer === null
          ? explainInterpreterEnd(outcome, limits, this.#settings.limits)
          : answer.error,
      images: answer?.images ?? [],
      timedOut,
      truncated: stdout.truncated || stderr.truncated,
      died: answer === null,
    };
  }

  async #runShell(command: string, limits: RunLimits): Promise<ShellRun> {
    limits.signal?.throwIfAborted();
    if (this.#ownership?.isSettled() === false) await this.#ownership.settle();
    const child = this.#startChild("shell", Math.ceil(limits.timeoutMs / 1000) + 1);
    const { clock } = this.#settings;
    using deadline = new Deadline(clock);
    const outcome = await runInSandbox(child, command, limits, { clock, deadline, graceMs: 0 });
    this.#recordDiskLimit(outcome);
    const { ending, stderr, stdout, timedOut } = outcome;
    if (ending.kind === "vanished" && child.stderrText !== "") throw createStartError(child);
    const explanation = explainEnding(ending, this.#settings.limits);
    return {
      stdout: stdout.toText(),
      stderr: [stderr.toText(), explanation]
        .filter((part) => part !== null && part !== "")
        .join("\n"),
      exitCode: timedOut ? null : toExitCode(outcome),
      timedOut,
      truncated: stdout.truncated || stderr.truncated,
    };
  }

  #findKernel(): BubblewrapChild | null {
    return this.#kernel !== null && this.#children.has(this.#kernel) ? this.#kernel : null;
  }

  async #startKernel(): Promise<BubblewrapChild> {
    const kernel = this.#startChild("python", null);
    const ready = await new Promise<boolean>((resolve) => {
      kernel.onFrame((frame) => resolve(frame?.kind === "r"));
    });
    kernel.onFrame(null);
    if (!ready) {
      await kernel.kill();
      throw this.#disposed ? createDisposedError() : createStartError(kernel);
    }
    this.#kernel = kernel;
    return kernel;
  }

  async #discardKernel(kernel: BubblewrapChild, outcome: RunOutcome): Promise<void> {
    await kernel.kill();
    this.#kernel = null;
    this.#recordDiskLimit(outcome);
  }

  #recordDiskLimit({ ending }: RunOutcome): void {
    if (ending.kind === "violation") this.#isFull = ending.limit === "disk";
  }

  #startChild(mode: "python" | "shell", cpuSeconds: number | null): BubblewrapChild {
    if (this.#disposed) throw createDisposedError();
    const child = new BubblewrapChild(this.#settings, { mode, full: this.#isFull, cpuSeconds });
    this.#children.add(child);
    void child.exited.then(() => this.#children.delete(child));
    return child;
  }

  /** Rejects as soon as the signal aborts. The run is stopped in the background; dispose and the next run wait for it. */
  async #rejectOnAbort<Run>(run: Promise<Run>, signal: AbortSignal | undefined): Promise<Run> {
    const end = settleQuietly(run);
    this.#pendingRuns.add(end);
    void end.then(() => this.#pendingRuns.delete(end));
    if (signal === undefined) return run;
    const aborted = Promise.withResolvers<never>();
    const onAbort = (): void => aborted.reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await Promise.race([aborted.promise, run]);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }
}

function settleQuietly(run: Promise<unknown>): Promise<void> {
  return run.then(
    () => {},
    // The caller of the run gets the error; only the end matters here.
    () => {},
  );
}

function toExitCode({ ending }: RunOutcome): number {
  if (ending.kind !== "exit") return KILLED;
  return ending.code < 0 ? 128 - ending.code : ending.code;
}

const KILLED = 137;

function createStartError(child: BubblewrapChild): Error {
  return new Error(
    `The sandbox did not start: ${child.stderrText || "it exited without a message"}`,
  );
}

function createDisposedError(): Error {
  return new Error("The container's process was disposed of.");
}
