import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { attempt } from "./attempt.ts";
import { openTarget, type Target, type TargetOptions, USERS } from "./bubblewrap-target.ts";

/** An attack on a bubblewrap container, tried as root and as an ordinary user. */
export interface ContainerAttack {
  readonly finding: string;
  readonly tries: string;
  readonly shows: string;
  /** Limits of the container. @default 128 MiB of memory, 32 MiB of files, 32 processes */
  readonly options?: TargetOptions | undefined;
  /** Returns what got through. */
  readonly work: (target: Target) => Promise<readonly string[]>;
}

const MEBIBYTE = 1024 ** 2;
const SMALL = { memoryBytes: 128 * MEBIBYTE, diskBytes: 32 * MEBIBYTE, maxProcesses: 32 };

/**
 * Declares an attack as one test per user. If it exceeds a limit, it is tried up to three times, each time on a new
 * container, and gets through if every try does: a busy machine can delay the measurement of a watched limit once.
 */
export function attackContainer({ work, options, ...attack }: ContainerAttack): void {
  for (const as of USERS) {
    attempt({ ...attack, surface: "bubblewrap", as }, async () => {
      let through: readonly string[] = [];
      for (let tried = 1; tried <= MAX_TRIES; tried++) {
        through = await work(await openTarget({ ...SMALL, ...options, as }));
        if (!through.some((one) => one.startsWith(EXCEEDED))) return { tried, through };
      }
      return { tried: MAX_TRIES, through };
    });
  }
}

const MAX_TRIES = 3;
const EXCEEDED = "exceeded ";

/** Helpers that every attack in Python may use. `report(n)` prints how many MiB it uses. */
export const PRELUDE = `
import ctypes, mmap, os, resource, select, signal, socket, struct, subprocess, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
MIB = 2 ** 20
def report(n):
    os.write(1, b"%d\\n" % n)
`;

/** Runs Python that reports its usage in MiB, and returns the most that it reported. */
export async function measureUsage(
  target: Target,
  code: string,
  timeoutMs = 6_000,
): Promise<number> {
  const run = await target.python(`${PRELUDE}${code}`, { timeoutMs, maxOutputBytes: 100_000 });
  return Math.max(0, ...run.stdout.split("\n").filter(Boolean).map(Number));
}

/**
 * Names a usage that exceeds a watched limit by more than is allowed on a machine that runs many other
 * tests. `bench/limits.ts` measures the overshoot on a quiet one.
 */
export function findExcess(what: string, used: number, limit: number): readonly string[] {
  const most = limit + Math.max(192, limit / 4);
  return used <= most ? [] : [`${EXCEEDED}${what}: ${used} MiB of ${limit} MiB`];
}

/** A process that counts in /mnt/data/ticks as long as it runs. */
export const TICKING = `
def tick():
    handle = os.open("ticks", os.O_CREAT | os.O_RDWR)
    count = 0
    while True:
        count += 1
        os.pwrite(handle, b"%d" % count, 0)
`;

/** Runs code that leaves something behind, and reports whether it runs afterwards. */
export async function findIdleActivity(
  target: Target,
  code: string,
  run: "python" | "shell" = "python",
): Promise<readonly string[]> {
  const text = `${PRELUDE}${TICKING}${code}`;
  const problem =
    run === "python"
      ? (await target.python(text)).error
      : (await target.shell(`python3 -c '${text}'`)).stderr;
  // A mistake in the attack must not count as a success of the defense.
  if (problem) return [problem];
  // A busy machine needs a moment until everything has stopped.
  await sleep(400);
  const before = readTicks(target);
  await sleep(1_000);
  const ticks = readTicks(target) - before;
  return ticks === 0 ? [] : [`${ticks} ticks between two runs`];
}

function readTicks({ root }: Target): number {
  try {
    return Number(readFileSync(`${root}/ticks`, "utf8"));
  } catch {
    // It never ran.
    return 0;
  }
}

/** Forks until the limit of processes, prints how many children that made, and ends them. */
export const COUNT_FORKS = `
import os, time
count = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        count += 1
except OSError:
    print(count)
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.killpg(0, signal.SIGTERM)
while count:
    os.wait()
    count -= 1
`;
