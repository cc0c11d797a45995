import type { Stats } from "node:fs";

/** A host file to copy into a workspace, with its state when it was planned. */
export interface PlannedFile {
  /** The absolute real path on the host. */
  readonly hostPath: string;
  /** The path in the workspace. */
  readonly mountPath: string;
  /** The size of the file. */
  readonly bytes: number;
  /** The file's mode, including its type bits. */
  readonly mode: number;
  /** The modification time, in milliseconds since 1970. */
  readonly mtimeMs: number;
  /** The inode number. */
  readonly ino: number;
  /** Set if `allowSecrets` names the file, so that it is copied even if it contains a private key. */
  readonly mayContainKey?: true;
}

/** Creates the frozen record of a file's current state. */
export function createPlannedFile(
  paths: Pick<PlannedFile, "hostPath" | "mountPath">,
  stats: Stats,
  isAllowedSecret: boolean,
): PlannedFile {
  const { size, mode, mtimeMs, ino } = stats;
  const permission = isAllowedSecret ? ({ mayContainKey: true } as const) : {};
  return Object.freeze({ ...paths, bytes: size, mode, mtimeMs, ino, ...permission });
}

/** Whether a file is unchanged since it was planned. */
export function matchesPlan({ bytes, mtimeMs, ino }: PlannedFile, stats: Stats): boolean {
  return stats.size === bytes && stats.mtimeMs === mtimeMs && stats.ino === ino;
}
