import { readAnswer } from "../kernel/answers.ts";
import type { PythonRun, RunLimits, SandboxProcess, ShellRun } from "../sandbox.ts";
import { BubblewrapChild, type Housing } from "./child.ts";
import { Deadline } from "./deadline.ts";
import { explainEnding, interpreterEnded } from "./endings.ts";
import { Ownership } from "./ownership.ts";
import { type RunOutcome, runInside } from "./run.ts";

/** A container's interpreter, started when first needed, and its commands beside it. */
export class BubblewrapProcess implements SandboxProcess {
  readonly #housing: Housing;
  readonly #graceMs: number;
  readonly #ownership: Ownership | null;
  /** Python runs one after the other; each command has one of its own. */
  readonly #deadline: Deadline;
  readonly #children = new Set<BubblewrapChild>();
  readonly #underWay = new Set<Promise<unknown>>();
  #kernel: BubblewrapChild | null = null;
  #queue: Promise<unknown> = Promise.resolve();
  #full = false;
  #disposed = false;

  constructor(housing: Housing, graceMs: number) {
    this.#housing = housing;
    this.#graceMs = graceMs;
    const { clock, identity, root } = housing;
    this.#deadline = new Deadline(clock);
    this.#ownership = identity.kind === "own user" ? new Ownership(root, identity.uid) : null;
  }

  async python(code: string, limits: RunLimits): Promise<PythonRun> {
    const turn = this.#queue.then(() => this.#runPython(code, limits));
    this.#queue = settled(turn);
    return this.#unlessAborted(turn, limits.signal);
  }

  async shell(command: string, limits: RunLimits): Promise<ShellRun> {
    return this.#unlessAborted(this.#runShell(command, limits), limits.signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    await Promise.all([...this.#children].map((child) => child.kill()));
    await Promise.all([...this.#underWay]);
    // A start that was under way when we looked may have come to something since.
    await Promise.all([...this.#children].map((child) => child.kill()));
    this.#deadline[Symbol.dispose]();
  }

  async #runPython(code: string, limits: RunLimits): Promise<PythonRun> {
    limits.signal?.throwIfAborted();
    if (this.#ownership?.isSettled() === false) await this.#ownership.settle();
    const kernel = this.#livingKernel() ?? (await this.#startedKernel());
    const { clock } = this.#housing;
    const stopping = { clock, deadline: this.#deadline, graceMs: this.#graceMs };
    const outcome = await runInside(kernel, code, limits, stopping);
    const { ending, stderr, stdout, timedOut } = outcome;
    const answer = ending.kind === "done" ? readAnswer(ending.payload) : null;
    if (answer === null) await this.#forgetKernel(kernel, outcome);
    return {
      stdout: stdout.text(),
      stderr: stderr.text(),
      error:
        answer === null ? interpreterEnded(outcome, limits, this.#housing.limits) : answer.error,
      images: answer?.images ?? [],
      timedOut,
      truncated: stdout.truncated || stderr.truncated,
      died: answer === null,
    };
  }

  async #runShell(command: string, limits: RunLimits): Promise<ShellRun> {
    limits.signal?.throwIfAborted();
    if (this.#ownership?.isSettled() === false) await this.#ownership.settle();
    const child = this.#start("shell", Math.ceil(limits.timeoutMs / 1000) + 1);
    const { clock } = this.#housing;
    using deadline = new Deadline(clock);
    const outcome = await runInside(child, command, limits, { clock, deadline, graceMs: 0 });
    this.#remember(outcome);
    const { ending, stderr, stdout, timedOut } = outcome;
    if (ending.kind === "vanished" && child.complaint !== "") throw notStarted(child);
    const explanation = explainEnding(ending, this.#housing.limits);
    return {
      stdout: stdout.text(),
      stderr: [stderr.text(), explanation]
        .filter((part) => part !== null && part !== "")
        .join("\n"),
      exitCode: timedOut ? null : exitCode(outcome),
      timedOut,
      truncated: stdout.truncated || stderr.truncated,
    };
  }

  #livingKernel(): BubblewrapChild | null {
    return this.#kernel !== null && this.#children.has(this.#kernel) ? this.#kernel : null;
  }

  async #startedKernel(): Promise<BubblewrapChild> {
    const kernel = this.#start("python", null);
    const ready = await new Promise<boolean>((resolve) => {
      kernel.onFrame((frame) => resolve(frame?.kind === "r"));
    });
    kernel.onFrame(null);
    if (!ready) {
      await kernel.kill();
      throw this.#disposed ? disposedOf() : notStarted(kernel);
    }
    this.#kernel = kernel;
    return kernel;
  }

  async #forgetKernel(kernel: BubblewrapChild, outcome: RunOutcome): Promise<void> {
    await kernel.kill();
    this.#kernel = null;
    this.#remember(outcome);
  }

  #remember({ ending }: RunOutcome): void {
    if (ending.kind === "violation") this.#full = ending.limit === "disk";
  }

  #start(mode: "python" | "shell", cpuSeconds: number | null): BubblewrapChild {
    if (this.#disposed) throw disposedOf();
    const child = new BubblewrapChild(this.#housing, { mode, full: this.#full, cpuSeconds });
    this.#children.add(child);
    void child.exited.then(() => this.#children.delete(child));
    return child;
  }

  /** Rejects as soon as the signal aborts; the run itself is stopped, and awaited by whoever comes next. */
  async #unlessAborted<Run>(run: Promise<Run>, signal: AbortSignal | undefined): Promise<Run> {
    const end = settled(run);
    this.#underWay.add(end);
    void end.then(() => this.#underWay.delete(end));
    if (signal === undefined) return run;
    const aborted = Promise.withResolvers<never>();
    const refuse = (): void => aborted.reject(signal.reason);
    if (signal.aborted) refuse();
    signal.addEventListener("abort", refuse, { once: true });
    try {
      return await Promise.race([aborted.promise, run]);
    } finally {
      signal.removeEventListener("abort", refuse);
    }
  }
}

function settled(run: Promise<unknown>): Promise<void> {
  return run.then(
    () => {},
    // Told to whoever asked for the run; here only its end matters.
    () => {},
  );
}

function exitCode({ ending }: RunOutcome): number {
  if (ending.kind !== "exit") return KILLED;
  return ending.code < 0 ? 128 - ending.code : ending.code;
}

const KILLED = 137;

function notStarted(child: BubblewrapChild): Error {
  return new Error(`the sandbox did not start: ${child.complaint || "it ended without a word"}`);
}

function disposedOf(): Error {
  return new Error("the container's process was disposed of");
}
