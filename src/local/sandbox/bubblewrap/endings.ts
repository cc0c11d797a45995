import type { ExceededLimit } from "../kernel/answers.ts";
import type { ContainerLimits } from "../limits.ts";
import type { RunLimits } from "../sandbox.ts";
import type { RunEnding, RunOutcome } from "./run.ts";

/** Why the interpreter is gone, for the model that wrote the code. */
export function interpreterEnded(
  { ending, timedOut }: RunOutcome,
  { timeoutMs }: RunLimits,
  limits: ContainerLimits,
): string {
  return `${reason(ending, timedOut ? timeoutMs : null, limits)} Its variables are lost.`;
}

/** Which limit a run was stopped for, or `null` if it was for none. */
export function explainEnding(ending: RunEnding, limits: ContainerLimits): string | null {
  return ending.kind === "violation" ? exceeded(ending.limit, limits) : null;
}

function reason(ending: RunEnding, timeoutMs: number | null, limits: ContainerLimits): string {
  if (ending.kind === "violation") return exceeded(ending.limit, limits);
  if (timeoutMs !== null) {
    return `The interpreter was killed: the code went on when interrupted after ${timeoutMs} ms.`;
  }
  if (ending.kind === "exit" && ending.code >= 0) {
    return `The interpreter ended with exit code ${ending.code}.`;
  }
  if (ending.kind === "exit") return `The interpreter was ended by signal ${-ending.code}.`;
  return "The interpreter is gone.";
}

function exceeded(limit: ExceededLimit, limits: ContainerLimits): string {
  switch (limit) {
    case "memory":
      return `Stopped: the container may use ${limits.memoryBytes} bytes of memory.`;
    case "disk":
      return `Stopped: /mnt/data may hold ${limits.diskBytes} bytes, every entry counting at least 4096.`;
    case "temporary":
      return "Stopped: too many files in /tmp or /dev/shm.";
    case "depth":
      return "Stopped: folders in /mnt/data may be nested 400 deep; deeper ones were moved to its top.";
    case "protocol":
      return "Stopped: something else than the interpreter answered.";
  }
}
