import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Readable } from "node:stream";
import type { ResourceGroup } from "../cgroups/resource-control.ts";
import type { ContainerLimits } from "../container-limits.ts";
import type { Launched, Launcher, SupervisorSettings } from "../supervised/launcher.ts";
import { requirePipe } from "../supervised/require-pipe.ts";
import { buildArguments, buildUserFiles } from "./build-arguments.ts";
import type { Identity } from "./choose-identity.ts";

/** Settings with which bwrap starts a container's sandbox. */
export interface BubblewrapSettings {
  readonly bubblewrap: string;
  readonly python: string;
  /** The supervisor's program, see `compileSandboxProgram`. */
  readonly program: string;
  readonly root: string;
  readonly identity: Identity;
  readonly limits: ContainerLimits;
  /** The seccomp filter, or `null` if there is none for this architecture. */
  readonly seccomp: Buffer | null;
  /** The group that every process of the container enters; `null` if the host has none. */
  readonly group: ResourceGroup | null;
}

/** Starts the sandboxes of one container with bwrap. */
export function bubblewrapLauncher(settings: BubblewrapSettings): Launcher {
  return {
    launch(supervisor) {
      const { bubblewrap, group, identity, seccomp: filter } = settings;
      const plain = [bubblewrap, ...buildCommandLine(settings, supervisor)];
      const { command, environment } = group?.wrap(plain) ?? { command: plain, environment: {} };
      const [program = "", ...rest] = command;
      const child = spawn(program, rest, {
        cwd: "/",
        // Only for finding bwrap itself; the code inside does not inherit it.
        env: { PATH: "/usr/local/bin:/usr/bin:/bin", ...environment },
        stdio: Array.from({ length: filter === null ? 6 : 7 }, () => "pipe" as const),
      });
      const pipes: readonly unknown[] = child.stdio;
      const [requests, frames, complaints, status, users, groups, seccomp] = pipes;
      const files = buildUserFiles(identity);
      sendAndClose(users, Buffer.from(files.users));
      sendAndClose(groups, Buffer.from(files.groups));
      if (filter !== null) sendAndClose(seccomp, filter);
      return new LaunchedBubblewrap(child, requirePipe(status), group, {
        requests: requirePipe(requests),
        frames: requirePipe(frames),
        complaints: requirePipe(complaints),
      });
    },
  };
}

class LaunchedBubblewrap implements Launched {
  readonly process: ChildProcess;
  readonly requests: Launched["requests"];
  readonly frames: Readable;
  readonly complaints: Readable;
  readonly #group: ResourceGroup | null;
  #processOne: number | null = null;
  #killRequested = false;

  constructor(
    child: ChildProcess,
    status: Readable,
    group: ResourceGroup | null,
    pipes: Pick<Launched, "requests" | "frames" | "complaints">,
  ) {
    this.process = child;
    this.requests = pipes.requests;
    this.frames = pipes.frames;
    this.complaints = pipes.complaints;
    this.#group = group;
    this.#readProcessOne(status);
  }

  /**
   * Kills the sandbox's process 1, which ends everything inside; bwrap then exits on its own. Killing
   * bwrap while it still sets up the sandbox would leave process 1 waiting for it forever. If process 1
   * is not known yet, it is killed as soon as bwrap reports it.
   */
  kill(): void {
    this.#killRequested = true;
    const running = this.process.exitCode === null && this.process.signalCode === null;
    if (this.#processOne !== null && running) killQuietly(this.#processOne);
  }

  /** Kills a bwrap that neither reports its process nor exits, and its children. */
  killForcibly(): void {
    const { pid } = this.process;
    if (pid !== undefined) for (const child of listChildren(pid)) killQuietly(child);
    this.process.kill("SIGKILL");
  }

  #readProcessOne(status: Readable): void {
    let text = "";
    status.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      const found = /"child-pid": *(\d+)/.exec(text);
      if (found?.[1] === undefined) return;
      if (this.#processOne === null) this.#group?.onStart(this.process.pid ?? 0);
      this.#processOne = Number(found[1]);
      if (this.#killRequested) this.kill();
    });
  }
}

function buildCommandLine(
  { identity, limits, program, python, root, seccomp }: BubblewrapSettings,
  supervisor: SupervisorSettings,
): readonly string[] {
  const descriptors = { status: 3, users: 4, groups: 5, seccomp: seccomp === null ? null : 6 };
  const command = [python, "-I", "-B", "-c", program, JSON.stringify(supervisor)];
  return [...buildArguments({ root, identity, limits, descriptors }), "--", ...command];
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
