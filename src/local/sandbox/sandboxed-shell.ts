import { chooseSandbox, type SandboxChoice } from "./choose-sandbox.ts";
import type { SandboxProcess } from "./sandbox.ts";

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_OUTPUT_BYTES = 1_000_000;
const DEFAULT_MEMORY_BYTES = 1024 * 1024 * 1024;

/** Where the commands of `sandboxedShell` run. */
export interface SandboxedShellOptions {
  /** @default "auto" */
  readonly sandbox?: SandboxChoice | undefined;
  /** The folder that commands see as `/mnt/data`, and the only one they may write to for good. */
  readonly root: string;
  /** @default 1 GiB */
  readonly memoryBytes?: number | undefined;
}

/** How long and how loud commands may be. */
export interface SandboxedShellLimits {
  /** Of each command; `null` for a minute. */
  readonly timeoutMs: number | null;
  /** Of stdout and of stderr of each command, in characters; `null` for a million. */
  readonly maxOutputLength: number | null;
  readonly signal: AbortSignal;
}

/** What one command gave. */
export interface SandboxedShellOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly outcome:
    | { readonly type: "exit"; readonly exitCode: number }
    | { readonly type: "timeout" };
}

/** Runs commands in a sandbox: what `shellTool` takes as its executor. */
export interface SandboxedShell extends AsyncDisposable {
  run(
    commands: readonly string[],
    limits: SandboxedShellLimits,
  ): Promise<readonly SandboxedShellOutput[]>;
}

/** An executor for shell commands that run on this machine, and reach one folder of it. Dispose of it when done. */
export function sandboxedShell({
  sandbox = "auto",
  root,
  memoryBytes = DEFAULT_MEMORY_BYTES,
}: SandboxedShellOptions): SandboxedShell {
  let opened: Promise<SandboxProcess> | undefined;
  let over = new AbortController();
  const open = async ({ signal }: AbortController) =>
    (await chooseSandbox(sandbox)).sandbox.open({ root, memoryBytes, signal });
  return {
    async run(commands, limits) {
      limits.signal.throwIfAborted();
      // A start that failed is forgotten, so that the next run tries again.
      opened ??= open(over).catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      const process = await opened;
      const outputs: SandboxedShellOutput[] = [];
      for (const command of commands) outputs.push(await runOne(process, command, limits));
      return outputs;
    },
    async [Symbol.asyncDispose]() {
      const opening = opened;
      opened = undefined;
      over.abort(new Error("The shell was disposed of."));
      over = new AbortController();
      const process = await opening?.catch(() => undefined); // it never started
      await process?.[Symbol.asyncDispose]();
    },
  };
}

async function runOne(
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
