import type { SandboxOptions } from "./sandbox.ts";

/**
 * Resources that one container may use, and how each limit is enforced. Every limit also holds when
 * this process runs as root, because the container's code then runs as a separate user.
 *
 * | limit | per process | whole sandbox |
 * |---|---|---|
 * | memory | `RLIMIT_AS`: Python raises `MemoryError` and continues | measured 20 times a second; above the limit, all processes are killed |
 * | file size | `RLIMIT_FSIZE` | the folder and deleted files that are still open are measured; above the limit, all processes are killed |
 * | processes | | `RLIMIT_NPROC` of the container's own user |
 * | `/tmp`, `/dev/shm` | | size of the mount; at most 32,768 entries, counted |
 * | CPU | `RLIMIT_CPU` (commands) | the run's time limit; between runs all processes are stopped |
 *
 * Measured limits are not exact: between two measurements a container can overshoot by as much as it
 * writes or allocates in that time.
 */
export interface ContainerLimits {
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly maxProcesses: number;
  /** Size of `/tmp` and of `/dev/shm`, each. */
  readonly temporaryBytes: number;
}

const GIBIBYTE = 1024 ** 3;

/** Limit for a container's files if none is given. */
export const DEFAULT_DISK_BYTES: number = GIBIBYTE;

const MAX_TEMPORARY_BYTES = GIBIBYTE / 4;

/** Extra processes for the supervisors, which run as the container's user: the interpreter's and a command's. */
export const SUPERVISOR_PROCESSES = 4;

/** Applies the defaults to a container's limits. */
export function toContainerLimits(options: SandboxOptions): ContainerLimits {
  return Object.freeze({
    memoryBytes: options.memoryBytes,
    diskBytes: options.diskBytes ?? DEFAULT_DISK_BYTES,
    maxProcesses: options.maxProcesses ?? 64,
    temporaryBytes: Math.min(MAX_TEMPORARY_BYTES, Math.ceil(options.memoryBytes / 4)),
  });
}
