import { cpus, loadavg } from "node:os";

/** Where and when something was measured. */
export interface Machine {
  /** The day, as in `2026-11-18`. */
  readonly date: string;
  readonly node: string;
  /** The number of processors and their model. */
  readonly processors: string;
}

/** Describes this machine. */
export function describeMachine(): Machine {
  const [first, ...others] = cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    processors: `${others.length + 1} x ${first?.model.trim() ?? "unknown"}`,
  };
}

/** The load average of the last minute. */
export function readLoad(): number {
  return loadavg()[0] ?? Number.NaN;
}
