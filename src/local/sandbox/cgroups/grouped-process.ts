import type { Clock } from "../../../base/clock.ts";
import type { ContainerLimits } from "../container-limits.ts";
import type { PythonRun, RunLimits, SandboxProcess, ShellRun } from "../sandbox.ts";
import { explainEnding } from "../supervised/explain-ending.ts";
import { IdleFreezer } from "./idle-freezer.ts";
import { MemoryKillWatch } from "./memory-kill-watch.ts";
import type { ResourceGroup } from "./resource-control.ts";

/** A container's process whose limits are held by a group, which is frozen while no run is in progress. */
export class GroupedProcess implements SandboxProcess {
  readonly #process: SandboxProcess;
  readonly #group: ResourceGroup;
  readonly #freezer: IdleFreezer;
  readonly #memory: MemoryKillWatch;
  readonly #explanation: string;

  constructor(
    process: SandboxProcess,
    group: ResourceGroup,
    { clock, limits }: { readonly clock: Clock; readonly limits: ContainerLimits },
  ) {
    this.#process = process;
    this.#group = group;
    this.#freezer = new IdleFreezer(group, clock);
    this.#memory = new MemoryKillWatch(group, clock);
    this.#explanation =
      explainEnding({ kind: "violation", limit: "memory", idle: false }, limits) ?? "";
  }

  async python(code: string, limits: RunLimits): Promise<PythonRun> {
    const started = performance.now();
    const run = await this.#run(() => this.#process.python(code, limits));
    // Too short to use up the memory, and asking the kernel would take almost as long.
    if (!run.died && performance.now() - started < SHORT_RUN_MS) return run;
    if (!this.#memory.ranOutOfMemory()) return run;
    if (run.died) return { ...run, error: `${this.#explanation} Its variables are lost.` };
    return {
      ...run,
      stderr: appendLine(run.stderr, this.#explanation),
      ...(run.output !== undefined && { output: appendLine(run.output, this.#explanation) }),
    };
  }

  async shell(command: string, limits: RunLimits): Promise<ShellRun> {
    const run = await this.#run(() => this.#process.shell(command, limits));
    if (!this.#memory.ranOutOfMemory() || run.stderr.endsWith(this.#explanation)) return run;
    return { ...run, stderr: appendLine(run.stderr, this.#explanation) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#freezer[Symbol.dispose]();
      this.#group.kill(); // while they are frozen, so that none of them continues
      await this.#process[Symbol.asyncDispose]();
    } finally {
      await this.#group.remove();
    }
  }

  #run<Run>(work: () => Promise<Run>): Promise<Run> {
    return this.#freezer.keepThawed(() => this.#memory.runWatched(work));
  }
}

const SHORT_RUN_MS = 5;

function appendLine(text: string, line: string): string {
  return text === "" || text.endsWith("\n") ? `${text}${line}` : `${text}\n${line}`;
}
