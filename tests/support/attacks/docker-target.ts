import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dockerSandbox } from "../../../src/local/sandbox/docker/docker-sandbox.ts";
import type { SandboxProbe } from "../../../src/local/sandbox/sandbox.ts";
import { type TargetSandbox, USERS } from "./bubblewrap-target.ts";
import { openAsUser } from "./open-as-user.ts";

/** A container engine under attack, used by one user. */
export interface TargetEngine {
  readonly engine: "docker" | "podman";
  readonly as: "root" | "user";
  /** Path of the client, or its name. */
  readonly program: string;
  readonly sandbox: TargetSandbox;
}

/**
 * Lists the engines that work here, for each user that can use them, and prints why the others do not.
 * `scripts/with-engines.sh` provides both.
 */
export async function listEngines(): Promise<readonly TargetEngine[]> {
  const found: TargetEngine[] = [];
  for (const engine of ["podman", "docker"] as const) {
    const program = process.env[`WINK_${engine.toUpperCase()}`] ?? engine;
    for (const as of USERS) {
      const target = createTarget(engine, program, as);
      const { usable, reason } = await probeAs(target);
      if (usable) found.push(target);
      else process.stdout.write(`Not tested: ${engine} as ${as}: ${reason}\n`);
    }
  }
  return found;
}

/** Runs a command of the engine's client as the user that runs the tests, and returns its output. */
export function runClient({ program }: TargetEngine, ...args: readonly string[]): string {
  return execFileSync(program, [...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

function createTarget(
  engine: "docker" | "podman",
  program: string,
  as: "root" | "user",
): TargetEngine {
  const options = { engine, program, graceMs: 600, image: process.env["WINK_SANDBOX_IMAGE"] };
  const sandbox: TargetSandbox = {
    module: "local/sandbox/docker/docker-sandbox.ts",
    name: "dockerSandbox",
    options,
    create: () => dockerSandbox(options),
  };
  return { engine, program, as, sandbox };
}

/** Another user cannot report a probe, so a container is opened and used. */
async function probeAs({ as, sandbox }: TargetEngine): Promise<SandboxProbe> {
  const probe = await sandbox.create().probe();
  if (!probe.usable || as === "root" || process.getuid?.() !== 0) return probe;
  const root = mkdtempSync(join(tmpdir(), "wink-engine-"));
  try {
    await using container = await openAsUser(sandbox, { root, memoryBytes: 256 * 1024 ** 2 });
    const { error } = await container.python("1", { timeoutMs: 5_000, maxOutputBytes: 1_000 });
    return { usable: error === null, reason: error ?? "a trial run succeeded" };
  } catch (error) {
    return { usable: false, reason: String(error) };
  } finally {
    rmSync(root, { recursive: true });
  }
}
