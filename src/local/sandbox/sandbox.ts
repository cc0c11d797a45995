/** Runs code written by a model. Each implementation documents its isolation, and its tests prove it. */
export interface Sandbox {
  /** Identifies the sandbox in options and messages, such as `"bubblewrap"`. */
  readonly name: string;
  /** One sentence for people that describes the isolation and its gaps. */
  readonly isolation: string;
  /** Runs a trial and reports whether the sandbox works on this host, and how its limits hold. */
  probe(): Promise<SandboxProbe>;
  /** Opens a process for one container. Containers share nothing with each other. */
  open(options: SandboxOptions): Promise<SandboxProcess>;
}

/** A sandbox's report about this host. */
export interface SandboxProbe {
  /** Whether a trial run succeeded. */
  readonly usable: boolean;
  /** The result of the trial; after a failure its cause and the remedy. */
  readonly reason: string;
  /** How the limits hold on this host. @default every limit is watched */
  readonly limits?: LimitReport | undefined;
}

/**
 * How a limit holds. `"enforced"`: the operating system refuses what is beyond it. `"watched"`: usage is
 * measured many times a second and everything is killed when it exceeds the limit, so a burst can
 * briefly use more.
 */
export type LimitGrade = "enforced" | "watched";

/** How the limits of a container hold. Time and output are enforced in every sandbox. */
export interface LimitReport {
  /** How the memory limit holds. */
  readonly memory: LimitGrade;
  /** How the limit on processes and threads holds. */
  readonly processes: LimitGrade;
  /** How the limit on files in `/mnt/data` holds. */
  readonly disk: LimitGrade;
  /** The mechanism that holds the limits, in words for people, such as `"cgroup v2"`. */
  readonly means: string;
}

/** Resources that one container's process may use. */
export interface SandboxOptions {
  /** Folder on the host that code sees as `/mnt/data`. It is the only place where writes persist. */
  readonly root: string;
  /** Memory limit in bytes. */
  readonly memoryBytes: number;
  /** Limit in bytes for everything below `root`, and for any single file. @default 1 GiB */
  readonly diskBytes?: number | undefined;
  /** Maximum number of processes and threads at the same time. @default 64 */
  readonly maxProcesses?: number | undefined;
  /**
   * `"enforced"`: `open` rejects unless the operating system enforces the limits on memory, processes and
   * disk. @default "watched"
   */
  readonly require?: LimitGrade | undefined;
  /**
   * Cancels the opening: `open` rejects with the signal's reason once no part of the process is left.
   * Has no effect on a process that is already open.
   */
  readonly signal?: AbortSignal | undefined;
}

/** A running sandbox. Python keeps its state between calls, and shell commands see the same files. */
export interface SandboxProcess extends AsyncDisposable {
  /** Runs statements in the container's single interpreter. Failures of the code are returned, never thrown. */
  python(code: string, limits: RunLimits): Promise<PythonRun>;
  /** Runs one command in a new shell, in `/mnt/data`. Failures of the command are returned, never thrown. */
  shell(command: string, limits: RunLimits): Promise<ShellRun>;
}

/** Limits on the time and output of one run. */
export interface RunLimits {
  /** Time limit in milliseconds. */
  readonly timeoutMs: number;
  /** Limit in bytes for stdout and stderr, each. Output beyond it is dropped and sets `truncated`. */
  readonly maxOutputBytes: number;
  /** Stops the run when it aborts; the run then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** The result of running Python code. */
export interface PythonRun {
  /** Standard output, up to `maxOutputBytes`. */
  readonly stdout: string;
  /** Standard error, up to `maxOutputBytes`. */
  readonly stderr: string;
  /** Standard output and standard error in the order of printing. @default stdout, then stderr */
  readonly output?: string | undefined;
  /** Traceback of the exception that the code raised, or `null`. */
  readonly error: string | null;
  /** Figures that were shown or left open, and values that are images. */
  readonly images: readonly SandboxImage[];
  /** Whether the run exceeded `timeoutMs`. */
  readonly timedOut: boolean;
  /** Whether stdout or stderr exceeded `maxOutputBytes`. */
  readonly truncated: boolean;
  /** Whether the interpreter died and lost its variables. The next run starts a new one. */
  readonly died: boolean;
}

/** An image created by code. */
export interface SandboxImage {
  /** Always `"image/png"`. */
  readonly mediaType: string;
  /** The image's bytes, base64-encoded. */
  readonly base64: string;
}

/** The result of running one shell command. */
export interface ShellRun {
  /** Standard output, up to `maxOutputBytes`. */
  readonly stdout: string;
  /** Standard error, up to `maxOutputBytes`. */
  readonly stderr: string;
  /** `null` if the command timed out. */
  readonly exitCode: number | null;
  /** Whether the command exceeded `timeoutMs`. */
  readonly timedOut: boolean;
  /** Whether stdout or stderr exceeded `maxOutputBytes`. */
  readonly truncated: boolean;
}
