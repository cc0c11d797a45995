import { BoundedOutput } from "../bounded-output.ts";
import { type Frame, type KernelRequest, PYTHON_CHANNEL } from "../kernel/frames.ts";
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
  /** The sandbox ended without a last frame: it was killed. */
  | { readonly kind: "vanished" };

/** A request that starts a run. */
export type RunRequest = Extract<KernelRequest, { readonly op: "python" | "shell" }>;

/** Sends code or a command to a sandbox and waits until it ends. */
export async function runInSandbox(
  child: SupervisedChild,
  request: RunRequest,
  limits: RunLimits,
  stopping: StopSettings,
): Promise<RunOutcome> {
  const stdout = new BoundedOutput(limits.maxOutputBytes);
  const stderr = new BoundedOutput(limits.maxOutputBytes);
  const channel = request.op === "python" ? PYTHON_CHANNEL : request.channel;
  const { promise: ending, resolve } = Promise.withResolvers<RunEnding>();
  child.start(request, channel, (frame) => {
    if (frame?.kind === "o") stdout.write(frame.payload);
    else if (frame?.kind === "e") stderr.write(frame.payload);
    else resolve(toRunEnding(frame));
  });
  const stop = new RunStopper(child, channel, limits, stopping);
  const reached = await ending;
  if (reached.kind === "violation" || reached.kind === "vanished") await child.exited;
  child.stopListening(channel);
  const timedOut = await stop.finish();
  return { stdout, stderr, timedOut, ending: reached };
}

function toRunEnding(frame: Frame | null): RunEnding {
  if (frame === null) return { kind: "vanished" };
  if (frame.kind === "d") return { kind: "done", payload: frame.payload };
  return parseEnding(frame.payload) ?? { kind: "vanished" };
}
