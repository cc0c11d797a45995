import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { extname } from "node:path";
import { InvalidOptionError } from "../../base/errors.ts";
import type { Stoppable } from "../end-on-signal.ts";
import { ECHO } from "../load-model.ts";
import type { OpenedProvider } from "../open-provider.ts";
import { ProgressLine, type Terminal } from "../progress-line.ts";
import { RequestPrinter } from "../request-printer.ts";
import { toFlagError } from "../to-flag-error.ts";
import { NODE_FILES } from "./is-agent-file.ts";
import type { ProgramRunOptions } from "./run-options.ts";
import { type StartedProvider, startProvider } from "./start-provider.ts";

/** The part of `process` that receives signals. Tests pass their own. */
export type SignalSource = Pick<Stoppable, "on" | "off">;

/**
 * Runs a program on a local provider that only the program can use, and closes the provider after it. Returns the
 * program's exit code, or 128 plus the number of the signal that ended it.
 */
export async function runProgram(
  options: ProgramRunOptions,
  host: SignalSource = process,
): Promise<number> {
  const command = createCommandLine(options);
  const progress = new ProgressLine(options.json ? SILENT : (options.terminal ?? process.stderr));
  progress.show("Starting the local provider …");
  try {
    const printer = new RequestPrinter(process.stderr, { json: options.json });
    const isLogged = options.json || options.requests;
    const onRequest = isLogged ? printer.print.bind(printer) : undefined;
    await using started = await startProvider(options.provider, onRequest);
    progress.clear();
    if (options.json) await printServer(started);
    else showEcho(started.opened, options.terminal ?? process.stderr);
    return await waitForProgram(command, { ...process.env, ...started.variables }, host);
  } catch (error) {
    throw toFlagError(error);
  } finally {
    progress.clear();
  }
}

const SILENT: Terminal = { write: () => {} };

interface CommandLine {
  readonly file: string;
  readonly args: readonly string[];
}

/** Node.js runs its own files; any other program runs as it is. */
function createCommandLine({ program, args }: ProgramRunOptions): CommandLine {
  if (!NODE_FILES.includes(extname(program))) return { file: program, args };
  if (!existsSync(program)) throw createMissingError(program, "must be an existing file");
  return { file: process.execPath, args: [program, ...args] };
}

function createMissingError(program: string, rule: string, cause?: Error): InvalidOptionError {
  const remedy = "pass the path of your program, such as agent.mts, or a command";
  return new InvalidOptionError({ field: "program", value: program, rule, remedy, cause });
}

async function printServer({ url, opened }: StartedProvider): Promise<void> {
  const { name: sandbox } = await opened.findSandbox();
  process.stderr.write(`${JSON.stringify({ url, sandbox, model: opened.modelName })}\n`);
}

/** A person who sees an echo should know why. */
function showEcho({ modelName }: OpenedProvider, terminal: Terminal): void {
  if (modelName !== ECHO || !terminal.isTTY) return;
  terminal.write("An echo answers instead of a model. Use --model or --upstream for another.\n");
}

/** Resolves with the exit code. Signals are passed on, so that the program decides how it ends. */
async function waitForProgram(
  { file, args }: CommandLine,
  env: NodeJS.ProcessEnv,
  host: SignalSource,
): Promise<number> {
  const child = spawn(file, args, { env, stdio: "inherit" });
  const forwarding = SIGNALS.map((signal) => ({ signal, pass: () => passOn(signal, child) }));
  for (const { signal, pass } of forwarding) host.on(signal, pass);
  try {
    return await new Promise((resolve, reject) => {
      child.once("error", (cause) =>
        reject(createMissingError(file, "must be a program that starts", cause)),
      );
      child.once("exit", (code, signal) => resolve(code ?? 128 + toNumber(signal)));
    });
  } finally {
    for (const { signal, pass } of forwarding) host.off(signal, pass);
  }
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A terminal sends Ctrl-C to the program as well. */
function passOn(signal: NodeJS.Signals, child: ChildProcess): void {
  if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
}

function toNumber(signal: NodeJS.Signals | null): number {
  return signal === null ? 0 : constants.signals[signal];
}
