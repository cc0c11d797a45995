import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { StormWorkerSettings } from "./storm-worker-main.ts";

const script = fileURLToPath(new URL("./storm-worker-main.ts", import.meta.url));

/** A worker in its own process. */
export class StormProcess {
  /** Resolves when the worker works or the process has ended. */
  readonly works: Promise<void>;
  /** Resolves when the worker has stopped or the process has ended. Node writes its cache of sources between them. */
  readonly stopped: Promise<void>;
  /** Resolves with the exit code, or the signal that ended the process. */
  readonly ended: Promise<number | string>;
  readonly #child: ChildProcess;
  #errors = "";

  /** `cache` is a folder for compiled sources, because each process starts from scratch. */
  constructor(settings: StormWorkerSettings, cache: string) {
    const child = spawn(process.execPath, [script, JSON.stringify(settings)], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, NODE_COMPILE_CACHE: cache },
    });
    this.#child = child;
    child.stderr.on("data", (text) => {
      this.#errors += text;
    });
    this.ended = once(child, "close").then(([code, signal]) => code ?? signal);
    const awaitLine = (line: string) =>
      new Promise<void>((resolve) => {
        child.stdout.on("data", (text) => String(text).includes(line) && resolve());
        void this.ended.then(() => resolve());
      });
    this.works = awaitLine("works");
    this.stopped = awaitLine("stopped");
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** The errors and warnings that the process has printed. */
  get errors(): string {
    return this.#errors;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.ended;
  }
}
