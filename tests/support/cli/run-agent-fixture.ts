import { EventEmitter } from "node:events";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { vi } from "vitest";
import { runAgent } from "../../../src/cli/run/run-agent.ts";
import type { AgentRunOptions } from "../../../src/cli/run/run-options.ts";
import { type ModelScript, scriptedModel } from "../../../src/local/models/scripted-model.ts";
import { LocalProvider } from "../../../src/local/provider.ts";

/** The path of an agent in `tests/support/cli/agents`. */
export function findAgent(name: string): string {
  return join(import.meta.dirname, "agents", `${name}.ts`);
}

/** Removes the providers from the environment. Unstub the environment after the test. */
export function clearProviders(): void {
  for (const name of ["OPENAI", "ANTHROPIC"]) {
    vi.stubEnv(`${name}_API_KEY`, undefined);
    vi.stubEnv(`${name}_BASE_URL`, undefined);
  }
}

/** The turns of a model that bakes loaves and answers. */
export const bakeLoaves = (count: number) => [
  [{ call: { name: "bake", args: { count } } }],
  [{ say: "Baked." }],
];

/** Starts a provider and sets the environment to it. Unstub the environment after the test. */
export async function stubProvider(script: ModelScript): Promise<AsyncDisposable> {
  const provider = new LocalProvider({ model: scriptedModel(script), apiKey: "test-key" });
  const { url } = await provider.listen();
  vi.stubEnv("OPENAI_BASE_URL", url);
  vi.stubEnv("OPENAI_API_KEY", "test-key");
  return provider;
}

/** How a test runs an agent. */
export interface AgentTest extends Partial<AgentRunOptions> {
  /** The text on standard input; `null` for a terminal. @default "" */
  readonly stdin?: string | null;
  /** Whether standard output and standard error are terminals. @default false */
  readonly isTTY?: boolean;
  /** Called with everything on standard error so far, and with the host. */
  readonly onError?: (text: string, host: TestHost) => void;
}

/** The process of a run, as a test controls it. */
export interface TestHost {
  /** Sends a signal. */
  kill(signal: NodeJS.Signals): void;
  /** Types on standard input. */
  type(text: string): void;
  /** Ends standard input, as Ctrl-D does. */
  end(): void;
}

/** Runs an agent in this process. Returns its exit code, its output and the pages that it opened. */
export async function runTestAgent(name: string, test: AgentTest = {}) {
  const { stdin = "", isTTY = false, onError, ...options } = test;
  const input = Object.assign(new PassThrough(), { isTTY: stdin === null });
  if (stdin !== null) input.end(stdin);
  const pages: string[] = [];
  let [out, err] = ["", ""];
  const events = new EventEmitter();
  const control: TestHost = {
    // `main.ts` reports a closed pipe like this.
    kill: (signal) => events.emit(signal === "SIGPIPE" ? "SIGHUP" : signal, signal),
    type: (text) => input.write(text),
    end: () => input.end(),
  };
  const host = Object.assign(events, {
    exit: (code: number) => {
      throw new Error(`exit ${code}`);
    },
    env: process.env,
    stdin: input,
    stdout: { isTTY, writableLength: 0, write: (text: string) => (out += text) },
    stderr: {
      isTTY,
      writableLength: 0,
      write: (text: string) => {
        err += text;
        onError?.(err, control);
      },
    },
  });
  const code = await runAgent({ ...DEFAULTS, file: findAgent(name), ...options }, host, (url) =>
    pages.push(url),
  );
  return { code, out, err, pages, listeners: events.eventNames() };
}

const DEFAULTS: Omit<AgentRunOptions, "file"> = {
  params: [],
  provider: { sandbox: "auto", model: {} },
  isLocal: false,
  requests: false,
  approvals: {},
  inspect: false,
  port: 0,
  open: true,
  json: false,
  debug: false,
};
