import type { ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { ContainerLimits } from "../container-limits.ts";

/** Starts a sandbox whose first process is the supervisor, `SANDBOX_PROGRAM` in Python. */
export interface Launcher {
  /**
   * Starts the supervisor with `settings`, encoded as JSON, as its only argument. Never throws: a start
   * that fails shows in the process.
   */
  launch(settings: SupervisorSettings): Launched;
}

/** Settings that the supervisor receives when it starts. */
export interface SupervisorSettings {
  /** Memory limit in bytes. */
  readonly memory: number;
  /** Limit in bytes for `/mnt/data`. */
  readonly disk: number;
  /** Maximum number of processes and threads, including the supervisor's own. */
  readonly processes: number;
  /** The folder was above its limit before. Runs may delete files, but not add any. */
  readonly full: boolean;
  /** The user to change to, for a launcher that starts the supervisor as root; `null` if it needs no change. */
  readonly uid: number | null;
  /** Limits that the operating system enforces. */
  readonly enforced: EnforcedLimits;
}

/** Which limits the operating system enforces for a container. The supervisor watches the others. */
export interface EnforcedLimits {
  readonly memory: boolean;
  readonly processes: boolean;
  readonly disk: boolean;
}

/** A sandbox that is starting or running. */
export interface Launched {
  /** The process on the host. When it closes, nothing inside is left. */
  readonly process: ChildProcess;
  /** Standard input of the supervisor. */
  readonly requests: Writable;
  /** Standard output of the supervisor. */
  readonly frames: Readable;
  /** Standard error: why the sandbox did not start. */
  readonly complaints: Readable;
  /** Ends everything inside. Returns at once. */
  kill(): void;
  /** Called if `kill` had no effect after a second. */
  killForcibly(): void;
}

/** A container's sandbox: how it starts, and its limits. */
export interface SupervisedSettings {
  readonly launcher: Launcher;
  /** The container's folder on the host. */
  readonly root: string;
  readonly limits: ContainerLimits;
  readonly enforced: EnforcedLimits;
  /** The user that runs the code and must own all files, if it is not the user of this process. */
  readonly owner: number | null;
}
