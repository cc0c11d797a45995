import { BoundedOutput } from "../bounded-output.ts";
import type { Frame } from "../kernel/frames.ts";
import { parseEnding, type SandboxEnding } from "../kernel/parse-answer.ts";
import type { RunLimits } from "../sandbox.ts";
import { RunStopper, type StopSettings } from "./run-stopper.ts";
import type { SupervisedChild } from "./supervised-child.ts";

/** The outcome of one request to a sandbox. */
export interface RunOutcome {
  readonly stdout: BoundedOutput;
  readonly stderr: BoundedOutput;
  readonly timedOut: boolean;
  readonly ending: RunEnding;
}

/** How a request to a sandbox ended. */
export type RunEnding =
  | { readonly kind: "done"; readonly payload: Buffer }
  | SandboxEnding
  /** It ended without a final frame: killed, or never started. */
  | { readonly kind: "vanished" };

/** Sends code or a command to a sandbox and waits until it ends. */
export async function runInSandbox(
  child: SupervisedChild,
  text: string,
  limits: RunLimits,
  stopping: StopSettings,
): Promise<RunOutcome> {
  const stdout = new BoundedOutput(limits.maxOutputBytes);
  const stderr = new BoundedOutput(limits.maxOutputBytes);
  const ending = new Promise<RunEnding>((resolve) => {
    child.onFrame((frame) => {
      if (frame?.kind === "o") stdout.write(frame.payload);
      else if (frame?.kind === "e") stderr.write(frame.payload);
      else if (frame?.kind !== "r") resolve(toRunEnding(frame));
    });
  });
  child.send({ op: "run", text, maxOutputBytes: limits.maxOutputBytes });
  const stop = new RunStopper(child, limits, stopping);
  const reached = await ending;
  if (reached.kind !== "done") await child.exited;
  child.onFrame(null);
  const timedOut = await stop.finish();
  return { stdout, stderr, timedOut, ending: reached };
}

function toRunEnding(frame: Frame | null): RunEnding {
  if (frame === null) return { kind: "vanished" };
  if (frame.kind === "d") return { kind: "done", payload: frame.payload };
  return parseEnding(frame.payload) ?? { kind: "vanished" };
}
