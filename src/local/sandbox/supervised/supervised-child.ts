import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import type { Clock } from "../../../base/clock.ts";
import { BoundedOutput } from "../bounded-output.ts";
import { encodeRequest, type Frame, FrameReader, type KernelRequest } from "../kernel/frames.ts";
import type { Launched } from "./launcher.ts";

/** One sandbox and everything inside it. Passes its frames on without trusting them. */
export class SupervisedChild {
  /** Resolves when no process of the sandbox is left. */
  readonly exited: Promise<void>;
  readonly #launched: Launched;
  readonly #stderr = new BoundedOutput(4_096);
  readonly #clock: Clock;
  #listener: ((frame: Frame | null) => void) | null = null;
  #pendingFrames: Frame[] = [];
  #ended = false;

  constructor(launched: Launched, clock: Clock) {
    this.#launched = launched;
    this.#clock = clock;
    launched.requests.on("error", () => {});
    this.exited = this.#waitForExit(launched.process);
    launched.complaints.on("data", (chunk: Buffer) => this.#stderr.write(chunk));
    this.#readFrames(launched.frames);
  }

  /** Output of the launcher, usually the reason why it could not start. */
  get stderrText(): string {
    return this.#stderr.toText().trim();
  }

  send(request: KernelRequest): void {
    this.#launched.requests.write(encodeRequest(request));
  }

  /** Calls `listener` for each frame, and with `null` after the last one. Replaces the previous listener. */
  onFrame(listener: ((frame: Frame | null) => void) | null): void {
    this.#listener = listener;
    const waiting = this.#pendingFrames;
    this.#pendingFrames = [];
    for (const frame of waiting) this.#deliver(frame);
    if (this.#ended) this.#deliver(null);
  }

  /** Kills every process of the sandbox and waits until they have ended. */
  async kill(): Promise<void> {
    this.#launched.kill();
    const patience = new AbortController();
    const rest = this.#clock.sleep(KILL_TIMEOUT_MS, patience.signal, { background: true }).then(
      () => this.#launched.killForcibly(),
      // It ended in time, so the wait was aborted.
      () => {},
    );
    await this.exited;
    patience.abort();
    await rest;
  }

  #waitForExit(process: ChildProcess): Promise<void> {
    return new Promise((resolve) => {
      const onExit = (): void => {
        this.#ended = true;
        this.#deliver(null);
        resolve();
      };
      process.once("close", onExit);
      process.once("error", (problem) => {
        this.#stderr.write(Buffer.from(problem.message));
        if (process.pid === undefined) onExit();
      });
    });
  }

  #readFrames(frames: Readable): void {
    const reader = new FrameReader();
    frames.on("data", (chunk: Buffer) => {
      if (this.#ended) return;
      try {
        for (const frame of reader.read(chunk)) this.#deliver(frame);
      } catch {
        // The sender is not the supervisor: ignore all further bytes.
        frames.removeAllListeners("data");
        frames.resume();
        void this.kill();
      }
    });
  }

  #deliver(frame: Frame | null): void {
    if (this.#listener !== null) this.#listener(frame);
    else if (frame !== null && this.#pendingFrames.length < MAX_PENDING_FRAMES)
      this.#pendingFrames.push(frame);
  }
}

const KILL_TIMEOUT_MS = 1_000;
/** Between runs everything inside is stopped. Only forged frames could arrive, and a few do no harm. */
const MAX_PENDING_FRAMES = 16;
