import type { Stats } from "node:fs";

/** A host file that goes into a workspace, as it was when it was planned. */
export interface PlannedFile {
  /** Absolute, with no symlink in it. */
  readonly hostPath: string;
  /** Within the workspace. */
  readonly mountPath: string;
  readonly bytes: number;
  readonly mode: number;
  readonly mtimeMs: number;
  readonly ino: number;
}

/** What a file is, frozen at this moment. */
export function plannedFile(hostPath: string, mountPath: string, stats: Stats): PlannedFile {
  const { size, mode, mtimeMs, ino } = stats;
  return Object.freeze({ hostPath, mountPath, bytes: size, mode, mtimeMs, ino });
}

/** Whether a file is still what was planned. */
export function isAsPlanned({ bytes, mtimeMs, ino }: PlannedFile, stats: Stats): boolean {
  return stats.size === bytes && stats.mtimeMs === mtimeMs && stats.ino === ino;
}
