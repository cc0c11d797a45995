import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { extname } from "node:path";
import { InvalidOptionError } from "../base/errors.ts";
import type { Stoppable } from "./end-on-signal.ts";
import { ECHO } from "./load-model.ts";
import { type OpenedProvider, openProvider, type ProviderChoice } from "./open-provider.ts";
import { ProgressLine, type Terminal } from "./progress-line.ts";
import { RequestPrinter } from "./request-printer.ts";
import { toFlagError } from "./to-flag-error.ts";

/** Options of `wink run`. */
export interface RunOptions {
  /** A file for Node.js, or any other command. */
  readonly program: string;
  readonly args: readonly string[];
  readonly provider: ProviderChoice;
  /** Whether to print the server and its requests as JSON on standard error. */
  readonly json: boolean;
  /** Whether to print a line per request on standard error. */
  readonly requests: boolean;
  /** Where the running model is shown if it is a terminal. @default standard error */
  readonly terminal?: Terminal | undefined;
}

/** The part of `process` that receives signals. Tests pass their own. */
export type SignalSource = Pick<Stoppable, "on" | "off">;

/**
 * Runs a program on a local provider that only the program can use, and closes the provider after it. Returns the
 * program's exit code, or 128 plus the number of the signal that ended it.
 */
export async function runProgram(
  options: RunOptions,
  host: SignalSource = process,
): Promise<number> {
  const command = createCommandLine(options);
  const progress = new ProgressLine(options.json ? SILENT : (options.terminal ?? process.stderr));
  progress.show("Starting the local provider …");
  try {
    const apiKey = randomBytes(24).toString("base64url");
    const printer = new RequestPrinter(process.stderr, { json: options.json });
    const isLogged = options.json || options.requests;
    await using opened = await openProvider(options.provider, {
      apiKey,
      onRequest: isLogged ? (entry) => printer.print(entry) : undefined,
    });
    const { url } = await opened.provider.listen();
    progress.clear();
    if (options.json) await printServer(url, opened);
    else showEcho(opened, options.terminal ?? process.stderr);
    return await waitForProgram(command, createEnvironment(url, apiKey), host);
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

const NODE_FILES = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"];

/** Node.js runs its own files; any other program runs as it is. */
function createCommandLine({ program, args }: RunOptions): CommandLine {
  if (!NODE_FILES.includes(extname(program))) return { file: program, args };
  if (!existsSync(program)) throw createMissingError(program, "must be an existing file");
  return { file: process.execPath, args: [program, ...args] };
}

function createMissingError(program: string, rule: string, cause?: Error): InvalidOptionError {
  const remedy = "pass the path of your program, such as agent.mts, or a command";
  return new InvalidOptionError({ field: "program", value: program, rule, remedy, cause });
}

/** The official SDKs and this package read these variables. */
function createEnvironment(url: string, apiKey: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    OPENAI_BASE_URL: url,
    OPENAI_API_KEY: apiKey,
    ANTHROPIC_BASE_URL: url.replace(/\/v1$/, ""),
    ANTHROPIC_API_KEY: apiKey,
  };
}

async function printServer(url: string, opened: OpenedProvider): Promise<void> {
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
