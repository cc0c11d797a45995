import type { PythonRun } from "../sandbox/sandbox.ts";

const NOTICE =
  "The interpreter was restarted, because too many were idle. Its variables are lost, its files are kept.\n";

/** Remembers which interpreters were ended with variables, and tells the next run about it. */
export class LostVariables {
  readonly #used = new Set<string>();
  readonly #lost = new Set<string>();

  /** Records that a container's interpreter was ended while it was idle. */
  onEvict(containerId: string): void {
    if (this.#used.delete(containerId)) this.#lost.add(containerId);
  }

  /** Records a run, and adds a notice to its output if the container's variables were lost before it. */
  report<Run extends PythonRun>(containerId: string, run: Run): Run {
    if (run.died) this.#used.delete(containerId);
    else this.#used.add(containerId);
    if (!this.#lost.delete(containerId)) return run;
    const { stdout, stderr, output = stdout + stderr } = run;
    return { ...run, stderr: NOTICE + stderr, output: NOTICE + output };
  }

  /** Forgets an ended container. */
  forget(containerId: string): void {
    this.#used.delete(containerId);
    this.#lost.delete(containerId);
  }
}
