import type { LimitReport } from "./sandbox.ts";

/** Whether each container can have its own disk on this host. */
export type DiskSupport =
  | { readonly usable: true }
  /** Why not, and what to do. */
  | { readonly usable: false; readonly reason: string };

/** Adds to a sandbox's report how the disks of containers hold their limit. */
export function combineLimits(report: LimitReport | undefined, disks: DiskSupport): LimitReport {
  const known = report ?? ALL_WATCHED;
  if (known.disk === "enforced") return known;
  if (!disks.usable) return { ...known, means: `${known.means}; disk: ${disks.reason}` };
  return { ...known, disk: "enforced", means: `${known.means}, disk images` };
}

/** Formats a report as the value of the header `x-wink-sandbox`. */
export function formatLimits(name: string, { memory, processes, disk }: LimitReport): string {
  const safe = name.replace(/[^\x21-\x7e]|[;,]/g, "-");
  return `${safe}; memory=${memory}; processes=${processes}; disk=${disk}`;
}

/** A sandbox that reports nothing watches every limit. */
const ALL_WATCHED: LimitReport = {
  memory: "watched",
  processes: "watched",
  disk: "watched",
  means: "the sandbox's own measurements",
};
