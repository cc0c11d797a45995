import type { Clock } from "../../../base/clock.ts";
import { SUPERVISOR_PROCESSES } from "../container-limits.ts";
import { PYTHON_CHANNEL } from "../kernel/frames.ts";
import { joinOutput } from "../kernel/join-output.ts";
import { parseAnswer } from "../kernel/parse-answer.ts";
import type { PythonRun, RunLimits, SandboxProcess, ShellRun } from "../sandbox.ts";
import { Deadline } from "./deadline.ts";
import { explainEnding, explainInterpreterEnd } from "./explain-ending.ts";
import type { SupervisedSettings } from "./launcher.ts";
import { Ownership } from "./ownership.ts";
import { type RunOutcome, type RunRequest, runInSandbox } from "./run-in-sandbox.ts";
import type { StopSettings } from "./run-stopper.ts";
import { SupervisedChild } from "./supervised-child.ts";

/** How long a run may take to stop. */
export interface SupervisedTiming {
  readonly clock: Clock;
  /** Milliseconds that code may take to stop after its timeout before its interpreter is killed. */
  readonly graceMs: number;
}

/**
 * A container's interpreter and its shell commands, in one sandbox with one budget. The sandbox is started on
 * first use, and again after it had to be killed.
 */
export class SupervisedProcess implements SandboxProcess {
  readonly #settings: SupervisedSettings;
  readonly #clock: Clock;
  readonly #graceMs: number;
  readonly #ownership: Ownership | null;
  /** Shared by Python runs, which are sequential. Each shell command has its own. */
  readonly #deadline: Deadline;
  readonly #children = new Set<SupervisedChild>();
  readonly #pendingRuns = new Set<Promise<unknown>>();
  #child: SupervisedChild | null = null;
  #queue: Promise<unknown> = Promise.resolve();
  #channels = PYTHON_CHANNEL;
  #disposed = false;

  constructor(settings: SupervisedSettings, { clock, graceMs }: SupervisedTiming) {
    this.#settings = settings;
    this.#clock = clock;
    this.#graceMs = graceMs;
    this.#deadline = new Deadline(clock);
    const { owner, root } = settings;
    this.#ownership = owner === null ? null : new Ownership(root, owner);
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
    const { maxOutputBytes } = limits;
    const outcome = await this.#run({ op: "python", text: code, maxOutputBytes }, limits, {
      clock: this.#clock,
      deadline: this.#deadline,
      graceMs: this.#graceMs,
    });
    const { ending, stderr, stdout, timedOut } = outcome;
    const answer = ending.kind === "done" ? parseAnswer(ending.payload) : null;
    // The interpreter's answer was forged.
    if (ending.kind === "done" && answer === null) await this.#child?.kill();
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
    const { maxOutputBytes, timeoutMs } = limits;
    const clock = this.#clock;
    using deadline = new Deadline(clock);
    this.#channels += 1;
    const outcome = await this.#run(
      {
        op: "shell",
        channel: this.#channels,
        text: command,
        maxOutputBytes,
        cpuSeconds: Math.ceil(timeoutMs / 1000) + 1,
      },
      limits,
      { clock, deadline, graceMs: 0 },
    );
    const { ending, stderr, stdout, timedOut } = outcome;
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

  /** Runs a request in the sandbox. If the sandbox ends before the request reaches it, it runs in a new one. */
  async #run(request: RunRequest, limits: RunLimits, stopping: StopSettings): Promise<RunOutcome> {
    for (let attempt = 1; ; attempt++) {
      limits.signal?.throwIfAborted();
      if (this.#ownership?.isSettled() === false) await this.#ownership.settle();
      const child = await this.#findChild();
      const outcome = await runInSandbox(child, request, limits, stopping);
      const { ending } = outcome;
      const isLost = ending.kind === "violation" && ending.idle && !outcome.timedOut;
      if (!isLost || attempt === MAX_ATTEMPTS) return outcome;
    }
  }

  /**
   * Returns a sandbox that is ready. One that was killed while it started is started again: processes of the sandbox
   * before it may still use the container's memory.
   */
  async #findChild(): Promise<SupervisedChild> {
    for (let attempt = 1; ; attempt++) {
      const current = this.#child;
      const child = current?.isUsable ? current : this.#startChild();
      if (await child.ready) return child;
      await child.kill();
      if (this.#disposed) throw createDisposedError();
      if (child.stderrText !== "" || attempt === MAX_ATTEMPTS) throw createStartError(child);
    }
  }

  #startChild(): SupervisedChild {
    if (this.#disposed) throw createDisposedError();
    const { enforced, launcher, limits, owner } = this.#settings;
    const launched = launcher.launch({
      full: this.#child?.exceededLimit === "disk",
      uid: owner,
      memory: limits.memoryBytes,
      disk: limits.diskBytes,
      processes: limits.maxProcesses + SUPERVISOR_PROCESSES,
      enforced,
    });
    const child = new SupervisedChild(launched, this.#clock);
    this.#child = child;
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
const MAX_ATTEMPTS = 3;

function createStartError(child: SupervisedChild): Error {
  return new Error(
    `The sandbox did not start: ${child.stderrText || "it exited without a message"}`,
  );
}

function createDisposedError(): Error {
  return new Error("The container's process was disposed of.");
}
