import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { basename } from "node:path";
import { Writable } from "node:stream";
import { type Clock, systemClock } from "../../base/clock.ts";
import { WinkError } from "../../base/errors.ts";
import {
  type ListedProcess,
  listRunProcesses,
  RUN_VARIABLE,
  type RunOrigin,
} from "./list-run-processes.ts";

/** The SDK's request to start a process. */
export interface SpawnRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborts when the SDK no longer needs the process. */
  readonly signal?: AbortSignal | undefined;
}

/** The exit status of a process. Both fields are `null` if it never started. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Options of a `ClaudeProcess`. */
export interface ClaudeProcessOptions {
  /** A secret that the process reads from a pipe at `SECRET_DESCRIPTOR`. @default none */
  readonly pipedSecret?: string | null | undefined;
  /** Values to redact in `stderrTail`. @default none */
  readonly secrets?: readonly string[] | undefined;
  /** Time between SIGTERM and SIGKILL. @default 300 */
  readonly graceMs?: number | undefined;
  readonly clock?: Clock | undefined;
}

/** The SDK's process with all processes that it starts. They are stopped together. */
export class ClaudeProcess {
  /** Identifies every process of the run, through an environment variable. */
  readonly runId: string = randomUUID();
  /** Settles when the SDK's own process has ended, or can no longer be started. */
  readonly ended: Promise<ProcessEnd>;
  readonly #options: ClaudeProcessOptions;
  readonly #resolveEnded: (end: ProcessEnd) => void;
  #child: ChildProcess | null = null;
  #stopping: Promise<void> | null = null;
  #stderr = "";

  constructor(options: ClaudeProcessOptions = {}) {
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<ProcessEnd>();
    this.ended = promise;
    this.#resolveEnded = resolve;
  }

  /** The process id; `null` until the process is started. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** The last output on stderr, at most 4,096 characters, with secrets redacted. */
  get stderrTail(): string {
    const secrets = (this.#options.secrets ?? []).filter((secret) => secret !== "");
    return secrets.reduce((text, secret) => text.replaceAll(secret, "…"), this.#stderr.trim());
  }

  /** Starts the process. Pass it as the SDK's option `spawnClaudeCodeProcess`. */
  readonly spawn = ({ command, args, cwd, env, signal }: SpawnRequest): ChildProcess => {
    if (this.#child !== null || this.#stopping !== null) {
      throw new WinkError("The SDK's process can be started only once. Create a new run.");
    }
    const { pipedSecret = null } = this.#options;
    const [program = command, ...rest] = [...findParentDeathGuard(command), command, ...args];
    const child = spawn(program, rest, {
      cwd,
      env: { ...env, [RUN_VARIABLE]: this.runId },
      stdio: ["pipe", "pipe", "pipe", pipedSecret === null ? "ignore" : "pipe"],
      detached: true, // in a new process group
    });
    this.#child = child;
    child.once("exit", (code, signal) => this.#resolveEnded({ code, signal }));
    child.once("error", (error) => {
      this.#appendStderr(error.message);
      if (child.pid === undefined) this.#resolveEnded({ code: null, signal: null });
    });
    child.stdin?.on("error", () => {}); // the process has ended, which `ended` reports
    child.stderr?.setEncoding("utf8").on("data", (text: string) => this.#appendStderr(text));
    writeSecret(child, pipedSecret);
    signal?.addEventListener("abort", () => void this.stop(), { once: true });
    return child;
  };

  /** Waits until the SDK's own process has ended, or until the time is up. */
  async waitForEnd(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, milliseconds);
    await Promise.race([this.ended, promise]);
    clearTimeout(timer);
  }

  /** Stops all processes of the run and settles when they have ended. Idempotent. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const { graceMs = 300, clock = systemClock } = this.#options;
    const root = this.#child?.pid;
    if (root === undefined) {
      this.#resolveEnded({ code: null, signal: null });
      return;
    }
    const { exitCode = null, signalCode = null } = this.#child ?? {};
    const hasEnded = exitCode !== null || signalCode !== null;
    const origin = { runId: this.runId, root, hasEnded };
    // Before the first signal: after its parent has ended, a child can no longer be traced to the run.
    const known = await listRunProcesses(origin);
    const end = new AbortController();
    void this.ended.then(() => end.abort());
    // Only to the SDK's process, which stops its commands and cleans up after them.
    this.#child?.kill("SIGTERM");
    await clock.sleep(graceMs, end.signal).catch(() => {});
    await killAll(origin, known, clock);
    await this.ended;
  }

  #appendStderr(text: string): void {
    this.#stderr = `${this.#stderr}${text}`.slice(-MAX_STDERR_CHARS);
  }
}

const MAX_STDERR_CHARS = 4_096;
const KILL_TIMEOUT_MS = 10_000;

/** Kills processes until none remain, because a process that is just starting is not listed yet. */
async function killAll(
  origin: RunOrigin,
  known: readonly ListedProcess[],
  clock: Clock,
): Promise<void> {
  const until = clock.now() + KILL_TIMEOUT_MS; // a process blocked on disk I/O cannot be killed
  for (let seen = known; clock.now() < until; ) {
    const remaining = await listRunProcesses(origin, seen);
    if (remaining.length === 0) return;
    for (const { pid } of remaining) killProcess(pid);
    seen = [...seen, ...remaining];
    await clock.sleep(KILL_INTERVAL_MS);
  }
}

const KILL_INTERVAL_MS = 10;

function killProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {} // it has ended already
}

/** Writes the secret and closes the pipe, so that the secret cannot be read again. */
function writeSecret(child: ChildProcess, secret: string | null): void {
  const pipe: unknown = child.stdio[3];
  if (secret === null || !(pipe instanceof Writable)) return;
  pipe.on("error", () => {}); // the process ended without reading the secret
  pipe.end(secret);
}

/**
 * Finds a wrapper command that makes Linux end the SDK's process when this process is killed. Without
 * it the SDK would first finish its current work. `setpriv` from util-linux sets the parent-death signal
 * and then executes the SDK.
 */
function findParentDeathGuard(command: string): readonly string[] {
  const program = SETPRIV_PATHS.find((path) => existsSync(path));
  // Without the wrapper, a command that does not exist fails under its own name.
  if (program === undefined || !existsSync(command)) return [];
  // Busybox's `setpriv` does not have this option.
  if (basename(realpathSync(program)) !== "setpriv") return [];
  return [program, "--pdeathsig", "TERM", "--"];
}

const SETPRIV_PATHS = ["/usr/bin/setpriv", "/bin/setpriv"];
