import type { Clock } from "../../base/clock.ts";
import type { BubblewrapChild } from "./bubblewrap-child.ts";
import { type Ending, readEnding } from "./kernel-answers.ts";
import type { Frame } from "./kernel-frames.ts";
import { BoundedOutput } from "./output.ts";
import type { RunLimits } from "./sandbox.ts";

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

/** How a run is stopped whose time is up. */
export interface Stopping {
  readonly clock: Clock;
  /** For how long it is only interrupted before everything is killed; 0 kills at once. */
  readonly graceMs: number;
}

/** Has a sandbox run a text and waits until that is over, one way or the other. */
export async function runInside(
  child: BubblewrapChild,
  text: string,
  limits: RunLimits,
  stopping: Stopping,
): Promise<RunOutcome> {
  const stdout = new BoundedOutput(limits.maxOutputBytes);
  const stderr = new BoundedOutput(limits.maxOutputBytes);
  const over = new AbortController();
  const ending = new Promise<RunEnding>((resolve) => {
    child.onFrame((frame) => {
      if (frame?.kind === "o") stdout.write(frame.payload);
      else if (frame?.kind === "e") stderr.write(frame.payload);
      else if (frame?.kind !== "r") resolve(endingOf(frame));
    });
  });
  child.send({ op: "run", text, maxOutput: limits.maxOutputBytes });
  const stopped = stopInTime(child, limits, stopping, over.signal);
  const reached = await ending;
  if (reached.kind !== "done") await child.exited;
  child.onFrame(null);
  over.abort();
  const timedOut = await stopped;
  return { stdout, stderr, timedOut, ending: reached };
}

function endingOf(frame: Frame | null): RunEnding {
  if (frame === null) return { kind: "vanished" };
  if (frame.kind === "d") return { kind: "done", payload: frame.payload };
  return readEnding(frame.payload) ?? { kind: "vanished" };
}

/** Whether the time was up before the run was over. */
async function stopInTime(
  child: BubblewrapChild,
  limits: RunLimits,
  { clock, graceMs }: Stopping,
  over: AbortSignal,
): Promise<boolean> {
  const wake = limits.signal ? AbortSignal.any([over, limits.signal]) : over;
  const timedOut = await elapsed(clock, limits.timeoutMs, wake);
  // Code may swallow an interrupt, or the command it waits for may: it gets more than one.
  for (let waited = 0; waited < graceMs && !over.aborted; waited += INTERRUPT_EVERY_MS) {
    child.send({ op: "interrupt" });
    await elapsed(clock, Math.min(INTERRUPT_EVERY_MS, graceMs - waited), over);
  }
  if (!over.aborted) await child.kill();
  return timedOut;
}

const INTERRUPT_EVERY_MS = 200;

async function elapsed(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<boolean> {
  return clock.sleep(milliseconds, signal, { background: true }).then(
    () => true,
    // The signal came first.
    () => false,
  );
}
