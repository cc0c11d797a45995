import { type Ending, readEnding } from "../kernel/answers.ts";
import type { Frame } from "../kernel/frames.ts";
import { BoundedOutput } from "../output.ts";
import type { RunLimits } from "../sandbox.ts";
import type { BubblewrapChild } from "./child.ts";
import { Stop, type Stopping } from "./stop.ts";

/** What came of one request to a sandbox. */
export interface RunOutcome {
  readonly stdout: BoundedOutput;
  readonly stderr: BoundedOutput;
  readonly timedOut: boolean;
  readonly ending: RunEnding;
}

export type RunEnding =
  | { readonly kind: "done"; readonly payload: Buffer }
  | Ending
  /** It ended without a word: killed, or never begun. */
  | { readonly kind: "vanished" };

/** Has a sandbox run a text and waits until that is over, one way or the other. */
export async function runInside(
  child: BubblewrapChild,
  text: string,
  limits: RunLimits,
  stopping: Stopping,
): Promise<RunOutcome> {
  const stdout = new BoundedOutput(limits.maxOutputBytes);
  const stderr = new BoundedOutput(limits.maxOutputBytes);
  const ending = new Promise<RunEnding>((resolve) => {
    child.onFrame((frame) => {
      if (frame?.kind === "o") stdout.write(frame.payload);
      else if (frame?.kind === "e") stderr.write(frame.payload);
      else if (frame?.kind !== "r") resolve(endingOf(frame));
    });
  });
  child.send({ op: "run", text, maxOutputBytes: limits.maxOutputBytes });
  const stop = new Stop(child, limits, stopping);
  const reached = await ending;
  if (reached.kind !== "done") await child.exited;
  child.onFrame(null);
  const timedOut = await stop.end();
  return { stdout, stderr, timedOut, ending: reached };
}

function endingOf(frame: Frame | null): RunEnding {
  if (frame === null) return { kind: "vanished" };
  if (frame.kind === "d") return { kind: "done", payload: frame.payload };
  return readEnding(frame.payload) ?? { kind: "vanished" };
}
