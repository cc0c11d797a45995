import { availableParallelism, totalmem } from "node:os";

/** The resources of this machine that this process may use. */
export interface Machine {
  /** Memory in bytes, or the limit of the process's cgroup if that is lower. */
  readonly memoryBytes: number;
  /** Memory that is free now, in bytes. */
  readonly availableBytes: number;
  readonly cores: number;
}

const MEBIBYTE = 2 ** 20;

/** The least memory that a container gets: Python needs it to start with its usual packages. */
const MIN_CONTAINER_BYTES = 256 * MEBIBYTE;

/** Reads the resources of this machine. */
export function readMachine(): Machine {
  const constrained = process.constrainedMemory(); // 0, or more than the machine has, without a limit
  const total = totalmem();
  return {
    memoryBytes: constrained > 0 ? Math.min(constrained, total) : total,
    availableBytes: process.availableMemory(),
    cores: availableParallelism(),
  };
}

/**
 * Returns how many interpreters may be open at the same time: one per 512 MiB of memory and at most 8 per core, but from
 * 2 to 64. An idle one uses 12 MB in bubblewrap and up to 150 MB in WebAssembly.
 */
export function chooseMaxInterpreters({ memoryBytes, cores }: Machine): number {
  const fitting = Math.min(8 * cores, Math.floor(memoryBytes / (512 * MEBIBYTE)));
  return Math.max(2, Math.min(64, fitting));
}

/**
 * Returns the memory limit of a container that requested `bytes`: at most three quarters of the machine's memory and nine
 * tenths of what is free, in whole MiB.
 */
export function reduceMemory(bytes: number, { memoryBytes, availableBytes }: Machine): number {
  const most = Math.max(MIN_CONTAINER_BYTES, Math.min(memoryBytes * 0.75, availableBytes * 0.9));
  return bytes <= most ? bytes : Math.floor(most / MEBIBYTE) * MEBIBYTE;
}
