import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { Duplex, type Readable, type Writable } from "node:stream";
import type { Clock } from "../../../base/clock.ts";
import { encodeRequest, type Frame, FrameReader, type KernelRequest } from "../kernel/frames.ts";
import { SANDBOX_PROGRAM } from "../kernel/program.ts";
import { type ContainerLimits, SUPERVISING_PROCESSES } from "../limits.ts";
import { BoundedOutput } from "../output.ts";
import { bubblewrapArguments, userFiles } from "./arguments.ts";
import type { Identity } from "./identity.ts";

/** Where the programs are, and what is the same for all sandboxes of a container. */
export interface Housing {
  readonly bubblewrap: string;
  readonly python: string;
  readonly root: string;
  readonly identity: Identity;
  readonly limits: ContainerLimits;
  /** The filter of system calls, where there is one for the machine. */
  readonly seccomp: Buffer | null;
  readonly clock: Clock;
}

/** What one sandbox is started for. */
export interface Errand {
  readonly mode: "python" | "shell";
  /** The folder was above its limit before: this run may tidy up. */
  readonly full: boolean;
  readonly cpuSeconds: number | null;
}

/** One bwrap and all that runs in it. What it says is passed on as frames, unbelieved. */
export class BubblewrapChild {
  /** Settles when nothing of it runs any more. */
  readonly exited: Promise<void>;
  readonly #process: ChildProcess;
  readonly #requests: Writable;
  readonly #complaints = new BoundedOutput(4_096);
  readonly #clock: Clock;
  #listener: ((frame: Frame | null) => void) | null = null;
  #waiting: Frame[] = [];
  #firstProcess: number | null = null;
  #unwanted = false;
  #over = false;

  constructor(housing: Housing, errand: Errand) {
    this.#clock = housing.clock;
    const { seccomp: filter } = housing;
    this.#process = spawn(housing.bubblewrap, [...commandLine(housing, errand)], {
      cwd: "/",
      // Where bwrap itself is looked for; inside, nothing of it is left.
      env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
      stdio: Array.from({ length: filter === null ? 6 : 7 }, () => "pipe" as const),
    });
    const pipes: readonly unknown[] = this.#process.stdio;
    const [requests, frames, complaints, status, users, groups, seccomp] = pipes;
    this.#requests = pipe(requests);
    this.#requests.on("error", () => {});
    this.exited = this.#untilExit();
    pipe(complaints).on("data", (chunk: Buffer) => this.#complaints.write(chunk));
    this.#listen(pipe(frames));
    this.#learnFirstProcess(pipe(status));
    const files = userFiles(housing.identity);
    hand(users, Buffer.from(files.users));
    hand(groups, Buffer.from(files.groups));
    if (filter !== null) hand(seccomp, filter);
  }

  /** What bwrap itself had to say, mostly why it could not start. */
  get complaint(): string {
    return this.#complaints.text().trim();
  }

  send(request: KernelRequest): void {
    this.#requests.write(encodeRequest(request));
  }

  /** Calls with each frame, and with `null` once no more can come. One listener at a time. */
  onFrame(listener: ((frame: Frame | null) => void) | null): void {
    this.#listener = listener;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const frame of waiting) this.#pass(frame);
    if (this.#over) this.#pass(null);
  }

  /** Ends all of it at once; resolves when it has ended. */
  async kill(): Promise<void> {
    this.#unwanted = true;
    this.#killFirst();
    const patience = new AbortController();
    const rest = this.#clock.sleep(KILL_PATIENCE_MS, patience.signal, { background: true }).then(
      () => this.#killOutside(),
      // It ended in time, and the wait was called off.
      () => {},
    );
    await this.exited;
    patience.abort();
    await rest;
  }

  /**
   * The sandbox's process 1 takes everything inside with it, and bwrap then ends by itself when all is
   * gone. Killing bwrap instead, while it still sets the sandbox up, would leave that process waiting
   * for it for ever; so who is not known yet is killed as soon as it is.
   */
  #killFirst(): void {
    const running = this.#process.exitCode === null && this.#process.signalCode === null;
    if (this.#firstProcess !== null && running) killQuietly(this.#firstProcess);
  }

  /** For a bwrap that neither names its process nor ends. */
  #killOutside(): void {
    const { pid } = this.#process;
    if (pid !== undefined) for (const child of childrenOf(pid)) killQuietly(child);
    this.#process.kill("SIGKILL");
  }

  #untilExit(): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        this.#over = true;
        this.#pass(null);
        resolve();
      };
      this.#process.once("close", end);
      this.#process.once("error", (problem) => {
        this.#complaints.write(Buffer.from(problem.message));
        if (this.#process.pid === undefined) end();
      });
    });
  }

  #listen(frames: Readable): void {
    const reader = new FrameReader();
    frames.on("data", (chunk: Buffer) => {
      if (this.#over) return;
      try {
        for (const frame of reader.read(chunk)) this.#pass(frame);
      } catch {
        // Whoever speaks there is not our supervisor: nothing more of it is heard.
        frames.removeAllListeners("data");
        frames.resume();
        void this.kill();
      }
    });
  }

  #pass(frame: Frame | null): void {
    if (this.#listener !== null) this.#listener(frame);
    else if (frame !== null && this.#waiting.length < MOST_WAITING) this.#waiting.push(frame);
  }

  #learnFirstProcess(status: Readable): void {
    let text = "";
    status.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      const found = /"child-pid": *(\d+)/.exec(text);
      if (found?.[1] === undefined) return;
      this.#firstProcess = Number(found[1]);
      if (this.#unwanted) this.#killFirst();
    });
  }
}

const KILL_PATIENCE_MS = 1_000;
/** Between runs everything inside is stopped; only a forged frame could come, and a few do no harm. */
const MOST_WAITING = 16;

function commandLine(housing: Housing, errand: Errand): readonly string[] {
  const { identity, limits, root, seccomp } = housing;
  const descriptors = { status: 3, users: 4, groups: 5, seccomp: seccomp === null ? null : 6 };
  const settings = JSON.stringify({
    ...errand,
    uid: identity.kind === "own user" ? identity.uid : null,
    memory: limits.memoryBytes,
    disk: limits.diskBytes,
    processes: limits.maxProcesses + SUPERVISING_PROCESSES,
  });
  const flags = errand.mode === "python" ? ["-I", "-B"] : ["-I", "-B", "-S"];
  const program = [housing.python, ...flags, "-c", SANDBOX_PROGRAM, settings];
  return [...bubblewrapArguments({ root, identity, limits, descriptors }), "--", ...program];
}

function childrenOf(pid: number): readonly number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
    return children.trim().split(" ").filter(Boolean).map(Number);
  } catch {
    // It has just ended, and its children with it.
    return [];
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has just ended.
  }
}

function hand(stream: unknown, bytes: Buffer): void {
  const end = pipe(stream);
  // Bwrap may have failed before it read this; its complaint says why.
  end.on("error", () => {});
  end.end(bytes);
}

function pipe(stream: unknown): Duplex {
  if (stream instanceof Duplex) return stream;
  throw new Error("a pipe of bwrap is missing");
}
