import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { PartResult } from "./part-result.ts";
import type { Part } from "./parts.ts";

/** A part that hangs is ended after this time. */
const LIMIT_MS = 300_000;

/** A part after its run. */
export interface PartRun {
  readonly part: Part;
  readonly seconds: number;
  /** `null` if the part failed. */
  readonly result: PartResult | null;
  /** Why the part failed; empty if it did not. */
  readonly failure: string;
}

/** Runs a part in its own process, and ends that process with all its children if `signal` aborts or it takes too long. */
export async function runPart(
  part: Part,
  flags: readonly string[],
  signal: AbortSignal,
): Promise<PartRun> {
  const started = performance.now();
  const program = fileURLToPath(new URL(`../${part.program}`, import.meta.url));
  const child = spawn(process.execPath, ["--expose-gc", program, "--json", ...flags], {
    detached: true, // its own group, which can be ended as a whole
    stdio: ["ignore", "pipe", "pipe"],
  });
  const timeout = AbortSignal.timeout(LIMIT_MS);
  const end = () => killGroup(child);
  for (const one of [signal, timeout]) one.addEventListener("abort", end, { once: true });
  child.once("exit", end);
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  signal.removeEventListener("abort", end);
  const seconds = (performance.now() - started) / 1_000;
  if (code === 0) return { part, seconds, result: parseResult(output), failure: "" };
  const reason = timeout.aborted ? `It did not end within ${LIMIT_MS / 1_000} s.` : errors.trim();
  return { part, seconds, result: null, failure: reason };
}

/** The last line is the result. Lines before it come from programs that the part runs. */
function parseResult(output: string): PartResult {
  return JSON.parse(output.trim().split("\n").at(-1) ?? "");
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // The group has ended.
  }
}
