import { spawn } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Options of {@link startAgent}. */
export interface AgentOptions {
  /** The base URL of the provider that answers with `--live`. @default none, and no key */
  readonly baseURL?: string;
}

/** An agent of `examples/agents` in its own process, with its own folder for temporary files. */
export interface RunningAgent {
  /** Writes a line to its standard input. */
  type(line: string): void;
  /** Ends its standard input. */
  endInput(): void;
  interrupt(): void;
  /** The text that it has printed so far. */
  readonly printed: string;
  readonly ended: Promise<EndedAgent>;
}

export interface EndedAgent {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The names of temporary files that it left behind. */
  readonly leftovers: readonly string[];
}

/** Starts an agent on the sources. */
export async function startAgent(
  name: string,
  args: readonly string[],
  { baseURL }: AgentOptions = {},
): Promise<RunningAgent> {
  const temporary = await mkdtemp(join(tmpdir(), "wink-agent-"));
  const { OPENAI_API_KEY: _key, OPENAI_BASE_URL: _url, ...env } = process.env;
  const child = spawn(process.execPath, ["--import", useSources, toProgram(name), ...args], {
    env: {
      ...env,
      TMPDIR: temporary,
      ...(baseURL !== undefined && { OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: "local" }),
    },
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  }).then(async (status) => {
    const leftovers = await readdir(temporary);
    await rm(temporary, { recursive: true });
    return { status, stdout, stderr, leftovers };
  });
  return {
    type: (line) => void child.stdin.write(`${line}\n`),
    endInput: () => void child.stdin.end(),
    interrupt: () => void child.kill("SIGINT"),
    get printed() {
      return stdout;
    },
    ended,
  };
}

/** Runs an agent to its end. Its standard input is `input`. */
export async function runAgent(
  name: string,
  args: readonly string[],
  { input = "", ...options }: AgentOptions & { readonly input?: string } = {},
): Promise<EndedAgent> {
  const agent = await startAgent(name, args, options);
  if (input !== "") agent.type(input);
  agent.endInput();
  return await agent.ended;
}

const useSources = new URL("use-sources.ts", import.meta.url).href;

function toProgram(name: string): string {
  return fileURLToPath(new URL(`../../../examples/agents/${name}/main.ts`, import.meta.url));
}
