import type { SandboxOptions } from "./sandbox.ts";

/**
 * What one container may use, and who sees to it. None of it asks who we are: all of it holds when
 * we are root, because then the container's code runs as a user of its own, unlike any other.
 *
 * | limit | of one process | of the whole sandbox |
 * |---|---|---|
 * | memory | `RLIMIT_AS`: Python raises `MemoryError` and goes on | counted 20 times a second; above it, everything is killed |
 * | file size | `RLIMIT_FSIZE` | the folder and what was deleted but is still open are counted; above it, everything is killed |
 * | processes | | `RLIMIT_NPROC` of the container's own user |
 * | `/tmp`, `/dev/shm` | | size of the mount; at most 32,768 entries, counted |
 * | CPU | `RLIMIT_CPU` (commands) | the run's time; between runs everything is stopped |
 *
 * Counting is not a wall: between two looks a container may overshoot by what the disk or the
 * memory takes in that time.
 */
export interface ContainerLimits {
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly maxProcesses: number;
  /** Of `/tmp` and of `/dev/shm`, each. */
  readonly temporaryBytes: number;
}

const GIBIBYTE = 1024 ** 3;
const MOST_TEMPORARY_BYTES = GIBIBYTE / 4;

/** The supervisors of the interpreter and of a command beside it are processes of the same user. */
export const SUPERVISING_PROCESSES = 4;

/** Fills in what the caller left open. */
export function containerLimits(options: SandboxOptions): ContainerLimits {
  return Object.freeze({
    memoryBytes: options.memoryBytes,
    diskBytes: options.diskBytes ?? GIBIBYTE,
    maxProcesses: options.maxProcesses ?? 64,
    temporaryBytes: Math.min(MOST_TEMPORARY_BYTES, Math.ceil(options.memoryBytes / 4)),
  });
}
