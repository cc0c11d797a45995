import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { Clock } from "../../../base/clock.ts";
import { SANDBOX_PROGRAM } from "../kernel/sandbox-program.ts";
import { buildSeccompFilter } from "../seccomp/build-filter.ts";
import type { Launched, Launcher, SupervisorSettings } from "../supervised/launcher.ts";
import {
  buildRunArguments,
  type ContainerSettings,
  SUPERVISOR_BYTES,
} from "./build-run-arguments.ts";
import { callEngine, type EngineClient } from "./call-engine.ts";
import { createContainerName } from "./container-name.ts";
import { PREPARE_PROGRAM } from "./prepare-program.ts";

/** Settings with which Docker or Podman starts a container's sandbox. */
export interface DockerSettings extends ContainerSettings {
  readonly client: EngineClient;
  /** The image's processor architecture, in Node's words. */
  readonly arch: string;
  readonly clock: Clock;
  /** Milliseconds after which a container that has not started is removed. */
  readonly startTimeoutMs: number;
}

/** Starts the sandboxes of one container with Docker or Podman, and removes anything they leave behind. */
export class DockerLauncher implements Launcher, AsyncDisposable {
  readonly #settings: DockerSettings;
  readonly #removals = new Set<Promise<unknown>>();

  constructor(settings: DockerSettings) {
    this.#settings = settings;
  }

  launch(supervisor: SupervisorSettings): Launched {
    const name = createContainerName();
    const { client } = this.#settings;
    const command = buildCommand(this.#settings, supervisor);
    const run = spawn(client.program, [...buildRunArguments(this.#settings, name, command)]);
    let isRemoved = false;
    const remove = (): void => {
      if (!isRemoved) this.#remove(name, run);
      isRemoved = true;
    };
    this.#watchStart(run, remove);
    // The client removes its container before it exits, unless it was killed.
    run.once("exit", (_code, signal) => {
      if (signal !== null) remove();
    });
    return {
      process: run,
      requests: run.stdin,
      frames: run.stdout,
      complaints: run.stderr,
      // The supervisor, process 1, exits at the end of its input.
      kill: () => void run.stdin.end(),
      killForcibly: remove,
    };
  }

  /** Waits for the removal of containers that had to be removed by force. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#removals);
  }

  /** Removes the container, then ends the client, which may wait for an engine that does not answer. */
  #remove(name: string, run: ChildProcessWithoutNullStreams): void {
    const removal = callEngine(this.#settings.client, ["rm", "--force", name]).then(() => {
      run.kill("SIGKILL");
      this.#removals.delete(removal);
    });
    this.#removals.add(removal);
  }

  #watchStart(run: ChildProcessWithoutNullStreams, remove: () => void): void {
    const { client, clock, startTimeoutMs } = this.#settings;
    const started = new AbortController();
    const stop = (): void => started.abort();
    run.stdout.once("data", stop);
    run.once("close", stop);
    clock.sleep(startTimeoutMs, started.signal, { background: true }).then(
      () => {
        const seconds = startTimeoutMs / 1000;
        run.stderr.emit(
          "data",
          Buffer.from(`${client.engine} started no container within ${seconds} s\n`),
        );
        remove();
      },
      () => {}, // it started or ended in time
    );
  }
}

function buildCommand(
  { arch, limits }: DockerSettings,
  supervisor: SupervisorSettings,
): readonly string[] {
  return [
    ...["python3", "-I", "-B", "-c", `${PREPARE_PROGRAM}\n${SANDBOX_PROGRAM}`],
    // The engine starts it as the right user.
    JSON.stringify({ ...supervisor, uid: null }),
    String(limits.memoryBytes + SUPERVISOR_BYTES),
    buildSeccompFilter(arch)?.toString("base64") ?? "",
  ];
}
