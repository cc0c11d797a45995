import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { basename } from "node:path";
import { Writable } from "node:stream";
import { type Clock, systemClock } from "../../base/clock.ts";
import { WinkError } from "../../base/errors.ts";
import {
  type ListedProcess,
  processesOfRun,
  RUN_VARIABLE,
  type RunOrigin,
} from "./run-processes.ts";

/** The process that the SDK asks to start. */
export interface SpawnRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborts when the SDK no longer needs the process. */
  readonly signal?: AbortSignal | undefined;
}

/** How a process ended. Both are `null` if it never started. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Options of a `ClaudeProcess`. */
export interface ClaudeProcessOptions {
  /** A secret that the process reads from a pipe at `SECRET_DESCRIPTOR`. @default none */
  readonly handed?: string | null | undefined;
  /** Redacted in `complaint`. @default none */
  readonly secrets?: readonly string[] | undefined;
  /** How long the process may take to end by itself after SIGTERM. @default 300 */
  readonly graceMs?: number | undefined;
  readonly clock?: Clock | undefined;
}

/** The SDK's process and everything that it starts. They always end together. */
export class ClaudeProcess {
  /** Marks every process of the run, through its environment. */
  readonly runId: string = randomUUID();
  /** Settles when the SDK's own process has ended, or will not start any more. */
  readonly ended: Promise<ProcessEnd>;
  readonly #options: ClaudeProcessOptions;
  readonly #end: (end: ProcessEnd) => void;
  #child: ChildProcess | null = null;
  #stopping: Promise<void> | null = null;
  #complaint = "";

  constructor(options: ClaudeProcessOptions = {}) {
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<ProcessEnd>();
    this.ended = promise;
    this.#end = resolve;
  }

  /** `null` until the process is started. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** The last lines that the process wrote to stderr, without secrets. */
  get complaint(): string {
    const secrets = (this.#options.secrets ?? []).filter((secret) => secret !== "");
    return secrets.reduce((text, secret) => text.replaceAll(secret, "…"), this.#complaint.trim());
  }

  /** For the SDK's option `spawnClaudeCodeProcess`. */
  readonly spawn = ({ command, args, cwd, env, signal }: SpawnRequest): ChildProcess => {
    if (this.#child !== null || this.#stopping !== null) {
      throw new WinkError("The SDK's process is started once: make a new run");
    }
    const { handed = null } = this.#options;
    const [program = command, ...rest] = [...findGuard(command), command, ...args];
    const child = spawn(program, rest, {
      cwd,
      env: { ...env, [RUN_VARIABLE]: this.runId },
      stdio: ["pipe", "pipe", "pipe", handed === null ? "ignore" : "pipe"],
      detached: true, // in a process group of its own
    });
    this.#child = child;
    child.once("exit", (code, signal) => this.#end({ code, signal }));
    child.once("error", (error) => {
      this.#complain(error.message);
      if (child.pid === undefined) this.#end({ code: null, signal: null });
    });
    child.stdin?.on("error", () => {}); // the process has ended, which `ended` reports
    child.stderr?.setEncoding("utf8").on("data", (text: string) => this.#complain(text));
    handOver(child, handed);
    signal?.addEventListener("abort", () => void this.stop(), { once: true });
    return child;
  };

  /** Waits until the SDK's own process has ended, but no longer than this. */
  async endedWithin(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, milliseconds);
    await Promise.race([this.ended, promise]);
    clearTimeout(timer);
  }

  /** Ends the process and all others of the run, and settles when they are gone. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const { graceMs = 300, clock = systemClock } = this.#options;
    const root = this.#child?.pid;
    if (root === undefined) {
      this.#end({ code: null, signal: null });
      return;
    }
    const { exitCode = null, signalCode = null } = this.#child ?? {};
    const isOver = exitCode !== null || signalCode !== null;
    const origin = { runId: this.runId, root, isOver };
    // Before the first signal: a child whose parent is gone can no longer be traced to the run.
    const known = await processesOfRun(origin);
    const end = new AbortController();
    void this.ended.then(() => end.abort());
    // Only to this process, which ends its commands and cleans up after them.
    this.#child?.kill("SIGTERM");
    await clock.sleep(graceMs, end.signal).catch(() => {});
    await killAll(origin, known, clock);
    await this.ended;
  }

  #complain(text: string): void {
    this.#complaint = `${this.#complaint}${text}`.slice(-LONGEST_COMPLAINT);
  }
}

const LONGEST_COMPLAINT = 4_096;
const LONGEST_KILLING_MS = 10_000;

/** Kills until none is left, because a process that is just starting is not listed yet. */
async function killAll(
  origin: RunOrigin,
  known: readonly ListedProcess[],
  clock: Clock,
): Promise<void> {
  const until = clock.now() + LONGEST_KILLING_MS; // a process that waits for a disk cannot be killed
  for (let seen = known; clock.now() < until; ) {
    const left = await processesOfRun(origin, seen);
    if (left.length === 0) return;
    for (const { pid } of left) kill(pid);
    seen = [...seen, ...left];
    await clock.sleep(PAUSE_MS);
  }
}

const PAUSE_MS = 10;

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {} // it has ended already
}

/** Closes the pipe after the secret, so that it cannot be read again. */
function handOver(child: ChildProcess, handed: string | null): void {
  const pipe: unknown = child.stdio[3];
  if (handed === null || !(pipe instanceof Writable)) return;
  pipe.on("error", () => {}); // the process has ended without reading it
  pipe.end(handed);
}

/**
 * Finds the command that makes Linux end the SDK's process when this process is killed. Without it
 * the SDK would first finish what it is doing. `setpriv` of util-linux sets that up, then becomes the SDK.
 */
function findGuard(command: string): readonly string[] {
  const program = GUARDS.find((path) => existsSync(path));
  // A command on the PATH, or one that does not exist, must fail under its own name.
  if (program === undefined || !existsSync(command)) return [];
  // The one of busybox has no such option.
  if (basename(realpathSync(program)) !== "setpriv") return [];
  return [program, "--pdeathsig", "TERM", "--"];
}

const GUARDS = ["/usr/bin/setpriv", "/bin/setpriv"];
