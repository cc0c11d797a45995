import { execFile } from "node:child_process";
import { getErrorMessage } from "../../../base/errors.ts";

/** Names of the supported container engines. */
export type EngineName = "docker" | "podman";

/** The command-line client of a container engine. */
export interface EngineClient {
  readonly engine: EngineName;
  /** Path of the client, or its name in `PATH`. */
  readonly program: string;
}

/** The client's output, or why it failed and what to do. */
export type EngineAnswer =
  | { readonly stdout: string; readonly problem: null }
  | { readonly problem: string };

/** Runs one command of a container engine's client. Never throws: failures are explained in `problem`. */
export function callEngine(
  client: EngineClient,
  args: readonly string[],
  timeoutMs: number = ANSWER_TIMEOUT_MS,
): Promise<EngineAnswer> {
  return new Promise((resolve) => {
    const options = { timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: 2 ** 24 } as const;
    execFile(client.program, [...args], options, (error, stdout, stderr) => {
      if (error === null) resolve({ stdout, problem: null });
      else if (error.killed) resolve({ problem: explainSilence(client, timeoutMs) });
      else resolve({ problem: explainEngineProblem(client, stderr.trim() || describe(error)) });
    });
  });
}

/** Adds the remedy to a message of the client. */
export function explainEngineProblem({ engine, program }: EngineClient, message: string): string {
  const [problem = ""] = message.split("\n").filter((line) => !WARNING.test(line));
  for (const [pattern, remedies] of REMEDIES) {
    if (pattern.test(message)) return `${problem.replace(/\.$/, "")}: ${remedies[engine]}`;
  }
  return problem.startsWith(engine) ? problem : `${program}: ${problem}`;
}

const WARNING = /^(WARNING|Resource limits are not supported|time=\S+ level=warning)/;

/** Docker Desktop can take seconds to wake up its virtual machine. */
const ANSWER_TIMEOUT_MS = 20_000;

function explainSilence({ engine, program }: EngineClient, timeoutMs: number): string {
  return `${program} did not answer within ${timeoutMs / 1000} s: restart ${engine}`;
}

function describe(error: Error & { code?: unknown; path?: unknown }): string {
  if (error.code === "ENOENT") return `${String(error.path)} is not installed`;
  return `it exited without a message (${getErrorMessage(error).split("\n", 1)[0]})`;
}

const REMEDIES: readonly (readonly [RegExp, Readonly<Record<EngineName, string>>])[] = [
  [
    /is not installed$/,
    {
      docker: "install Docker Desktop, or apt-get install docker.io",
      podman: "apt-get install podman, on macOS brew install podman",
    },
  ],
  [
    /permission denied.*(socket|docker\.sock|connect)/is,
    {
      docker: "join the group docker, or use rootless Docker or Podman",
      podman: "run podman as the user who owns its socket",
    },
  ],
  [
    /cannot connect to|connection refused|no such host|error during connect|machine/i,
    {
      docker: "start Docker Desktop or the service docker, or correct DOCKER_HOST",
      podman: "run podman machine start, or correct CONTAINER_HOST",
    },
  ],
  [
    /mounts denied|file sharing|not shared from the host|statfs .*no such file/i,
    {
      docker: "share the folder in Docker Desktop under Settings, Resources, File sharing",
      podman: "share the folder with podman machine init --volume",
    },
  ],
];
