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

/** What the SDK asks to be started. */
export interface SpawnRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborts when the SDK gives the process up. */
  readonly signal?: AbortSignal | undefined;
}

/** How a process ended; neither if it never began. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ClaudeProcessOptions {
  /** What the process reads from a pipe of its own, at `SECRET_DESCRIPTOR`. @default nothing */
  readonly handed?: string | null | undefined;
  /** Left out of `complaint`. @default none */
  readonly secrets?: readonly string[] | undefined;
  /** How long it may take to end in good order. @default 300 */
  readonly graceMs?: number | undefined;
  readonly clock?: Clock | undefined;
}

/** The SDK's process and all that it starts, which end together whatever becomes of any of them. */
export class ClaudeProcess {
  /** Every process of the run has it in its environment. */
  readonly runId: string = randomUUID();
  /** Settles when the SDK's own process has ended, or is never to begin. */
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

  /** `null` until it is started. */
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
    const [program = command, ...rest] = [...guard(command), command, ...args];
    const child = spawn(program, rest, {
      cwd,
      env: { ...env, [RUN_VARIABLE]: this.runId },
      stdio: ["pipe", "pipe", "pipe", handed === null ? "ignore" : "pipe"],
      detached: true, // a group of its own, which a signal reaches as one
    });
    this.#child = child;
    child.once("exit", (code, signal) => this.#end({ code, signal }));
    child.once("error", (error) => {
      this.#complain(error.message);
      if (child.pid === undefined) this.#end({ code: null, signal: null });
    });
    child.stdin?.on("error", () => {}); // it has ended; `ended` says so
    child.stderr?.setEncoding("utf8").on("data", (text: string) => this.#complain(text));
    hand(child, handed);
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

  /** Ends the process and every other of the run, and settles when they are gone. */
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
    // Looked up while they still hang together: a child whose parent is gone shows no descent.
    const known = await processesOfRun(origin);
    const end = new AbortController();
    void this.ended.then(() => end.abort());
    // To this one only: it ends its commands in order, and tidies up after them.
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

/** Again until there are none: one that is just being made is not in the list. */
async function killAll(
  origin: RunOrigin,
  known: readonly ListedProcess[],
  clock: Clock,
): Promise<void> {
  const until = clock.now() + LONGEST_KILLING_MS; // the kernel may hold one that waits for a disk
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
  } catch {} // it has ended meanwhile
}

/** The pipe is closed behind it: nobody else can read it again. */
function hand(child: ChildProcess, handed: string | null): void {
  const pipe: unknown = child.stdio[3];
  if (handed === null || !(pipe instanceof Writable)) return;
  pipe.on("error", () => {}); // the process has ended before it read it
  pipe.end(handed);
}

/**
 * If this process is killed, nobody is left to stop the SDK's, which would first finish what it does.
 * Linux then sends it a signal, if util-linux has asked for that before it becomes the SDK's process.
 */
function guard(command: string): readonly string[] {
  const program = GUARDS.find((path) => existsSync(path));
  // What is looked up along the PATH, or is not there at all, fails under its own name.
  if (program === undefined || !existsSync(command)) return [];
  // busybox has one that cannot do it.
  if (basename(realpathSync(program)) !== "setpriv") return [];
  return [program, "--pdeathsig", "TERM", "--"];
}

const GUARDS = ["/usr/bin/setpriv", "/bin/setpriv"];
