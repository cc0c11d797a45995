import type { SandboxOptions } from "./sandbox.ts";

/**
 * Resources that one container may use, and the mechanism behind each limit in bubblewrap. Every limit also holds when
 * this process runs as root, because the container's code then runs as a separate user.
 *
 * | limit | per process | whole container, enforced | whole container, watched |
 * |---|---|---|---|
 * | memory | `RLIMIT_AS`: Python raises `MemoryError` and continues | cgroup, swap included: the kernel kills the largest process | the supervisor measures all processes, `/tmp` and `/dev/shm`, and ends the sandbox |
 * | disk | `RLIMIT_FSIZE` | size of the container's file system: code sees "No space left on device" | the supervisor measures the folder and deleted files, and ends the sandbox |
 * | processes | | cgroup, and `RLIMIT_NPROC` of the container's own user | `RLIMIT_NPROC`, which the kernel enforces too |
 * | `/tmp`, `/dev/shm` | | size of the mount; at most 32,768 entries, counted | the same |
 * | CPU | `RLIMIT_CPU` (commands) | the run's time limit; between runs the cgroup is frozen | the run's time limit; between runs all processes are stopped, and the supervisor ends a sandbox in which one is not |
 *
 * Memory and processes are enforced where this process may create cgroups (root, a delegated subtree, or the
 * user's systemd); the disk where the folder is a file system of about the limit's size. Watched limits are
 * not exact: between two measurements a container can exceed them by as much as it writes or allocates in
 * that time. `npm run bench:limits` prints by how much.
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
