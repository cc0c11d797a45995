import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { Duplex, type Readable, type Writable } from "node:stream";
import type { Clock } from "../../../base/clock.ts";
import { BoundedOutput } from "../bounded-output.ts";
import { type ContainerLimits, SUPERVISOR_PROCESSES } from "../container-limits.ts";
import { encodeRequest, type Frame, FrameReader, type KernelRequest } from "../kernel/frames.ts";
import { SANDBOX_PROGRAM } from "../kernel/sandbox-program.ts";
import { buildArguments, buildUserFiles } from "./build-arguments.ts";
import type { Identity } from "./choose-identity.ts";

/** Programs and settings shared by all sandboxes of a container. */
export interface ChildSettings {
  readonly bubblewrap: string;
  readonly python: string;
  readonly root: string;
  readonly identity: Identity;
  readonly limits: ContainerLimits;
  /** The seccomp filter, or `null` if there is none for this architecture. */
  readonly seccomp: Buffer | null;
  readonly clock: Clock;
}

/** The task of one sandbox. */
export interface ChildTask {
  readonly mode: "python" | "shell";
  /** The folder was above its limit before. This run may delete files, but not add any. */
  readonly full: boolean;
  readonly cpuSeconds: number | null;
}

/** One bwrap process and everything inside it. Passes its frames on without trusting them. */
export class BubblewrapChild {
  /** Resolves when no process of the sandbox is left. */
  readonly exited: Promise<void>;
  readonly #process: ChildProcess;
  readonly #requests: Writable;
  readonly #stderr = new BoundedOutput(4_096);
  readonly #clock: Clock;
  #listener: ((frame: Frame | null) => void) | null = null;
  #pendingFrames: Frame[] = [];
  #processOne: number | null = null;
  #killRequested = false;
  #ended = false;

  constructor(housing: ChildSettings, errand: ChildTask) {
    this.#clock = housing.clock;
    const { seccomp: filter } = housing;
    this.#process = spawn(housing.bubblewrap, [...buildCommandLine(housing, errand)], {
      cwd: "/",
      // Only for finding bwrap itself; the code inside does not inherit it.
      env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
      stdio: Array.from({ length: filter === null ? 6 : 7 }, () => "pipe" as const),
    });
    const pipes: readonly unknown[] = this.#process.stdio;
    const [requests, frames, complaints, status, users, groups, seccomp] = pipes;
    this.#requests = requirePipe(requests);
    this.#requests.on("error", () => {});
    this.exited = this.#waitForExit();
    requirePipe(complaints).on("data", (chunk: Buffer) => this.#stderr.write(chunk));
    this.#readFrames(requirePipe(frames));
    this.#readProcessOne(requirePipe(status));
    const files = buildUserFiles(housing.identity);
    sendAndClose(users, Buffer.from(files.users));
    sendAndClose(groups, Buffer.from(files.groups));
    if (filter !== null) sendAndClose(seccomp, filter);
  }

  /** Output of bwrap itself, usually the reason why it could not start. */
  get stderrText(): string {
    return this.#stderr.toText().trim();
  }

  send(request: KernelRequest): void {
    this.#requests.write(encodeRequest(request));
  }

  /** Calls `listener` for each frame, and with `null` after the last one. Replaces the previous listener. */
  onFrame(listener: ((frame: Frame | null) => void) | null): void {
    this.#listener = listener;
    const waiting = this.#pendingFrames;
    this.#pendingFrames = [];
    for (const frame of waiting) this.#deliver(frame);
    if (this.#ended) this.#deliver(null);
  }

  /** Kills every process of the sandbox and waits until they have ended. */
  async kill(): Promise<void> {
    this.#killRequested = true;
    this.#killProcessOne();
    const patience = new AbortController();
    const rest = this.#clock.sleep(KILL_TIMEOUT_MS, patience.signal, { background: true }).then(
      () => this.#killBubblewrap(),
      // It ended in time, so the wait was aborted.
      () => {},
    );
    await this.exited;
    patience.abort();
    await rest;
  }

  /**
   * Kills the sandbox's process 1, which ends everything inside; bwrap then exits on its own. Killing
   * bwrap while it still sets up the sandbox would leave process 1 waiting for it forever. If process 1
   * is not known yet, it is killed as soon as bwrap reports it.
   */
  #killProcessOne(): void {
    const running = this.#process.exitCode === null && this.#process.signalCode === null;
    if (this.#processOne !== null && running) killQuietly(this.#processOne);
  }

  /** Kills a bwrap that neither reports its process nor exits, and its children. */
  #killBubblewrap(): void {
    const { pid } = this.#process;
    if (pid !== undefined) for (const child of listChildren(pid)) killQuietly(child);
    this.#process.kill("SIGKILL");
  }

  #waitForExit(): Promise<void> {
    return new Promise((resolve) => {
      const onExit = (): void => {
        this.#ended = true;
        this.#deliver(null);
        resolve();
      };
      this.#process.once("close", onExit);
      this.#process.once("error", (problem) => {
        this.#stderr.write(Buffer.from(problem.message));
        if (this.#process.pid === undefined) onExit();
      });
    });
  }

  #readFrames(frames: Readable): void {
    const reader = new FrameReader();
    frames.on("data", (chunk: Buffer) => {
      if (this.#ended) return;
      try {
        for (const frame of reader.read(chunk)) this.#deliver(frame);
      } catch {
        // The sender is not the supervisor: ignore all further bytes.
        frames.removeAllListeners("data");
        frames.resume();
        void this.kill();
      }
    });
  }

  #deliver(frame: Frame | null): void {
    if (this.#listener !== null) this.#listener(frame);
    else if (frame !== null && this.#pendingFrames.length < MAX_PENDING_FRAMES)
      this.#pendingFrames.push(frame);
  }

  #readProcessOne(status: Readable): void {
    let text = "";
    status.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      const found = /"child-pid": *(\d+)/.exec(text);
      if (found?.[1] === undefined) return;
      this.#processOne = Number(found[1]);
      if (this.#killRequested) this.#killProcessOne();
    });
  }
}

const KILL_TIMEOUT_MS = 1_000;
/** Between runs everything inside is stopped. Only forged frames could arrive, and a few do no harm. */
const MAX_PENDING_FRAMES = 16;

function buildCommandLine(housing: ChildSettings, errand: ChildTask): readonly string[] {
  const { identity, limits, root, seccomp } = housing;
  const descriptors = { status: 3, users: 4, groups: 5, seccomp: seccomp === null ? null : 6 };
  const settings = JSON.stringify({
    ...errand,
    uid: identity.kind === "own user" ? identity.uid : null,
    memory: limits.memoryBytes,
    disk: limits.diskBytes,
    processes: limits.maxProcesses + SUPERVISOR_PROCESSES,
  });
  const flags = errand.mode === "python" ? ["-I", "-B"] : ["-I", "-B", "-S"];
  const program = [housing.python, ...flags, "-c", SANDBOX_PROGRAM, settings];
  return [...buildArguments({ root, identity, limits, descriptors }), "--", ...program];
}

function listChildren(pid: number): readonly number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
    return children.trim().split(" ").filter(Boolean).map(Number);
  } catch {
    // It has just exited, along with its children.
    return [];
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has just exited.
  }
}

function sendAndClose(stream: unknown, bytes: Buffer): void {
  const writer = requirePipe(stream);
  // Bwrap may fail before it reads this; its stderr then explains why.
  writer.on("error", () => {});
  writer.end(bytes);
}

function requirePipe(stream: unknown): Duplex {
  if (stream instanceof Duplex) return stream;
  throw new Error("A pipe of bwrap is missing.");
}
