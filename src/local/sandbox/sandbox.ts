/** Where code that a model wrote runs. What it isolates from is for each to say, and to prove. */
export interface Sandbox {
  readonly name: string;
  /** What it keeps out and what it does not, in a sentence for people. */
  readonly isolation: string;
  /** Whether a trial run succeeded here, and if not, why and what to do. */
  probe(): Promise<{ readonly usable: boolean; readonly reason: string }>;
  /** A container's own process: nothing of it is shared with another. */
  open(options: SandboxOptions): Promise<SandboxProcess>;
}

/** What one container's process may use. */
export interface SandboxOptions {
  /** The host's folder that code sees as `/mnt/data`, and the only one it may write to for good. */
  readonly root: string;
  readonly memoryBytes: number;
  /** Of all that is below `root`, and of any one file. @default 1 GiB */
  readonly diskBytes?: number | undefined;
  /** How many processes and threads at once. @default 64 */
  readonly maxProcesses?: number | undefined;
  /**
   * Ends the opening when it aborts: `open` then rejects with its reason, once nothing of the
   * process is left. What is open already does not mind it.
   */
  readonly signal?: AbortSignal | undefined;
}

/** A place where Python keeps its state between calls, and commands see the same files. */
export interface SandboxProcess extends AsyncDisposable {
  /** Runs statements in the one interpreter of the container. Never rejects for what the code did. */
  python(code: string, limits: RunLimits): Promise<PythonRun>;
  /** Runs one command in a shell of its own, in `/mnt/data`. Never rejects for what it did. */
  shell(command: string, limits: RunLimits): Promise<ShellRun>;
}

/** How long and how loud one run may be. */
export interface RunLimits {
  readonly timeoutMs: number;
  /** Of stdout and of stderr, each; what is more is dropped, and `truncated` says so. */
  readonly maxOutputBytes: number;
  /** Ends the run when it aborts; the run then rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** What some Python did. */
export interface PythonRun {
  readonly stdout: string;
  readonly stderr: string;
  /** The traceback, if it raised; `null` if it did not. */
  readonly error: string | null;
  /** Figures that were shown or left open, and values that are images. */
  readonly images: readonly SandboxImage[];
  readonly timedOut: boolean;
  readonly truncated: boolean;
  /** The interpreter is gone, and what it held with it: the next run starts with a new one. */
  readonly died: boolean;
}

/** A picture that code made. */
export interface SandboxImage {
  /** `"image/png"`. */
  readonly mediaType: string;
  readonly base64: string;
}

/** What one command did. */
export interface ShellRun {
  readonly stdout: string;
  readonly stderr: string;
  /** `null` if it timed out. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  readonly truncated: boolean;
}
