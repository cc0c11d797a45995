import { checkKnownKeys, type KnownKeys } from "../../base/errors.ts";
import { chooseSandbox, type SandboxChoice } from "./choose-sandbox.ts";
import type { SandboxProcess } from "./sandbox.ts";

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_OUTPUT_BYTES = 1_000_000;
const DEFAULT_MEMORY_BYTES = 1024 * 1024 * 1024;

/** Options of {@link sandboxedShell}. */
export interface SandboxedShellOptions {
  /** Sandbox that runs the commands. @default "auto" */
  readonly sandbox?: SandboxChoice | undefined;
  /** Folder on the host that commands see as `/mnt/data`. It is the only place where writes persist. */
  readonly root: string;
  /** Memory limit in bytes. @default 1 GiB */
  readonly memoryBytes?: number | undefined;
}

const shellKeys: KnownKeys<SandboxedShellOptions> = {
  memoryBytes: true,
  root: true,
  sandbox: true,
};

/** Limits on the time and output of shell commands. */
export interface SandboxedShellLimits {
  /** Time limit in milliseconds for each command; `null` for one minute. */
  readonly timeoutMs: number | null;
  /** Limit for stdout and stderr of each command, each, counted in UTF-8 bytes; `null` for a million. */
  readonly maxOutputLength: number | null;
  /** Stops the commands when it aborts. */
  readonly signal: AbortSignal;
}

/** The output of one command. */
export interface SandboxedShellOutput {
  /** Standard output, up to the limit. */
  readonly stdout: string;
  /** Standard error, up to the limit. */
  readonly stderr: string;
  /** How the command ended. */
  readonly outcome:
    | {
        /** The command ended by itself. */
        readonly type: "exit";
        /** The exit code of the command. */
        readonly exitCode: number;
      }
    | {
        /** The command was stopped at its time limit. */
        readonly type: "timeout";
      };
}

/** Runs commands in a sandbox. Pass it to `shellTool` as the executor. */
export interface SandboxedShell extends AsyncDisposable {
  /** Runs the commands one after the other and returns one output per command. */
  run(
    commands: readonly string[],
    limits: SandboxedShellLimits,
  ): Promise<readonly SandboxedShellOutput[]>;
  /** Ends the sandbox and its processes. The next run starts another. */
  close(): Promise<void>;
}

/** Creates an executor for shell commands that run on this host, with access to a single folder. Close it when done. */
export function sandboxedShell(options: SandboxedShellOptions): SandboxedShell {
  checkKnownKeys(options, "sandboxedShell", shellKeys);
  const { sandbox = "auto", root, memoryBytes = DEFAULT_MEMORY_BYTES } = options;
  let opened: Promise<SandboxProcess> | undefined;
  let lifetime = new AbortController();
  const open = async ({ signal }: AbortController) =>
    (await chooseSandbox(sandbox)).sandbox.open({ root, memoryBytes, signal });
  return {
    async run(commands, limits) {
      limits.signal.throwIfAborted();
      // Discard a failed start so that the next run retries.
      opened ??= open(lifetime).catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      const process = await opened;
      const outputs: SandboxedShellOutput[] = [];
      for (const command of commands) outputs.push(await runShellCommand(process, command, limits));
      return outputs;
    },
    close,
    [Symbol.asyncDispose]: close,
  };

  async function close(): Promise<void> {
    const opening = opened;
    opened = undefined;
    lifetime.abort(new Error("The shell was disposed of."));
    lifetime = new AbortController();
    const process = await opening?.catch(() => undefined); // it never started
    await process?.[Symbol.asyncDispose]();
  }
}

async function runShellCommand(
  process: SandboxProcess,
  command: string,
  { timeoutMs, maxOutputLength, signal }: SandboxedShellLimits,
): Promise<SandboxedShellOutput> {
  const run = await process.shell(command, {
    timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
    maxOutputBytes: maxOutputLength ?? DEFAULT_OUTPUT_BYTES,
    signal,
  });
  const { stdout, stderr, exitCode } = run;
  if (exitCode === null) return { stdout, stderr, outcome: { type: "timeout" } };
  return { stdout, stderr, outcome: { type: "exit", exitCode } };
}
