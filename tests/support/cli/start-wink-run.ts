import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";

/** A process of `wink run`. */
export interface WinkRun {
  readonly child: ChildProcess;
  /** Everything on standard output and standard error so far. */
  readonly output: { out: string; err: string };
  /** Resolves when the process has ended. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** How a process of `wink run` is started. */
export interface WinkRunStart {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The text on standard input. @default an open pipe that sends nothing */
  readonly stdin?: string;
}

/** Starts `wink run` on the sources. It is killed when the test ends. */
export function startWinkRun(args: readonly string[], { env, stdin }: WinkRunStart = {}): WinkRun {
  const resolver = new URL("resolve-sources.mjs", import.meta.url).href;
  const command = ["--import", resolver, "src/cli/main.ts", "run", ...args];
  const child = spawn(process.execPath, command, {
    env: { ...process.env, ...NO_PROVIDER, NO_COLOR: "1", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const output = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output.out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output.err += text;
  });
  child.stdin.on("error", () => {}); // a process that does not read it may have ended
  if (stdin !== undefined) child.stdin.end(stdin);
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal }));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return { child, output, ended };
}

const NO_PROVIDER = {
  OPENAI_API_KEY: undefined,
  OPENAI_BASE_URL: undefined,
  ANTHROPIC_API_KEY: undefined,
  ANTHROPIC_BASE_URL: undefined,
  FORCE_COLOR: undefined,
};
