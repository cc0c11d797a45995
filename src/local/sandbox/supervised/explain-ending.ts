import type { ContainerLimits } from "../container-limits.ts";
import type { ExceededLimit } from "../kernel/parse-answer.ts";
import type { RunLimits } from "../sandbox.ts";
import type { RunEnding, RunOutcome } from "./run-in-sandbox.ts";

/** Explains to the model why the interpreter ended. */
export function explainInterpreterEnd(
  { ending, timedOut }: RunOutcome,
  { timeoutMs }: RunLimits,
  limits: ContainerLimits,
): string {
  return `${describeEnding(ending, timedOut ? timeoutMs : null, limits)} Its variables are lost.`;
}

/** Describes the limit that stopped a run; `null` if no limit was exceeded. */
export function explainEnding(ending: RunEnding, limits: ContainerLimits): string | null {
  return ending.kind === "violation" ? describeLimit(ending.limit, limits) : null;
}

function describeEnding(
  ending: RunEnding,
  timeoutMs: number | null,
  limits: ContainerLimits,
): string {
  if (ending.kind === "violation") return describeLimit(ending.limit, limits);
  if (timeoutMs !== null) {
    return `The interpreter was killed: the code kept running when interrupted after ${timeoutMs} ms.`;
  }
  if (ending.kind === "exit" && ending.code >= 0) {
    return `The interpreter ended with exit code ${ending.code}.`;
  }
  if (ending.kind === "exit") return `The interpreter was killed by signal ${-ending.code}.`;
  return "The interpreter ended unexpectedly.";
}

function describeLimit(limit: ExceededLimit, limits: ContainerLimits): string {
  switch (limit) {
    case "memory":
      return `Stopped: the container may use at most ${limits.memoryBytes} bytes of memory.`;
    case "disk":
      return `Stopped: /mnt/data may contain at most ${limits.diskBytes} bytes; every entry counts as at least 4096.`;
    case "temporary":
      return "Stopped: too many files in /tmp or /dev/shm.";
    case "depth":
      return "Stopped: folders in /mnt/data may be nested at most 400 levels deep; deeper ones were moved to its top level.";
    case "protocol":
      return "Stopped: a process other than the interpreter sent a response.";
    case "hidden":
      return "Stopped: the usage of a process or folder could not be measured.";
    case "idle":
      return "Stopped: a process ran between two runs.";
  }
}
